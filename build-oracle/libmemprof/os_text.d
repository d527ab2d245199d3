build-oracle/libmemprof/os_text.o: libmemprof/os_text.c libmemprof/os.h \
 libmemprof/arch_x86_64.h
libmemprof/os.h:
libmemprof/arch_x86_64.h:
