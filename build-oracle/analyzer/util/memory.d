build-oracle/analyzer/util/memory.o: analyzer/util/memory.c \
 analyzer/util/memory.h
analyzer/util/memory.h:
