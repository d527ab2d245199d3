build-oracle/libmemprof/cfi.o: libmemprof/cfi.c libmemprof/cfi.h
libmemprof/cfi.h:
