build-oracle/analyzer/util/json_read.o: analyzer/util/json_read.c \
 analyzer/util/json_read.h analyzer/util/error.h
analyzer/util/json_read.h:
analyzer/util/error.h:
