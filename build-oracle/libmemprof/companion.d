build-oracle/libmemprof/companion.o: libmemprof/companion.c \
 libmemprof/companion.h include/memprof/control.h \
 include/memprof/trace_format.h libmemprof/os.h libmemprof/arch_x86_64.h \
 libmemprof/owner_lock.h libmemprof/settings.h libmemprof/trace_name.h
libmemprof/companion.h:
include/memprof/control.h:
include/memprof/trace_format.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/owner_lock.h:
libmemprof/settings.h:
libmemprof/trace_name.h:
