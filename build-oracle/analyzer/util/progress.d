build-oracle/analyzer/util/progress.o: analyzer/util/progress.c \
 analyzer/util/progress.h
analyzer/util/progress.h:
