build-oracle/analyzer/model/suppressions.o: analyzer/model/suppressions.c \
 analyzer/model/suppressions.h analyzer/util/error.h
analyzer/model/suppressions.h:
analyzer/util/error.h:
