build-oracle/analyzer/symbolize/elf_symbols.o: analyzer/symbolize/elf_symbols.c \
 analyzer/symbolize/elf_symbols.h analyzer/symbolize/reader_memory.h
analyzer/symbolize/elf_symbols.h:
analyzer/symbolize/reader_memory.h:
