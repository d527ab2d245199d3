build-oracle/libmemprof/record_store.o: libmemprof/record_store.c \
 libmemprof/record_store.h include/memprof/trace_format.h \
 include/memprof/varint.h
libmemprof/record_store.h:
include/memprof/trace_format.h:
include/memprof/varint.h:
