build-oracle/analyzer/view/sites_table.o: analyzer/view/sites_table.c \
 analyzer/view/sites_table.h analyzer/model/profile.h \
 analyzer/model/query.h analyzer/model/number.h analyzer/util/error.h \
 analyzer/util/option.h analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/view/view.h \
 analyzer/util/memory.h analyzer/view/common.h analyzer/view/json.h \
 analyzer/view/table.h analyzer/view/units.h
analyzer/view/sites_table.h:
analyzer/model/profile.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/tallies.h:
analyzer/model/pass.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/view/view.h:
analyzer/util/memory.h:
analyzer/view/common.h:
analyzer/view/json.h:
analyzer/view/table.h:
analyzer/view/units.h:
