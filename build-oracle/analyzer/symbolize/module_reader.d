build-oracle/analyzer/symbolize/module_reader.o: \
 analyzer/symbolize/module_reader.c analyzer/symbolize/module_reader.h \
 analyzer/symbolize/object_file.h analyzer/symbolize/demangle.h \
 analyzer/symbolize/elf_symbols.h analyzer/symbolize/reader_memory.h \
 analyzer/symbolize/symbol_answer.h analyzer/symbolize/symbolize_dw.h \
 analyzer/symbolize/symbol_place.h analyzer/symbolize/symbolize_dwarf.h \
 analyzer/symbolize/symbolizer.h analyzer/util/error.h
analyzer/symbolize/module_reader.h:
analyzer/symbolize/object_file.h:
analyzer/symbolize/demangle.h:
analyzer/symbolize/elf_symbols.h:
analyzer/symbolize/reader_memory.h:
analyzer/symbolize/symbol_answer.h:
analyzer/symbolize/symbolize_dw.h:
analyzer/symbolize/symbol_place.h:
analyzer/symbolize/symbolize_dwarf.h:
analyzer/symbolize/symbolizer.h:
analyzer/util/error.h:
