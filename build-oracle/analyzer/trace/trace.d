build-oracle/analyzer/trace/trace.o: analyzer/trace/trace.c \
 analyzer/trace/trace.h include/memprof/trace_format.h \
 analyzer/util/error.h analyzer/trace/reader.h analyzer/trace/live_heap.h \
 analyzer/util/hash_map.h analyzer/trace/live_maps.h \
 analyzer/trace/pieces.h analyzer/trace/packed.h analyzer/trace/stacks.h \
 analyzer/util/string_arena.h analyzer/util/memory.h
analyzer/trace/trace.h:
include/memprof/trace_format.h:
analyzer/util/error.h:
analyzer/trace/reader.h:
analyzer/trace/live_heap.h:
analyzer/util/hash_map.h:
analyzer/trace/live_maps.h:
analyzer/trace/pieces.h:
analyzer/trace/packed.h:
analyzer/trace/stacks.h:
analyzer/util/string_arena.h:
analyzer/util/memory.h:
