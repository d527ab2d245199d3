build-oracle/analyzer/trace/trace_write.o: analyzer/trace/trace_write.c \
 analyzer/trace/trace_write.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/error.h \
 include/memprof/varint.h analyzer/util/memory.h
analyzer/trace/trace_write.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/error.h:
include/memprof/varint.h:
analyzer/util/memory.h:
