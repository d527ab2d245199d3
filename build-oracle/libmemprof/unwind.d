build-oracle/libmemprof/unwind.o: libmemprof/unwind.c libmemprof/unwind.h \
 include/memprof/trace_format.h libmemprof/os.h libmemprof/arch_x86_64.h \
 libmemprof/unwind_arch_x86_64.h libmemprof/unwind_cache.h \
 libmemprof/pc_table.h libmemprof/stack_memory.h libmemprof/unwind_walk.h
libmemprof/unwind.h:
include/memprof/trace_format.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/unwind_arch_x86_64.h:
libmemprof/unwind_cache.h:
libmemprof/pc_table.h:
libmemprof/stack_memory.h:
libmemprof/unwind_walk.h:
