build-oracle/analyzer/model/significance.o: analyzer/model/significance.c \
 analyzer/model/significance.h
analyzer/model/significance.h:
