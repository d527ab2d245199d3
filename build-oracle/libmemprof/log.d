build-oracle/libmemprof/log.o: libmemprof/log.c libmemprof/log.h libmemprof/os.h \
 libmemprof/arch_x86_64.h
libmemprof/log.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
