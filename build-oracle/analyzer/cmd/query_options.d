build-oracle/analyzer/cmd/query_options.o: analyzer/cmd/query_options.c \
 analyzer/cmd/query_options.h analyzer/util/option.h \
 analyzer/util/error.h analyzer/view/view.h analyzer/model/profile.h \
 analyzer/model/query.h analyzer/model/number.h analyzer/model/tallies.h \
 analyzer/model/pass.h analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/cmd/command.h
analyzer/cmd/query_options.h:
analyzer/util/option.h:
analyzer/util/error.h:
analyzer/view/view.h:
analyzer/model/profile.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/model/tallies.h:
analyzer/model/pass.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/cmd/command.h:
