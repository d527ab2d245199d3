build-oracle/libmemprof/unwind_walk.o: libmemprof/unwind_walk.c \
 libmemprof/unwind_walk.h libmemprof/pc_table.h libmemprof/stack_memory.h \
 libmemprof/unwind_arch_x86_64.h
libmemprof/unwind_walk.h:
libmemprof/pc_table.h:
libmemprof/stack_memory.h:
libmemprof/unwind_arch_x86_64.h:
