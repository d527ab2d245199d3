build-oracle/analyzer/symbolize/symbol_reader.o: \
 analyzer/symbolize/symbol_reader.c analyzer/symbolize/symbol_reader.h \
 analyzer/symbolize/object_file.h analyzer/symbolize/module_reader.h \
 analyzer/symbolize/reader_memory.h
analyzer/symbolize/symbol_reader.h:
analyzer/symbolize/object_file.h:
analyzer/symbolize/module_reader.h:
analyzer/symbolize/reader_memory.h:
