build-oracle/libmemprof/api.o: libmemprof/api.c libmemprof/companion.h \
 include/memprof/control.h include/memprof/trace_format.h \
 libmemprof/heap_calls.h libmemprof/hooks.def libmemprof/settings.h \
 libmemprof/thread_state.h libmemprof/recorder.h \
 libmemprof/event_buffer.h libmemprof/modules.h libmemprof/unwind.h \
 libmemprof/sampler.h
libmemprof/companion.h:
include/memprof/control.h:
include/memprof/trace_format.h:
libmemprof/heap_calls.h:
libmemprof/hooks.def:
libmemprof/settings.h:
libmemprof/thread_state.h:
libmemprof/recorder.h:
libmemprof/event_buffer.h:
libmemprof/modules.h:
libmemprof/unwind.h:
libmemprof/sampler.h:
