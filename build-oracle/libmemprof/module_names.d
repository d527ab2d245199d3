build-oracle/libmemprof/module_names.o: libmemprof/module_names.c \
 libmemprof/module_names.h include/memprof/trace_format.h \
 libmemprof/modules.h libmemprof/os.h libmemprof/arch_x86_64.h \
 libmemprof/owner_lock.h libmemprof/record_store.h libmemprof/unwind.h
libmemprof/module_names.h:
include/memprof/trace_format.h:
libmemprof/modules.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/owner_lock.h:
libmemprof/record_store.h:
libmemprof/unwind.h:
