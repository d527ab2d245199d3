build-oracle/analyzer/util/process_id.o: analyzer/util/process_id.c \
 analyzer/util/process_id.h
analyzer/util/process_id.h:
