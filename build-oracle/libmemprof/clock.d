build-oracle/libmemprof/clock.o: libmemprof/clock.c libmemprof/clock.h \
 libmemprof/arch_x86_64.h libmemprof/os.h
libmemprof/clock.h:
libmemprof/arch_x86_64.h:
libmemprof/os.h:
