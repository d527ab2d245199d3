build-oracle/analyzer/cmd/cmd_diff.o: analyzer/cmd/cmd_diff.c \
 analyzer/cmd/command.h analyzer/util/error.h \
 analyzer/cmd/query_options.h analyzer/util/option.h analyzer/view/view.h \
 analyzer/model/profile.h analyzer/model/query.h analyzer/model/number.h \
 analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/memory.h \
 analyzer/util/output.h analyzer/view/diff_view.h analyzer/model/diff.h \
 analyzer/model/difference.h analyzer/model/between.h \
 analyzer/model/series.h analyzer/view/json.h
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
analyzer/util/memory.h:
analyzer/util/output.h:
analyzer/view/diff_view.h:
analyzer/model/diff.h:
analyzer/model/difference.h:
analyzer/model/between.h:
analyzer/model/series.h:
analyzer/view/json.h:
