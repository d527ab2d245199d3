build-oracle/analyzer/view/json.o: analyzer/view/json.c analyzer/view/json.h \
 analyzer/model/number.h
analyzer/view/json.h:
analyzer/model/number.h:
