build-oracle/libmemprof/trace_header.o: libmemprof/trace_header.c \
 libmemprof/trace_header.h include/memprof/version.h libmemprof/clock.h \
 libmemprof/arch_x86_64.h libmemprof/companion.h \
 include/memprof/control.h include/memprof/trace_format.h \
 libmemprof/modules.h libmemprof/os.h libmemprof/process_facts.h \
 libmemprof/record_store.h libmemprof/settings.h
libmemprof/trace_header.h:
include/memprof/version.h:
libmemprof/clock.h:
libmemprof/arch_x86_64.h:
libmemprof/companion.h:
include/memprof/control.h:
include/memprof/trace_format.h:
libmemprof/modules.h:
libmemprof/os.h:
libmemprof/process_facts.h:
libmemprof/record_store.h:
libmemprof/settings.h:
