/*
 * Strings that live as long as their arena: copied in, never moved, freed all
 * at once.
 */
#ifndef ANALYZER_UTIL_STRING_ARENA_H
#define ANALYZER_UTIL_STRING_ARENA_H

#include <stddef.h>

struct string_block;

/* All zero is an empty arena. */
struct string_arena {
	struct string_block *blocks;
	size_t used, room; /* of the newest block */
};

/* A copy of the @bytes bytes at @from, a zero behind it. */
char *string_arena_copy(struct string_arena *arena, const void *from, size_t bytes);
/* Formats like printf into the arena. */
char *string_arena_print(struct string_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void string_arena_release(struct string_arena *arena);

#endif
