build-oracle/analyzer/view/bar.o: analyzer/view/bar.c analyzer/view/bar.h \
 analyzer/view/sparkline.h
analyzer/view/bar.h:
analyzer/view/sparkline.h:
