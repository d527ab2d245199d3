build-oracle/libmemprof/trace_writer.o: libmemprof/trace_writer.c \
 libmemprof/trace_writer.h include/memprof/trace_format.h \
 libmemprof/companion.h include/memprof/control.h libmemprof/os.h \
 libmemprof/arch_x86_64.h libmemprof/owner_lock.h libmemprof/trace_name.h
libmemprof/trace_writer.h:
include/memprof/trace_format.h:
libmemprof/companion.h:
include/memprof/control.h:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/owner_lock.h:
libmemprof/trace_name.h:
