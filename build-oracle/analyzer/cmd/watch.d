build-oracle/analyzer/cmd/watch.o: analyzer/cmd/watch.c analyzer/cmd/watch.h \
 analyzer/util/error.h analyzer/trace/smaps.h \
 analyzer/trace/live_process.h include/memprof/control.h \
 include/memprof/trace_format.h analyzer/trace/trace.h \
 analyzer/util/memory.h analyzer/util/option.h analyzer/view/units.h \
 analyzer/model/number.h
analyzer/cmd/watch.h:
analyzer/util/error.h:
analyzer/trace/smaps.h:
analyzer/trace/live_process.h:
include/memprof/control.h:
include/memprof/trace_format.h:
analyzer/trace/trace.h:
analyzer/util/memory.h:
analyzer/util/option.h:
analyzer/view/units.h:
analyzer/model/number.h:
