build-oracle/analyzer/view/view_leaks.o: analyzer/view/view_leaks.c \
 analyzer/model/leak_suppressions.h analyzer/model/suppressions.h \
 analyzer/util/error.h analyzer/util/memory.h analyzer/view/common.h \
 analyzer/model/profile.h analyzer/model/query.h analyzer/model/number.h \
 analyzer/util/option.h analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/view/json.h \
 analyzer/view/table.h analyzer/view/units.h analyzer/view/view.h \
 analyzer/view/sites_table.h analyzer/view/view_options.h
analyzer/model/leak_suppressions.h:
analyzer/model/suppressions.h:
analyzer/util/error.h:
analyzer/util/memory.h:
analyzer/view/common.h:
analyzer/model/profile.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/option.h:
analyzer/model/tallies.h:
analyzer/model/pass.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/view/json.h:
analyzer/view/table.h:
analyzer/view/units.h:
analyzer/view/view.h:
analyzer/view/sites_table.h:
analyzer/view/view_options.h:
