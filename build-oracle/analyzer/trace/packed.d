build-oracle/analyzer/trace/packed.o: analyzer/trace/packed.c \
 analyzer/trace/packed.h include/memprof/trace_format.h \
 analyzer/util/error.h analyzer/trace/pieces.h \
 analyzer/trace/record_step.h include/memprof/varint.h \
 analyzer/util/file_read.h analyzer/util/memory.h
analyzer/trace/packed.h:
include/memprof/trace_format.h:
analyzer/util/error.h:
analyzer/trace/pieces.h:
analyzer/trace/record_step.h:
include/memprof/varint.h:
analyzer/util/file_read.h:
analyzer/util/memory.h:
