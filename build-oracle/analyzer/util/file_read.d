build-oracle/analyzer/util/file_read.o: analyzer/util/file_read.c \
 analyzer/util/file_read.h
analyzer/util/file_read.h:
