build-oracle/libmemprof/event_buffer.o: libmemprof/event_buffer.c \
 libmemprof/event_buffer.h include/memprof/trace_format.h \
 libmemprof/clock.h libmemprof/arch_x86_64.h libmemprof/companion.h \
 include/memprof/control.h libmemprof/losses.h libmemprof/os.h \
 libmemprof/owner_lock.h libmemprof/pieces.h libmemprof/trace_writer.h
libmemprof/event_buffer.h:
include/memprof/trace_format.h:
libmemprof/clock.h:
libmemprof/arch_x86_64.h:
libmemprof/companion.h:
include/memprof/control.h:
libmemprof/losses.h:
libmemprof/os.h:
libmemprof/owner_lock.h:
libmemprof/pieces.h:
libmemprof/trace_writer.h:
