build-oracle/libmemprof/modules.o: libmemprof/modules.c libmemprof/modules.h \
 libmemprof/os.h libmemprof/arch_x86_64.h libmemprof/owner_lock.h \
 libmemprof/record_store.h include/memprof/trace_format.h
libmemprof/modules.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/owner_lock.h:
libmemprof/record_store.h:
include/memprof/trace_format.h:
