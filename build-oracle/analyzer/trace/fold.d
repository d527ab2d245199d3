build-oracle/analyzer/trace/fold.o: analyzer/trace/fold.c analyzer/trace/fold.h \
 analyzer/util/error.h include/memprof/control.h \
 include/memprof/trace_format.h analyzer/util/memory.h \
 analyzer/util/process_id.h
analyzer/trace/fold.h:
analyzer/util/error.h:
include/memprof/control.h:
include/memprof/trace_format.h:
analyzer/util/memory.h:
analyzer/util/process_id.h:
