build-oracle/analyzer/symbolize/symbolize_dw.o: \
 analyzer/symbolize/symbolize_dw.c analyzer/symbolize/symbolize_dw.h \
 analyzer/symbolize/symbol_place.h analyzer/symbolize/reader_memory.h
analyzer/symbolize/symbolize_dw.h:
analyzer/symbolize/symbol_place.h:
analyzer/symbolize/reader_memory.h:
