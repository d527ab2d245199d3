build-oracle/libmemprof/readings.o: libmemprof/readings.c libmemprof/readings.h \
 libmemprof/clock.h libmemprof/arch_x86_64.h libmemprof/os.h \
 libmemprof/record_store.h include/memprof/trace_format.h \
 libmemprof/settings.h include/memprof/control.h
libmemprof/readings.h:
libmemprof/clock.h:
libmemprof/arch_x86_64.h:
libmemprof/os.h:
libmemprof/record_store.h:
include/memprof/trace_format.h:
libmemprof/settings.h:
include/memprof/control.h:
