build-oracle/analyzer/symbolize/object_file.o: analyzer/symbolize/object_file.c \
 analyzer/symbolize/object_file.h analyzer/symbolize/debuginfod.h \
 analyzer/symbolize/inflate.h
analyzer/symbolize/object_file.h:
analyzer/symbolize/debuginfod.h:
analyzer/symbolize/inflate.h:
