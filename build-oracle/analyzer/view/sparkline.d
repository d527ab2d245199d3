build-oracle/analyzer/view/sparkline.o: analyzer/view/sparkline.c \
 analyzer/view/sparkline.h
analyzer/view/sparkline.h:
