/*
 * See string_arena.h. Blocks of 16 KiB, larger ones for larger strings, in one
 * list.
 */
#include "util/string_arena.h"

#include "util/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 16384

struct string_block {
	struct string_block *next;
	char bytes[];
};

static char *take(struct string_arena *arena, size_t bytes)
{
	size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
	struct string_block *block;

	if (arena->room - arena->used < bytes) {
		block = memory_resize(NULL, 1, sizeof(*block) + room);
		block->next = arena->blocks;
		arena->blocks = block;
		arena->used = 0;
		arena->room = room;
	}
	arena->used += bytes;
	return arena->blocks->bytes + arena->used - bytes;
}

char *string_arena_copy(struct string_arena *arena, const void *from, size_t bytes)
{
	char *copy = take(arena, bytes + 1);

	if (bytes)
		memcpy(copy, from, bytes);
	copy[bytes] = 0;
	return copy;
}

char *string_arena_print(struct string_arena *arena, const char *format, ...)
{
	char words[1024];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	if (length < 0)
		length = 0;
	if ((size_t)length >= sizeof(words))
		length = sizeof(words) - 1;
	return string_arena_copy(arena, words, (size_t)length);
}

void string_arena_release(struct string_arena *arena)
{
	struct string_block *block = arena->blocks, *next;

	for (; block; block = next) {
		next = block->next;
		free(block);
	}
	*arena = (struct string_arena){0};
}
