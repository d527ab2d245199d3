build-oracle/analyzer/model/memory_map.o: analyzer/model/memory_map.c \
 analyzer/model/memory_map.h analyzer/util/error.h analyzer/util/memory.h
analyzer/model/memory_map.h:
analyzer/util/error.h:
analyzer/util/memory.h:
