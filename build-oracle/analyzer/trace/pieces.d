build-oracle/analyzer/trace/pieces.o: analyzer/trace/pieces.c \
 analyzer/trace/pieces.h include/memprof/trace_format.h \
 analyzer/trace/packed.h analyzer/util/error.h include/memprof/control.h \
 analyzer/util/file_read.h analyzer/util/memory.h \
 analyzer/util/process_id.h
analyzer/trace/pieces.h:
include/memprof/trace_format.h:
analyzer/trace/packed.h:
analyzer/util/error.h:
include/memprof/control.h:
analyzer/util/file_read.h:
analyzer/util/memory.h:
analyzer/util/process_id.h:
