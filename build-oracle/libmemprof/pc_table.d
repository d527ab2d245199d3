build-oracle/libmemprof/pc_table.o: libmemprof/pc_table.c libmemprof/pc_table.h \
 libmemprof/cfi.h include/memprof/trace_format.h libmemprof/os.h \
 libmemprof/arch_x86_64.h libmemprof/unwind.h \
 libmemprof/unwind_arch_x86_64.h
libmemprof/pc_table.h:
libmemprof/cfi.h:
include/memprof/trace_format.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/unwind.h:
libmemprof/unwind_arch_x86_64.h:
