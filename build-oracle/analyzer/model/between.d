build-oracle/analyzer/model/between.o: analyzer/model/between.c \
 analyzer/model/between.h analyzer/model/pass.h analyzer/model/query.h \
 analyzer/model/number.h analyzer/util/error.h analyzer/util/option.h \
 analyzer/model/trace_set.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/model/profile.h \
 analyzer/model/tallies.h analyzer/util/hash_map.h analyzer/util/memory.h
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
analyzer/util/hash_map.h:
analyzer/util/memory.h:
