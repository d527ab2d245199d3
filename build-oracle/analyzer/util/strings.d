build-oracle/analyzer/util/strings.o: analyzer/util/strings.c \
 analyzer/util/strings.h analyzer/util/memory.h
analyzer/util/strings.h:
analyzer/util/memory.h:
