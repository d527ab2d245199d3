build-oracle/libmemprof/process.o: libmemprof/process.c libmemprof/process.h \
 include/memprof/trace_format.h libmemprof/clock.h \
 libmemprof/arch_x86_64.h libmemprof/companion.h \
 include/memprof/control.h libmemprof/event_buffer.h libmemprof/log.h \
 libmemprof/losses.h libmemprof/module_names.h libmemprof/modules.h \
 libmemprof/os.h libmemprof/owner_lock.h libmemprof/pieces.h \
 libmemprof/process_facts.h libmemprof/process_state.h \
 libmemprof/readings.h libmemprof/record_store.h libmemprof/settings.h \
 libmemprof/thread_id.h libmemprof/trace_header.h libmemprof/trace_name.h \
 libmemprof/trace_writer.h libmemprof/unwind.h
libmemprof/process.h:
include/memprof/trace_format.h:
libmemprof/clock.h:
libmemprof/arch_x86_64.h:
libmemprof/companion.h:
include/memprof/control.h:
libmemprof/event_buffer.h:
libmemprof/log.h:
libmemprof/losses.h:
libmemprof/module_names.h:
libmemprof/modules.h:
libmemprof/os.h:
libmemprof/owner_lock.h:
libmemprof/pieces.h:
libmemprof/process_facts.h:
libmemprof/process_state.h:
libmemprof/readings.h:
libmemprof/record_store.h:
libmemprof/settings.h:
libmemprof/thread_id.h:
libmemprof/trace_header.h:
libmemprof/trace_name.h:
libmemprof/trace_writer.h:
libmemprof/unwind.h:
