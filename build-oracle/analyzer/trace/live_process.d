build-oracle/analyzer/trace/live_process.o: analyzer/trace/live_process.c \
 analyzer/trace/live_process.h include/memprof/control.h \
 include/memprof/trace_format.h analyzer/util/error.h \
 include/memprof/varint.h analyzer/util/process_id.h
analyzer/trace/live_process.h:
include/memprof/control.h:
include/memprof/trace_format.h:
analyzer/util/error.h:
include/memprof/varint.h:
analyzer/util/process_id.h:
