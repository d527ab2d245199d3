build-oracle/analyzer/view/export_heaptrack.o: analyzer/view/export_heaptrack.c \
 analyzer/view/export.h analyzer/model/profile.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/tallies.h analyzer/model/pass.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/view/view.h \
 analyzer/page/page_names.h analyzer/util/hash_map.h \
 analyzer/util/strings.h analyzer/view/json.h analyzer/util/memory.h
analyzer/view/export.h:
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
analyzer/page/page_names.h:
analyzer/util/hash_map.h:
analyzer/util/strings.h:
analyzer/view/json.h:
analyzer/util/memory.h:
