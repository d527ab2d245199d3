build-oracle/libmemprof/library.o: libmemprof/library.c libmemprof/heap_calls.h \
 libmemprof/hooks.def libmemprof/log.h libmemprof/next.h \
 libmemprof/process.h include/memprof/trace_format.h \
 libmemprof/sampled_set.h libmemprof/thread_state.h libmemprof/recorder.h \
 libmemprof/event_buffer.h libmemprof/modules.h libmemprof/unwind.h \
 libmemprof/sampler.h
libmemprof/heap_calls.h:
libmemprof/hooks.def:
libmemprof/log.h:
libmemprof/next.h:
libmemprof/process.h:
include/memprof/trace_format.h:
libmemprof/sampled_set.h:
libmemprof/thread_state.h:
libmemprof/recorder.h:
libmemprof/event_buffer.h:
libmemprof/modules.h:
libmemprof/unwind.h:
libmemprof/sampler.h:
