/*
 * See saved_names.h.
 */
#include "symbolize/saved_names.h"

#include "util/cursor.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define PACKED_MAX ((size_t)256 << 20)
#define BLOCK_MAX ((size_t)1 << 30)

void saved_names_add_symbols(struct saved_names *names, const uint8_t *bytes, size_t count)
{
	struct cursor cursor = { .at = bytes, .end = bytes + count };
	uint64_t value = 0;

	while (cursor_left(&cursor)) {
		uint64_t size, length;
		const uint8_t *name;
		uint8_t binding;

		value += (uint64_t)unzigzag(cursor_varint(&cursor));
		size = cursor_varint(&cursor);
		binding = cursor_u8(&cursor);
		length = cursor_varint(&cursor);
		name = cursor_bytes(&cursor, length);
		if (cursor.is_broken)
			return;
		if (length)
			elf_symbols_add_one(&names->symbols, value, size, binding,
					    (const char *)name, length);
	}
	names->is_sorted = false;
}

static void drop_parts(struct saved_names *names)
{
	free(names->packed);
	names->packed = NULL;
	names->packed_bytes = 0;
	names->next_part = 0;
}

static bool append_part(struct saved_names *names, const uint8_t *bytes, size_t count)
{
	uint8_t *bigger;

	if (count > PACKED_MAX - names->packed_bytes)
		return false;
	bigger = realloc(names->packed, names->packed_bytes + count + 1);
	if (!bigger)
		return false;
	memcpy(bigger + names->packed_bytes, bytes, count);
	names->packed = bigger;
	names->packed_bytes += count;
	names->next_part++;
	return true;
}

/* The size in the frame's header is a claim: what comes out may not be more. */
static void *unpack(const struct saved_names *names, size_t *block_bytes)
{
	unsigned long long claim = ZSTD_getFrameContentSize(names->packed, names->packed_bytes);
	void *block;
	size_t got;

	if (claim == ZSTD_CONTENTSIZE_ERROR || claim == ZSTD_CONTENTSIZE_UNKNOWN || !claim ||
	    claim > BLOCK_MAX || claim / 1000 > names->packed_bytes)
		return NULL;
	block = malloc((size_t)claim);
	if (!block)
		return NULL;
	got = ZSTD_decompress(block, (size_t)claim, names->packed, names->packed_bytes);
	if (ZSTD_isError(got) || got != claim) {
		free(block);
		return NULL;
	}
	*block_bytes = got;
	return block;
}

void *saved_names_add_frames(struct saved_names *names, uint32_t part, uint32_t parts,
			     const uint8_t *bytes, size_t count, size_t *block_bytes)
{
	void *block = NULL;

	if (part == 0)
		drop_parts(names);
	if (part != names->next_part || !append_part(names, bytes, count)) {
		drop_parts(names);
		return NULL;
	}
	if (names->next_part == parts) {
		block = unpack(names, block_bytes);
		drop_parts(names);
	}
	return block;
}

const char *saved_names_find(struct saved_names *names, uint64_t address)
{
	if (!names->is_sorted)
		elf_symbols_sort(&names->symbols);
	names->is_sorted = true;
	return elf_symbols_find(&names->symbols, address);
}

void saved_names_release(struct saved_names *names)
{
	drop_parts(names);
	elf_symbols_release(&names->symbols);
}
