build-oracle/analyzer/model/wrapper.o: analyzer/model/wrapper.c \
 analyzer/model/wrapper.h analyzer/model/query.h analyzer/model/number.h \
 analyzer/util/error.h analyzer/util/option.h
analyzer/model/wrapper.h:
analyzer/model/query.h:
analyzer/model/number.h:
analyzer/util/error.h:
analyzer/util/option.h:
