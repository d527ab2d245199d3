build-oracle/analyzer/symbolize/symbol_cache.o: \
 analyzer/symbolize/symbol_cache.c analyzer/symbolize/symbol_cache.h \
 analyzer/symbolize/object_file.h
analyzer/symbolize/symbol_cache.h:
analyzer/symbolize/object_file.h:
