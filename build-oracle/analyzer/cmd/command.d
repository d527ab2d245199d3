build-oracle/analyzer/cmd/command.o: analyzer/cmd/command.c \
 analyzer/cmd/command.h analyzer/util/error.h
analyzer/cmd/command.h:
analyzer/util/error.h:
