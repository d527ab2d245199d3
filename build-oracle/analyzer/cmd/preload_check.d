build-oracle/analyzer/cmd/preload_check.o: analyzer/cmd/preload_check.c \
 analyzer/cmd/preload_check.h
analyzer/cmd/preload_check.h:
