build-oracle/analyzer/view/view_timeline.o: analyzer/view/view_timeline.c \
 analyzer/model/filtered_pass.h analyzer/model/pass.h \
 analyzer/model/query.h analyzer/model/number.h analyzer/util/error.h \
 analyzer/util/option.h analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/moment.h \
 analyzer/model/timeline.h analyzer/util/memory.h analyzer/view/chart.h \
 analyzer/view/multi.h analyzer/view/common.h analyzer/model/profile.h \
 analyzer/model/tallies.h analyzer/view/json.h analyzer/view/table.h \
 analyzer/view/units.h analyzer/view/view.h analyzer/view/view_options.h
analyzer/model/filtered_pass.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/model/moment.h:
analyzer/model/timeline.h:
analyzer/util/memory.h:
analyzer/view/chart.h:
analyzer/view/multi.h:
analyzer/view/common.h:
analyzer/model/profile.h:
analyzer/model/tallies.h:
analyzer/view/json.h:
analyzer/view/table.h:
analyzer/view/units.h:
analyzer/view/view.h:
analyzer/view/view_options.h:
