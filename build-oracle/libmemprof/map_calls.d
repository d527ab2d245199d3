build-oracle/libmemprof/map_calls.o: libmemprof/map_calls.c \
 libmemprof/map_calls.h libmemprof/heap_calls.h libmemprof/hooks.def \
 libmemprof/next.h libmemprof/settings.h include/memprof/control.h \
 libmemprof/thread_state.h libmemprof/recorder.h \
 include/memprof/trace_format.h libmemprof/event_buffer.h \
 libmemprof/modules.h libmemprof/unwind.h libmemprof/sampler.h
libmemprof/map_calls.h:
libmemprof/heap_calls.h:
libmemprof/hooks.def:
libmemprof/next.h:
libmemprof/settings.h:
include/memprof/control.h:
libmemprof/thread_state.h:
libmemprof/recorder.h:
include/memprof/trace_format.h:
libmemprof/event_buffer.h:
libmemprof/modules.h:
libmemprof/unwind.h:
libmemprof/sampler.h:
