build-oracle/libmemprof/os.o: libmemprof/os.c libmemprof/os.h \
 libmemprof/arch_x86_64.h
libmemprof/os.h:
libmemprof/arch_x86_64.h:
