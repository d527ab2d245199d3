build-oracle/analyzer/model/number.o: analyzer/model/number.c \
 analyzer/model/number.h
analyzer/model/number.h:
