build-oracle/libmemprof/next.o: libmemprof/next.c libmemprof/next.h \
 libmemprof/hooks.def libmemprof/os.h libmemprof/arch_x86_64.h \
 libmemprof/sampled_set.h libmemprof/thread_state.h libmemprof/recorder.h \
 include/memprof/trace_format.h libmemprof/event_buffer.h \
 libmemprof/modules.h libmemprof/unwind.h libmemprof/sampler.h
libmemprof/next.h:
libmemprof/hooks.def:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/sampled_set.h:
libmemprof/thread_state.h:
libmemprof/recorder.h:
include/memprof/trace_format.h:
libmemprof/event_buffer.h:
libmemprof/modules.h:
libmemprof/unwind.h:
libmemprof/sampler.h:
