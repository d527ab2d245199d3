build-oracle/libmemprof/sampled_set.o: libmemprof/sampled_set.c \
 libmemprof/sampled_set.h libmemprof/os.h libmemprof/arch_x86_64.h
libmemprof/sampled_set.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
