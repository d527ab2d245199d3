build-oracle/analyzer/cmd/cmd_report.o: analyzer/cmd/cmd_report.c \
 analyzer/cmd/command.h analyzer/util/error.h \
 analyzer/cmd/query_options.h analyzer/util/option.h analyzer/view/view.h \
 analyzer/model/profile.h analyzer/model/query.h analyzer/model/number.h \
 analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/output.h
analyzer/cmd/command.h:
analyzer/util/error.h:
analyzer/cmd/query_options.h:
analyzer/util/option.h:
analyzer/view/view.h:
analyzer/model/profile.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/model/tallies.h:
analyzer/model/pass.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/output.h:
