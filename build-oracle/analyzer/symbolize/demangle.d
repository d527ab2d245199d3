build-oracle/analyzer/symbolize/demangle.o: analyzer/symbolize/demangle.c \
 analyzer/symbolize/demangle.h
analyzer/symbolize/demangle.h:
