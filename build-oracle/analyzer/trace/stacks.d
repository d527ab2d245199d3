build-oracle/analyzer/trace/stacks.o: analyzer/trace/stacks.c \
 analyzer/trace/stacks.h analyzer/trace/trace.h \
 include/memprof/trace_format.h analyzer/util/error.h \
 analyzer/util/hash_map.h analyzer/util/memory.h
analyzer/trace/stacks.h:
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/error.h:
analyzer/util/hash_map.h:
analyzer/util/memory.h:
