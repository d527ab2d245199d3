build-oracle/analyzer/util/string_arena.o: analyzer/util/string_arena.c \
 analyzer/util/string_arena.h analyzer/util/memory.h
analyzer/util/string_arena.h:
analyzer/util/memory.h:
