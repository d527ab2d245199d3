build-oracle/libmemprof/owner_lock.o: libmemprof/owner_lock.c \
 libmemprof/owner_lock.h libmemprof/os.h libmemprof/arch_x86_64.h
libmemprof/owner_lock.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
