build-oracle/analyzer/cmd/cmd_run.o: analyzer/cmd/cmd_run.c \
 analyzer/cmd/command.h analyzer/util/error.h \
 analyzer/cmd/preload_check.h analyzer/cmd/watch.h \
 analyzer/model/profile.h analyzer/model/query.h analyzer/model/number.h \
 analyzer/util/option.h analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/trace/fold.h \
 analyzer/util/memory.h analyzer/view/units.h
analyzer/cmd/command.h:
analyzer/util/error.h:
analyzer/cmd/preload_check.h:
analyzer/cmd/watch.h:
analyzer/model/profile.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/option.h:
analyzer/model/tallies.h:
analyzer/model/pass.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/trace/fold.h:
analyzer/util/memory.h:
analyzer/view/units.h:
