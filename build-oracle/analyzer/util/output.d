build-oracle/analyzer/util/output.o: analyzer/util/output.c \
 analyzer/util/output.h analyzer/util/error.h analyzer/util/memory.h
analyzer/util/output.h:
analyzer/util/error.h:
analyzer/util/memory.h:
