/*
 * See live_heap.h. The table is kept in the order of the hashes:
 *
 *	home(h) = h * capacity >> 32
 *	entries lie at or behind their home, in rising order of h, without a gap
 *	between home and entry
 *
 * So a search ends at the first larger hash, a removal closes the gap by moving
 * followers that are not at home, and growing is two sweeps over the same
 * memory: everything to the upper end, then each entry down to its new place.
 * There is no wrap-around; some places lie behind the last home.
 *
 * An empty place has origin LIVE_HEAP_EMPTY. A block whose numbers don't fit (an address
 * from 2^48, a size from 2^32, a time from 2^48) has origin LIVE_HEAP_WIDE, and words[3]
 * says where it lies in the list of wide blocks. An address from 2^48, which no
 * program has unless it asks, goes by a stand-in that is given to it once.
 */
#include "trace/live_heap.h"

#include "util/hash_map.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STAND_IN 0xffff00000000ull
#define FIRST_CAPACITY 4096u
#define SMALL_CAPACITY (8u * 1024 * 1024 / sizeof(struct live_entry))

static inline bool is_wide(const struct live_block *block)
{
	return block->address >> 48 || block->size >> 32 || block->time >> 48;
}

/* What @address goes by in the table; UINT64_MAX: it has no stand-in yet. */
static inline uint64_t key_of(const struct live_heap *heap, uint64_t address)
{
	uint32_t stand_in;

	if (__builtin_expect(!(address >> 48), 1))
		return address;
	stand_in = hash_map_get(&heap->stand_ins, address);
	return stand_in == HASH_MAP_NONE ? UINT64_MAX : STAND_IN | stand_in;
}

static inline void unpack(const struct live_heap *heap, const struct live_entry *entry,
			  struct live_block *block)
{
	if (__builtin_expect(entry->words[4] == LIVE_HEAP_WIDE, 0)) {
		*block = heap->wide[entry->words[3]];
		return;
	}
	block->address = live_entry_address(entry);
	block->size = entry->words[2];
	block->time = entry->words[3] | (uint64_t)(entry->words[1] >> 16) << 32;
	block->origin = entry->words[4];
}

static void empty(struct live_entry *entries, size_t count)
{
	memset(entries, 0xff, count * sizeof(*entries));
}

/* Behind the last home: room for the longest run there, by chance 2^-60. */
static size_t room_for(size_t capacity)
{
	return capacity + 1024 + capacity / 64;
}

static void set_capacity(struct live_heap *heap, size_t capacity)
{
	heap->capacity = capacity;
	heap->room = room_for(capacity);
	heap->limit = capacity <= SMALL_CAPACITY ? capacity / 2 : capacity / 8 * 7;
}

static void *checked(void *map)
{
	if (map == MAP_FAILED) {
		memory_resize(NULL, SIZE_MAX, SIZE_MAX); /* ends the command, in words */
		abort();
	}
	return map;
}

void live_heap_init(struct live_heap *heap)
{
	*heap = (struct live_heap){0};
	set_capacity(heap, FIRST_CAPACITY);
	heap->entries = checked(mmap(NULL, heap->room * sizeof(*heap->entries),
				     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	empty(heap->entries, heap->room);
}

void live_heap_release(struct live_heap *heap)
{
	if (heap->entries)
		munmap(heap->entries, heap->room * sizeof(*heap->entries));
	free(heap->wide);
	hash_map_release(&heap->stand_ins);
	*heap = (struct live_heap){0};
}

void live_heap_clear(struct live_heap *heap)
{
	empty(heap->entries, heap->room);
	heap->count = heap->wide_count = 0;
	heap->free_wide = 0;
}

/* Moves all entries to the upper end of the room; returns where they begin. */
static size_t gather_above(struct live_heap *heap, size_t old_room)
{
	size_t to = heap->room;

	for (size_t from = old_room; from-- > 0;)
		if (!live_entry_is_empty(&heap->entries[from]))
			heap->entries[--to] = heap->entries[from];
	return to;
}

/* Gives each entry its new place. The k-th from the end never comes to lie
 * above where it waits, since those behind it need room as well. */
static void spread(struct live_heap *heap, size_t from)
{
	size_t next = 0;

	for (; from < heap->room; from++) {
		struct live_entry entry = heap->entries[from];
		size_t home = live_heap_home(heap, live_heap_hash(live_entry_address(&entry)));

		if (home > from)
			home = from;
		if (home > next) {
			empty(&heap->entries[next], home - next);
			next = home;
		}
		heap->entries[next++] = entry;
	}
	empty(&heap->entries[next], heap->room - next);
}

static void grow(struct live_heap *heap)
{
	size_t old_room = heap->room;

	set_capacity(heap, heap->capacity < SMALL_CAPACITY ? heap->capacity * 2 :
							     heap->capacity + heap->capacity / 8);
	heap->entries = checked(mremap(heap->entries, old_room * sizeof(*heap->entries),
				       heap->room * sizeof(*heap->entries), MREMAP_MAYMOVE));
	empty(&heap->entries[old_room], heap->room - old_room);
	spread(heap, gather_above(heap, old_room));
}

bool live_heap_has(const struct live_heap *heap, uint64_t address)
{
	uint64_t key = key_of(heap, address);
	bool is_there = false;

	if (key != UINT64_MAX)
		live_heap_find(heap, key, &is_there);
	return is_there;
}

/* Puts @block into the list of wide ones and turns it into what the table
 * keeps of it. */
static void widen(struct live_heap *heap, struct live_block *block)
{
	uint32_t at = heap->free_wide;

	if (at) {
		heap->free_wide = (uint32_t)heap->wide[at].size;
	} else {
		if (!heap->wide_count) { /* number 0 ends the free list */
			MEMORY_ROOM(heap->wide, heap->wide_count);
			heap->wide[heap->wide_count++] = (struct live_block){0};
		}
		MEMORY_ROOM(heap->wide, heap->wide_count);
		at = (uint32_t)heap->wide_count++;
	}
	heap->wide[at] = *block;
	if (block->address >> 48) {
		if (key_of(heap, block->address) == UINT64_MAX)
			hash_map_set(&heap->stand_ins, block->address,
				     (uint32_t)heap->stand_ins.count);
		block->address = key_of(heap, block->address);
	}
	*block =
	    (struct live_block){.address = block->address, .time = at, .origin = LIVE_HEAP_WIDE};
}

/* Makes room at the place @at; false: the table has to grow first. */
static inline bool open_gap(struct live_heap *heap, size_t at)
{
	size_t end = at;

	while (!live_entry_is_empty(&heap->entries[end]))
		end++;
	if (__builtin_expect(heap->count >= heap->limit || end + 2 >= heap->room, 0))
		return false;
	if (end > at)
		memmove(&heap->entries[at + 1], &heap->entries[at],
			(end - at) * sizeof(*heap->entries));
	return true;
}

bool live_heap_add_slowly(struct live_heap *heap, const struct live_block *block)
{
	struct live_block kept = *block;
	bool is_there;
	size_t at;

	if (__builtin_expect(is_wide(block), 0)) {
		if (live_heap_has(heap, block->address))
			return false;
		widen(heap, &kept);
	}
	for (;;) {
		at = live_heap_find(heap, kept.address, &is_there);
		if (is_there)
			return false;
		if (open_gap(heap, at))
			break;
		grow(heap);
	}
	live_entry_fill(&heap->entries[at], &kept);
	heap->count++;
	return true;
}

/* Closes the gap at @at: followers that are not at home move down by one. */
static inline void close_gap(struct live_heap *heap, size_t at)
{
	for (;; at++) {
		const struct live_entry *follower = &heap->entries[at + 1];

		if (live_entry_is_empty(follower) ||
		    live_heap_home(heap, live_heap_hash(live_entry_address(follower))) == at + 1)
			break;
		heap->entries[at] = *follower;
	}
	heap->entries[at].words[4] = LIVE_HEAP_EMPTY;
}

static void free_wide(struct live_heap *heap, uint32_t at)
{
	heap->wide[at].size = heap->free_wide;
	heap->free_wide = at;
}

bool live_heap_remove_slowly(struct live_heap *heap, uint64_t address, struct live_block *block)
{
	uint64_t key = key_of(heap, address);
	bool is_there;
	size_t at;

	if (__builtin_expect(key == UINT64_MAX, 0))
		return false;
	at = live_heap_find(heap, key, &is_there);
	if (!is_there)
		return false;
	unpack(heap, &heap->entries[at], block);
	if (__builtin_expect(heap->entries[at].words[4] == LIVE_HEAP_WIDE, 0))
		free_wide(heap, heap->entries[at].words[3]);
	close_gap(heap, at);
	heap->count--;
	return true;
}

int live_heap_each(const struct live_heap *heap,
		   int (*take)(void *context, const struct live_block *block), void *context)
{
	struct live_block block;
	int result = 0;

	for (size_t i = 0; i < heap->room && !result; i++) {
		if (live_entry_is_empty(&heap->entries[i]))
			continue;
		unpack(heap, &heap->entries[i], &block);
		result = take(context, &block);
	}
	return result;
}
