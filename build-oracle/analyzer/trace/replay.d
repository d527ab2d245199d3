build-oracle/analyzer/trace/replay.o: analyzer/trace/replay.c \
 analyzer/trace/lanes.h analyzer/trace/decoder.h analyzer/trace/pieces.h \
 include/memprof/trace_format.h analyzer/trace/packed.h \
 analyzer/util/error.h analyzer/trace/reader.h analyzer/trace/live_heap.h \
 analyzer/util/hash_map.h analyzer/trace/live_maps.h \
 analyzer/trace/stacks.h analyzer/trace/trace.h \
 analyzer/util/string_arena.h analyzer/trace/waiting.h \
 analyzer/util/memory.h
analyzer/trace/lanes.h:
analyzer/trace/decoder.h:
analyzer/trace/pieces.h:
include/memprof/trace_format.h:
analyzer/trace/packed.h:
analyzer/util/error.h:
analyzer/trace/reader.h:
analyzer/trace/live_heap.h:
analyzer/util/hash_map.h:
analyzer/trace/live_maps.h:
analyzer/trace/stacks.h:
analyzer/trace/trace.h:
analyzer/util/string_arena.h:
analyzer/trace/waiting.h:
analyzer/util/memory.h:
