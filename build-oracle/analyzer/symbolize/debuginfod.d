build-oracle/analyzer/symbolize/debuginfod.o: analyzer/symbolize/debuginfod.c \
 analyzer/symbolize/debuginfod.h
analyzer/symbolize/debuginfod.h:
