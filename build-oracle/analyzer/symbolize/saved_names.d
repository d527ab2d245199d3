build-oracle/analyzer/symbolize/saved_names.o: analyzer/symbolize/saved_names.c \
 analyzer/symbolize/saved_names.h analyzer/symbolize/elf_symbols.h \
 analyzer/util/cursor.h include/memprof/varint.h
analyzer/symbolize/saved_names.h:
analyzer/symbolize/elf_symbols.h:
analyzer/util/cursor.h:
include/memprof/varint.h:
