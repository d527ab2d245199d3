build-oracle/libmemprof/settings.o: libmemprof/settings.c libmemprof/settings.h \
 include/memprof/control.h libmemprof/log.h libmemprof/os.h \
 libmemprof/arch_x86_64.h libmemprof/owner_lock.h
libmemprof/settings.h:
include/memprof/control.h:
libmemprof/log.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/owner_lock.h:
