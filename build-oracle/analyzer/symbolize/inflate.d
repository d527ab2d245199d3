build-oracle/analyzer/symbolize/inflate.o: analyzer/symbolize/inflate.c \
 analyzer/symbolize/inflate.h
analyzer/symbolize/inflate.h:
