build-oracle/libmemprof/process_facts.o: libmemprof/process_facts.c \
 libmemprof/process_facts.h libmemprof/os.h libmemprof/arch_x86_64.h
libmemprof/process_facts.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
