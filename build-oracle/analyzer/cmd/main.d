build-oracle/analyzer/cmd/main.o: analyzer/cmd/main.c analyzer/cmd/command.h \
 analyzer/util/error.h
analyzer/cmd/command.h:
analyzer/util/error.h:
