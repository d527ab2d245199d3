build-oracle/analyzer/cmd/cmd_ctl.o: analyzer/cmd/cmd_ctl.c \
 analyzer/cmd/command.h analyzer/util/error.h analyzer/trace/smaps.h \
 analyzer/trace/live_process.h include/memprof/control.h \
 include/memprof/trace_format.h analyzer/trace/trace.h \
 analyzer/util/option.h analyzer/view/units.h analyzer/model/number.h
analyzer/cmd/command.h:
analyzer/util/error.h:
analyzer/trace/smaps.h:
analyzer/trace/live_process.h:
include/memprof/control.h:
include/memprof/trace_format.h:
analyzer/trace/trace.h:
analyzer/util/option.h:
analyzer/view/units.h:
analyzer/model/number.h:
