build-oracle/analyzer/model/live_set.o: analyzer/model/live_set.c \
 analyzer/model/live_set.h analyzer/model/pass.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/hash_map.h \
 analyzer/util/memory.h
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
analyzer/util/memory.h:
