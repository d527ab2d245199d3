build-oracle/analyzer/symbolize/symbolize_dwarf.o: \
 analyzer/symbolize/symbolize_dwarf.c \
 analyzer/symbolize/symbolize_dwarf.h analyzer/symbolize/symbol_place.h \
 analyzer/symbolize/reader_memory.h
analyzer/symbolize/symbolize_dwarf.h:
analyzer/symbolize/symbol_place.h:
analyzer/symbolize/reader_memory.h:
