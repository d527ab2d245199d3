build-oracle/libmemprof/interpose.o: libmemprof/interpose.c \
 libmemprof/end_calls.h libmemprof/heap_calls.h libmemprof/hooks.def \
 libmemprof/map_calls.h libmemprof/next.h libmemprof/sampled_set.h \
 libmemprof/sampler.h libmemprof/thread_state.h libmemprof/recorder.h \
 include/memprof/trace_format.h libmemprof/event_buffer.h \
 libmemprof/modules.h libmemprof/unwind.h
libmemprof/end_calls.h:
libmemprof/heap_calls.h:
libmemprof/hooks.def:
libmemprof/map_calls.h:
libmemprof/next.h:
libmemprof/sampled_set.h:
libmemprof/sampler.h:
libmemprof/thread_state.h:
libmemprof/recorder.h:
include/memprof/trace_format.h:
libmemprof/event_buffer.h:
libmemprof/modules.h:
libmemprof/unwind.h:
