build-oracle/libmemprof/heap_calls.o: libmemprof/heap_calls.c \
 libmemprof/heap_calls.h libmemprof/hooks.def libmemprof/companion.h \
 include/memprof/control.h include/memprof/trace_format.h \
 libmemprof/losses.h libmemprof/next.h libmemprof/recorder_encode.h \
 include/memprof/varint.h libmemprof/clock.h libmemprof/arch_x86_64.h \
 libmemprof/readings.h libmemprof/recorder.h libmemprof/event_buffer.h \
 libmemprof/modules.h libmemprof/unwind.h libmemprof/unwind_cache.h \
 libmemprof/pc_table.h libmemprof/stack_memory.h \
 libmemprof/unwind_libunwind.h libmemprof/sampled_set.h \
 libmemprof/settings.h libmemprof/thread_state.h libmemprof/sampler.h
libmemprof/heap_calls.h:
libmemprof/hooks.def:
libmemprof/companion.h:
include/memprof/control.h:
include/memprof/trace_format.h:
libmemprof/losses.h:
libmemprof/next.h:
libmemprof/recorder_encode.h:
include/memprof/varint.h:
libmemprof/clock.h:
libmemprof/arch_x86_64.h:
libmemprof/readings.h:
libmemprof/recorder.h:
libmemprof/event_buffer.h:
libmemprof/modules.h:
libmemprof/unwind.h:
libmemprof/unwind_cache.h:
libmemprof/pc_table.h:
libmemprof/stack_memory.h:
libmemprof/unwind_libunwind.h:
libmemprof/sampled_set.h:
libmemprof/settings.h:
libmemprof/thread_state.h:
libmemprof/sampler.h:
