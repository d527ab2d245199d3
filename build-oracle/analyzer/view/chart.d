build-oracle/analyzer/view/chart.o: analyzer/view/chart.c analyzer/view/chart.h \
 analyzer/view/sparkline.h analyzer/view/units.h analyzer/model/number.h
analyzer/view/chart.h:
analyzer/view/sparkline.h:
analyzer/view/units.h:
analyzer/model/number.h:
