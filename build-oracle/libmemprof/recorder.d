build-oracle/libmemprof/recorder.o: libmemprof/recorder.c \
 libmemprof/recorder_encode.h include/memprof/varint.h libmemprof/clock.h \
 libmemprof/arch_x86_64.h libmemprof/readings.h libmemprof/recorder.h \
 include/memprof/trace_format.h libmemprof/event_buffer.h \
 libmemprof/modules.h libmemprof/unwind.h libmemprof/unwind_cache.h \
 libmemprof/pc_table.h libmemprof/stack_memory.h \
 libmemprof/unwind_libunwind.h libmemprof/os.h libmemprof/process.h \
 libmemprof/record_store.h libmemprof/settings.h \
 include/memprof/control.h
libmemprof/recorder_encode.h:
include/memprof/varint.h:
libmemprof/clock.h:
libmemprof/arch_x86_64.h:
libmemprof/readings.h:
libmemprof/recorder.h:
include/memprof/trace_format.h:
libmemprof/event_buffer.h:
libmemprof/modules.h:
libmemprof/unwind.h:
libmemprof/unwind_cache.h:
libmemprof/pc_table.h:
libmemprof/stack_memory.h:
libmemprof/unwind_libunwind.h:
libmemprof/os.h:
libmemprof/process.h:
libmemprof/record_store.h:
libmemprof/settings.h:
include/memprof/control.h:
