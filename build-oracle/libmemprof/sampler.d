build-oracle/libmemprof/sampler.o: libmemprof/sampler.c \
 libmemprof/sampler.h
libmemprof/sampler.h:
