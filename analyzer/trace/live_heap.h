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
#include <string.h>

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

/*
 * ---- How a block lies in the table (live_heap.c says why) --------------------
 *
 *	words  0       1        2       3        4
 *	       address          size    time     origin
 *	       low 32  high 16  low 32  low 32
 *	               time
 *	               high 16
 */
#define LIVE_HEAP_EMPTY UINT32_MAX
#define LIVE_HEAP_WIDE (UINT32_MAX - 1)
#define LIVE_HEAP_ADDRESS (((uint64_t)1 << 48) - 1)

static inline uint64_t live_entry_address(const struct live_entry *entry)
{
	uint64_t word;

	memcpy(&word, entry->words, sizeof(word));
	return word & LIVE_HEAP_ADDRESS;
}

static inline bool live_entry_is_empty(const struct live_entry *entry)
{
	return entry->words[4] == LIVE_HEAP_EMPTY;
}

/* Two rounds: with one, rows of blocks of one size, which every allocator makes,
 * come to lie in clusters for some seeds. */
static inline uint32_t live_heap_hash(uint64_t address)
{
	return (uint32_t)(hash_u64(address) >> 32);
}

static inline size_t live_heap_home(const struct live_heap *heap, uint32_t hash)
{
	return (uint64_t)hash * heap->capacity >> 32;
}

/* Has the place of @address fetched into the cache. */
static inline void live_heap_prefetch(const struct live_heap *heap, uint64_t address)
{
	__builtin_prefetch(&heap->entries[live_heap_home(heap, live_heap_hash(address))]);
}

/* Whether fetching ahead is worth its while. */
static inline bool live_heap_is_large(const struct live_heap *heap)
{
	return heap->capacity > 8192;
}

/* The place of @address (below 2^48), or where it would have to be. */
static inline size_t live_heap_find(const struct live_heap *heap, uint64_t address, bool *is_there)
{
	uint32_t hash = live_heap_hash(address);
	size_t at = live_heap_home(heap, hash);

	for (;; at++) {
		const struct live_entry *entry = &heap->entries[at];
		uint64_t there = live_entry_address(entry);

		*is_there = false;
		if (live_entry_is_empty(entry))
			return at;
		if (there == address) {
			*is_there = true;
			return at;
		}
		if (live_heap_hash(there) > hash)
			return at;
	}
}

/* The first two words are stored as they will be loaded, in one: a load of what
 * two stores have written waits until both have left the core. */
static inline void live_entry_fill(struct live_entry *entry, const struct live_block *block)
{
	uint64_t word = block->address | block->time >> 32 << 48;

	memcpy(entry->words, &word, sizeof(word));
	entry->words[2] = (uint32_t)block->size;
	entry->words[3] = (uint32_t)block->time;
	entry->words[4] = block->origin;
}

/* The same as live_heap_add and live_heap_remove, for whatever isn't simple. */
bool live_heap_add_slowly(struct live_heap *heap, const struct live_block *block);
bool live_heap_remove_slowly(struct live_heap *heap, uint64_t address, struct live_block *block);

/* Adds @block unless there is one at its address already (false). */
static inline bool live_heap_add(struct live_heap *heap, const struct live_block *block)
{
	struct live_entry *entry;
	bool is_there;

	if (__builtin_expect((block->address | block->time) >> 48 | block->size >> 32, 0))
		return live_heap_add_slowly(heap, block);
	entry = &heap->entries[live_heap_find(heap, block->address, &is_there)];
	if (__builtin_expect(is_there, 0))
		return false;
	if (__builtin_expect(!live_entry_is_empty(entry) || heap->count >= heap->limit ||
			     entry + 2 >= heap->entries + heap->room, 0))
		return live_heap_add_slowly(heap, block);
	live_entry_fill(entry, block);
	heap->count++;
	return true;
}

/* Takes out the block at @address into *@block; false: there is none. */
static inline bool live_heap_remove(struct live_heap *heap, uint64_t address,
				    struct live_block *block)
{
	struct live_entry *entry;
	uint64_t word;
	bool is_there;

	if (__builtin_expect(address >> 48 != 0, 0))
		return live_heap_remove_slowly(heap, address, block);
	entry = &heap->entries[live_heap_find(heap, address, &is_there)];
	if (__builtin_expect(!is_there, 0))
		return false;
	if (__builtin_expect(entry->words[4] == LIVE_HEAP_WIDE || !live_entry_is_empty(entry + 1),
			     0))
		return live_heap_remove_slowly(heap, address, block);
	memcpy(&word, entry->words, sizeof(word));
	block->address = address;
	block->size = entry->words[2];
	block->time = entry->words[3] | word >> 48 << 32;
	block->origin = entry->words[4];
	entry->words[4] = LIVE_HEAP_EMPTY;
	heap->count--;
	return true;
}

bool live_heap_has(const struct live_heap *heap, uint64_t address);

static inline size_t live_heap_count(const struct live_heap *heap)
{
	return heap->count;
}

/* All blocks, in no order, until @take returns other than 0. */
int live_heap_each(const struct live_heap *heap,
		   int (*take)(void *context, const struct live_block *block), void *context);

#endif
