build-oracle/libmemprof/thread_id.o: libmemprof/thread_id.c \
 libmemprof/thread_id.h libmemprof/os.h libmemprof/arch_x86_64.h \
 libmemprof/unwind_arch_x86_64.h
libmemprof/thread_id.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/unwind_arch_x86_64.h:
