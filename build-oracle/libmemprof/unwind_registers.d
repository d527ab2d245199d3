build-oracle/libmemprof/unwind_registers.o: libmemprof/unwind_registers.c \
 libmemprof/unwind_walk.h libmemprof/pc_table.h libmemprof/stack_memory.h \
 libmemprof/cfi.h libmemprof/unwind_arch_x86_64.h
libmemprof/unwind_walk.h:
libmemprof/pc_table.h:
libmemprof/stack_memory.h:
libmemprof/cfi.h:
libmemprof/unwind_arch_x86_64.h:
