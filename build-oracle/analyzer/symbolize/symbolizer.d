build-oracle/analyzer/symbolize/symbolizer.o: analyzer/symbolize/symbolizer.c \
 analyzer/symbolize/symbolizer.h analyzer/util/error.h \
 include/memprof/trace_format.h analyzer/symbolize/demangle.h \
 analyzer/symbolize/saved_names.h analyzer/symbolize/elf_symbols.h \
 analyzer/symbolize/symbol_answer.h analyzer/symbolize/symbol_cache.h \
 analyzer/symbolize/object_file.h analyzer/symbolize/symbol_reader.h
analyzer/symbolize/symbolizer.h:
analyzer/util/error.h:
include/memprof/trace_format.h:
analyzer/symbolize/demangle.h:
analyzer/symbolize/saved_names.h:
analyzer/symbolize/elf_symbols.h:
analyzer/symbolize/symbol_answer.h:
analyzer/symbolize/symbol_cache.h:
analyzer/symbolize/object_file.h:
analyzer/symbolize/symbol_reader.h:
