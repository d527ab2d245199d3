build-oracle/analyzer/util/option.o: analyzer/util/option.c \
 analyzer/util/option.h analyzer/util/error.h analyzer/util/memory.h
analyzer/util/option.h:
analyzer/util/error.h:
analyzer/util/memory.h:
