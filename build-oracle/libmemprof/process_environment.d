build-oracle/libmemprof/process_environment.o: libmemprof/process_environment.c \
 libmemprof/os.h libmemprof/arch_x86_64.h libmemprof/process.h \
 include/memprof/trace_format.h libmemprof/process_state.h \
 libmemprof/settings.h include/memprof/control.h
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/process.h:
include/memprof/trace_format.h:
libmemprof/process_state.h:
libmemprof/settings.h:
include/memprof/control.h:
