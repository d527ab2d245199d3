build-oracle/analyzer/trace/live_maps.o: analyzer/trace/live_maps.c \
 analyzer/trace/live_maps.h analyzer/util/hash_map.h \
 analyzer/util/memory.h
analyzer/trace/live_maps.h:
analyzer/util/hash_map.h:
analyzer/util/memory.h:
