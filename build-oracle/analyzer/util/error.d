build-oracle/analyzer/util/error.o: analyzer/util/error.c analyzer/util/error.h
analyzer/util/error.h:
