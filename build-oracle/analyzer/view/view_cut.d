build-oracle/analyzer/view/view_cut.o: analyzer/view/view_cut.c \
 analyzer/model/live_set.h analyzer/model/pass.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/hash_map.h \
 analyzer/trace/trace_write.h analyzer/util/memory.h \
 analyzer/util/output.h analyzer/view/units.h analyzer/view/view.h \
 analyzer/model/profile.h analyzer/model/tallies.h
analyzer/model/live_set.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/hash_map.h:
analyzer/trace/trace_write.h:
analyzer/util/memory.h:
analyzer/util/output.h:
analyzer/view/units.h:
analyzer/view/view.h:
analyzer/model/profile.h:
analyzer/model/tallies.h:
