build-oracle/libmemprof/end_calls.o: libmemprof/end_calls.c \
 libmemprof/end_calls.h libmemprof/clock.h libmemprof/arch_x86_64.h \
 libmemprof/next.h libmemprof/hooks.def libmemprof/process.h \
 include/memprof/trace_format.h libmemprof/thread_state.h \
 libmemprof/recorder.h libmemprof/event_buffer.h libmemprof/modules.h \
 libmemprof/unwind.h libmemprof/sampler.h
libmemprof/end_calls.h:
libmemprof/clock.h:
libmemprof/arch_x86_64.h:
libmemprof/next.h:
libmemprof/hooks.def:
libmemprof/process.h:
include/memprof/trace_format.h:
libmemprof/thread_state.h:
libmemprof/recorder.h:
libmemprof/event_buffer.h:
libmemprof/modules.h:
libmemprof/unwind.h:
libmemprof/sampler.h:
