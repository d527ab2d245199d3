build-oracle/analyzer/view/units.o: analyzer/view/units.c analyzer/view/units.h \
 analyzer/model/number.h
analyzer/view/units.h:
analyzer/model/number.h:
