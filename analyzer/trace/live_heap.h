/*
 * The blocks that are live, by address. An entry is 20 bytes: while the heap is
 * small the table has room to spare; from 8 MiB on it grows in steps of an
 * eighth, in place, so that a block costs 23 to 26 bytes however many there are.
 */
#ifndef ANALYZER_TRACE_LIVE_HEAP_H
#define ANALYZER_TRACE_LIVE_HEAP_H

#include "util/hash_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_block {
	uint64_t address, size;
	uint64_t time;       /* of its birth, in the unit the caller likes */
	uint32_t origin;
};

struct live_entry {
	uint32_t words[5];
};

struct live_heap {
	struct live_entry *entries;
	size_t capacity;     /* home places */
	size_t room;         /* capacity and what lies behind the last one */
	size_t count, limit; /* grow when count would pass limit */
	struct live_block *wide; /* blocks whose numbers don't fit into an entry */
	size_t wide_count;
	uint32_t free_wide;
	struct hash_map stand_ins;
};

void live_heap_init(struct live_heap *heap);
void live_heap_release(struct live_heap *heap);
void live_heap_clear(struct live_heap *heap);

/* Has the place of @address fetched into the cache. */
void live_heap_prefetch(const struct live_heap *heap, uint64_t address);

/* Adds @block unless there is one at its address already (false). */
bool live_heap_add(struct live_heap *heap, const struct live_block *block);
/* Takes out the block at @address into *@block; false: there is none. */
bool live_heap_remove(struct live_heap *heap, uint64_t address, struct live_block *block);
bool live_heap_has(const struct live_heap *heap, uint64_t address);

static inline size_t live_heap_count(const struct live_heap *heap)
{
	return heap->count;
}

/* All blocks, in no order, until @take returns other than 0. */
int live_heap_each(const struct live_heap *heap,
		   int (*take)(void *context, const struct live_block *block), void *context);

#endif
