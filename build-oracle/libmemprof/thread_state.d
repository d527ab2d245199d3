build-oracle/libmemprof/thread_state.o: libmemprof/thread_state.c \
 libmemprof/thread_state.h libmemprof/recorder.h \
 include/memprof/trace_format.h libmemprof/event_buffer.h \
 libmemprof/modules.h libmemprof/unwind.h libmemprof/sampler.h \
 libmemprof/losses.h libmemprof/next.h libmemprof/hooks.def \
 libmemprof/os.h libmemprof/arch_x86_64.h libmemprof/process.h \
 libmemprof/settings.h include/memprof/control.h libmemprof/thread_id.h \
 libmemprof/unwind_arch_x86_64.h
libmemprof/thread_state.h:
libmemprof/recorder.h:
include/memprof/trace_format.h:
libmemprof/event_buffer.h:
libmemprof/modules.h:
libmemprof/unwind.h:
libmemprof/sampler.h:
libmemprof/losses.h:
libmemprof/next.h:
libmemprof/hooks.def:
libmemprof/os.h:
libmemprof/arch_x86_64.h:
libmemprof/process.h:
libmemprof/settings.h:
include/memprof/control.h:
libmemprof/thread_id.h:
libmemprof/unwind_arch_x86_64.h:
