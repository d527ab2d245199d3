build-oracle/libmemprof/unwind_libunwind.o: libmemprof/unwind_libunwind.c \
 libmemprof/unwind_libunwind.h libmemprof/event_buffer.h \
 include/memprof/trace_format.h libmemprof/record_store.h \
 libmemprof/settings.h include/memprof/control.h
libmemprof/unwind_libunwind.h:
libmemprof/event_buffer.h:
include/memprof/trace_format.h:
libmemprof/record_store.h:
libmemprof/settings.h:
include/memprof/control.h:
