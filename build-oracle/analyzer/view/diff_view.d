build-oracle/analyzer/view/diff_view.o: analyzer/view/diff_view.c \
 analyzer/view/diff_view.h analyzer/model/diff.h \
 analyzer/model/difference.h analyzer/model/between.h \
 analyzer/model/pass.h analyzer/model/query.h analyzer/model/number.h \
 analyzer/util/error.h analyzer/util/option.h analyzer/model/trace_set.h \
 analyzer/trace/trace.h include/memprof/trace_format.h \
 analyzer/model/profile.h analyzer/model/tallies.h \
 analyzer/model/series.h analyzer/view/json.h analyzer/view/view.h \
 analyzer/util/memory.h analyzer/view/common.h analyzer/view/table.h \
 analyzer/view/units.h
analyzer/view/diff_view.h:
analyzer/model/diff.h:
analyzer/model/difference.h:
analyzer/model/between.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/model/profile.h:
analyzer/model/tallies.h:
analyzer/model/series.h:
analyzer/view/json.h:
analyzer/view/view.h:
analyzer/util/memory.h:
analyzer/view/common.h:
analyzer/view/table.h:
analyzer/view/units.h:
