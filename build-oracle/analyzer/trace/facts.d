build-oracle/analyzer/trace/facts.o: analyzer/trace/facts.c \
 analyzer/trace/reader.h analyzer/trace/live_heap.h \
 analyzer/util/hash_map.h analyzer/trace/live_maps.h \
 analyzer/trace/pieces.h include/memprof/trace_format.h \
 analyzer/trace/packed.h analyzer/util/error.h analyzer/trace/stacks.h \
 analyzer/trace/trace.h analyzer/util/string_arena.h \
 analyzer/trace/record_step.h include/memprof/varint.h \
 analyzer/util/cursor.h analyzer/util/memory.h
analyzer/trace/reader.h:
analyzer/trace/live_heap.h:
analyzer/util/hash_map.h:
analyzer/trace/live_maps.h:
analyzer/trace/pieces.h:
include/memprof/trace_format.h:
analyzer/trace/packed.h:
analyzer/util/error.h:
analyzer/trace/stacks.h:
analyzer/trace/trace.h:
analyzer/util/string_arena.h:
analyzer/trace/record_step.h:
include/memprof/varint.h:
analyzer/util/cursor.h:
analyzer/util/memory.h:
