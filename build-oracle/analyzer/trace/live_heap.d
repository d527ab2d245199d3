build-oracle/analyzer/trace/live_heap.o: analyzer/trace/live_heap.c \
 analyzer/trace/live_heap.h analyzer/util/hash_map.h \
 analyzer/util/memory.h
analyzer/trace/live_heap.h:
analyzer/util/hash_map.h:
analyzer/util/memory.h:
