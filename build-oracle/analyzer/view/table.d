build-oracle/analyzer/view/table.o: analyzer/view/table.c analyzer/view/table.h \
 analyzer/util/memory.h analyzer/view/units.h analyzer/model/number.h
analyzer/view/table.h:
analyzer/util/memory.h:
analyzer/view/units.h:
analyzer/model/number.h:
