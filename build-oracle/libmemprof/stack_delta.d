build-oracle/libmemprof/stack_delta.o: libmemprof/stack_delta.c \
 libmemprof/unwind.h include/memprof/trace_format.h \
 include/memprof/varint.h libmemprof/pc_table.h
libmemprof/unwind.h:
include/memprof/trace_format.h:
include/memprof/varint.h:
libmemprof/pc_table.h:
