build-oracle/analyzer/util/hash_map.o: analyzer/util/hash_map.c \
 analyzer/util/hash_map.h analyzer/util/memory.h
analyzer/util/hash_map.h:
analyzer/util/memory.h:
