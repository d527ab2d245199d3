build-oracle/analyzer/trace/smaps.o: analyzer/trace/smaps.c \
 analyzer/trace/smaps.h analyzer/trace/live_process.h \
 include/memprof/control.h include/memprof/trace_format.h \
 analyzer/util/error.h analyzer/trace/trace.h include/memprof/varint.h \
 analyzer/util/memory.h
analyzer/trace/smaps.h:
analyzer/trace/live_process.h:
include/memprof/control.h:
include/memprof/trace_format.h:
analyzer/util/error.h:
analyzer/trace/trace.h:
include/memprof/varint.h:
analyzer/util/memory.h:
