build-oracle/analyzer/view/export_values.o: analyzer/view/export_values.c \
 analyzer/view/export_values.h analyzer/model/number.h
analyzer/view/export_values.h:
analyzer/model/number.h:
