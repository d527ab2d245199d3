/*
 * See strings.h. Open addressing over blocks of text.
 */
#include "util/strings.h"

#include "util/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 65536

struct block {
	struct block *next;
	char text[];
};

static uint64_t text_hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
	return hash ^ (hash >> 29);
}

static const char *text_keep(struct strings *strings, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy;

	if (bytes > strings->room) {
		size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
		struct block *block = memory_resize(NULL, 1, sizeof(*block) + size);

		block->next = strings->blocks;
		strings->blocks = block;
		strings->block = block->text;
		strings->room = size;
	}
	copy = strings->block;
	memcpy(copy, text, bytes);
	strings->block += bytes;
	strings->room -= bytes;
	return copy;
}

static size_t find(const struct strings *strings, const char *text)
{
	size_t at = text_hash(text) & (strings->bucket_count - 1);

	while (strings->buckets[at] && strcmp(strings->buckets[at], text))
		at = (at + 1) & (strings->bucket_count - 1);
	return at;
}

static void grow(struct strings *strings)
{
	struct strings old = *strings;

	strings->bucket_count = old.bucket_count ? old.bucket_count * 2 : 1024;
	strings->buckets = memory_zeroed(strings->bucket_count, sizeof(*strings->buckets));
	for (size_t i = 0; i < old.bucket_count; i++)
		if (old.buckets[i])
			strings->buckets[find(strings, old.buckets[i])] = old.buckets[i];
	free(old.buckets);
}

const char *strings_intern(struct strings *strings, const char *text)
{
	size_t at;

	if (!text)
		return NULL;
	if (strings->count * 2 >= strings->bucket_count)
		grow(strings);
	at = find(strings, text);
	if (!strings->buckets[at]) {
		strings->buckets[at] = text_keep(strings, text);
		strings->count++;
	}
	return strings->buckets[at];
}

void strings_release(struct strings *strings)
{
	struct block *block = strings->blocks, *next;

	for (; block; block = next) {
		next = block->next;
		free(block);
	}
	free(strings->buckets);
	*strings = (struct strings){ 0 };
}
