build-oracle/libmemprof/trace_name.o: libmemprof/trace_name.c \
 libmemprof/trace_name.h include/memprof/trace_format.h \
 include/memprof/varint.h libmemprof/os.h libmemprof/arch_x86_64.h \
 libmemprof/process_facts.h
libmemprof/trace_name.h:
include/memprof/trace_format.h:
include/memprof/varint.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/process_facts.h:
