build-oracle/libmemprof/stack_memory.o: libmemprof/stack_memory.c \
 libmemprof/stack_memory.h libmemprof/os.h libmemprof/arch_x86_64.h \
 libmemprof/unwind_arch_x86_64.h
libmemprof/stack_memory.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/unwind_arch_x86_64.h:
