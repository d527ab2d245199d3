build-oracle/analyzer/page/page_memory.o: analyzer/page/page_memory.c \
 analyzer/page/page_memory.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/error.h \
 analyzer/view/json.h analyzer/model/number.h analyzer/util/memory.h \
 analyzer/view/memory_reading.h analyzer/model/memory_account.h \
 analyzer/model/live_set.h analyzer/model/pass.h analyzer/model/query.h \
 analyzer/util/option.h analyzer/model/trace_set.h \
 analyzer/util/hash_map.h analyzer/model/memory_map.h
analyzer/page/page_memory.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/error.h:
analyzer/view/json.h:
analyzer/model/number.h:
analyzer/util/memory.h:
analyzer/view/memory_reading.h:
analyzer/model/memory_account.h:
analyzer/model/live_set.h:
analyzer/model/pass.h:
analyzer/model/query.h:
analyzer/util/option.h:
analyzer/model/trace_set.h:
analyzer/util/hash_map.h:
analyzer/model/memory_map.h:
