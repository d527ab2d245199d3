build-oracle/analyzer/model/memory_account.o: analyzer/model/memory_account.c \
 analyzer/model/memory_account.h analyzer/model/live_set.h \
 analyzer/model/pass.h analyzer/model/query.h analyzer/model/number.h \
 analyzer/util/error.h analyzer/util/option.h analyzer/model/trace_set.h \
 analyzer/trace/trace.h include/memprof/trace_format.h \
 analyzer/util/hash_map.h analyzer/model/memory_map.h \
 analyzer/model/histogram.h
analyzer/model/memory_account.h:
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
analyzer/model/memory_map.h:
analyzer/model/histogram.h:
