build-oracle/libmemprof/losses.o: libmemprof/losses.c libmemprof/losses.h \
 include/memprof/trace_format.h libmemprof/companion.h \
 include/memprof/control.h libmemprof/log.h libmemprof/record_store.h
libmemprof/losses.h:
include/memprof/trace_format.h:
libmemprof/companion.h:
include/memprof/control.h:
libmemprof/log.h:
libmemprof/record_store.h:
