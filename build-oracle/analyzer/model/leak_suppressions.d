build-oracle/analyzer/model/leak_suppressions.o: \
 analyzer/model/leak_suppressions.c analyzer/model/leak_suppressions.h
analyzer/model/leak_suppressions.h:
