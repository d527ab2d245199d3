/*
 * The cache of whole stacks, laid open so that the usual case, a stack that is
 * where it is looked for first, is found in line. All that is said here of frames,
 * pairs and the memo is explained in unwind.c.
 */
#ifndef LIBMEMPROF_UNWIND_CACHE_H
#define LIBMEMPROF_UNWIND_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memprof/trace_format.h"
#include "pc_table.h"
#include "stack_memory.h"
#include "unwind.h"

/* A word of the stack, and its value when it was read. */
struct pair {
	uintptr_t slot;
	uint64_t value;
};

/* A state of the last walk: one of the memo. */
struct frame {
	uint64_t key;       /* place and row, as in the table */
	uintptr_t sp;
	uintptr_t fp;
	uint64_t tag;       /* upper half: serial of the walk that put it here; lower
			     * half: number of pairs of this frame and those further out */
};

static inline uint32_t frame_pairs_end(const struct frame *frame)
{
	return (uint32_t)frame->tag;
}

/* A recent stack. */
struct cached {
	uintptr_t pc;         /* 0: empty */
	uintptr_t sp;
	uintptr_t fp;
	uintptr_t fp_mask;    /* which bits of it must be equal: none or all */
	const struct pair *pairs_end; /* its own copies of the inner pairs: their end */
	const struct pair *pairs;
	uint64_t anchor_tag;  /* of the memo's frame that goes on behind them */
	uint32_t anchor;      /* its number, counted from 1; 0: none does */
};

_Static_assert(sizeof(struct cached) == 64, "a cache line");

/* What a struct unwind_state begins with. */
struct unwind_cache {
	uint32_t generation;   /* 0: nothing set up yet */
	uint32_t last_slot;    /* TRACE_CACHE_SLOTS: none used */

	/* The memo. */
	uint32_t frame_count;
	struct frame *frames;
	struct pair *pairs;

	_Alignas(64) struct cached slots[TRACE_CACHE_SLOTS];
};

static inline struct unwind_cache *unwind_cache_of(struct unwind_state *state)
{
	return (struct unwind_cache *)state;
}

/* Keeps the compiler from taking @word apart, or together with others. */
#define KEEP_SCALAR(word) __asm__("" : "+r"(word))

/* ---- pairs ---- */

static inline bool four_differ(const struct pair *end) READS_STACKS;
static inline bool four_differ(const struct pair *end)
{
	return stack_load(end[-1].slot) != end[-1].value ||
	       stack_load(end[-2].slot) != end[-2].value ||
	       stack_load(end[-3].slot) != end[-3].value ||
	       stack_load(end[-4].slot) != end[-4].value;
}

/* Compares the last @count pairs, the last first. 0: all hold; else the number of
 * the first that doesn't, counted from 1. */
static inline size_t pairs_differ(const struct pair *pairs, size_t count) READS_STACKS;
static inline size_t pairs_differ(const struct pair *pairs, size_t count)
{
	const struct pair *pair = pairs + count;

	while (count >= 4 && !four_differ(pair)) {
		pair -= 4;
		count -= 4;
	}
	for (; count; count--) {
		pair--;
		if (stack_load(pair->slot) != pair->value)
			return count;
	}
	return 0;
}

/* ---- cached stacks ---- */

static inline uint64_t cache_hash(uintptr_t pc, uintptr_t sp)
{
	return (pc ^ (sp << 20)) * 0x9e3779b97f4a7c15ull;
}

/* The slot's distance from slot 0 in bytes, which is what finds it. */
static inline size_t cache_offset(uint64_t hash)
{
	return (hash >> 50) & (TRACE_CACHE_SLOTS - 1) * sizeof(struct cached);
}

static inline unsigned cache_slot(uint64_t hash)
{
	return (unsigned)(hash >> 56);
}

static inline bool is_first_state(const struct cached *cached, uintptr_t pc, uintptr_t sp,
				  uintptr_t fp)
{
	return cached->pc == pc && cached->sp == sp && !((cached->fp ^ fp) & cached->fp_mask);
}

/* The pair behind the first that differs, NULL when all copies hold. */
static inline const struct pair *copies_differ(const struct cached *cached) READS_STACKS;
static inline const struct pair *copies_differ(const struct cached *cached)
{
	const struct pair *end = cached->pairs_end;

	for (; end != cached->pairs; end -= 4) {
		if (four_differ(end))
			return end;
	}
	return NULL;
}

/* What the copies leave to the memo. */
static inline bool anchor_holds(const struct unwind_cache *cache, const struct cached *cached)
{
	const struct frame *anchor;

	if (cached->anchor == 0)
		return true;
	anchor = &cache->frames[cached->anchor - 1];
	return cached->anchor <= cache->frame_count && anchor->tag == cached->anchor_tag &&
	       pairs_differ(cache->pairs, frame_pairs_end(anchor)) == 0;
}

/*
 * Is the stack at @point the one in the cache's slot that it is looked for in first?
 * Changes nothing: cache_use says that the caller goes on with it.
 */
static inline __attribute__((always_inline)) bool cache_has(const struct unwind_cache *cache,
							    struct unwind_point point,
							    unsigned *slot)
{
	size_t offset = cache_offset(cache_hash(point.pc, point.sp));
	const struct cached *cached = (const void *)((const char *)cache->slots + offset);

	KEEP_SCALAR(cached); /* else it is found anew for each of its fields */
	*slot = (unsigned)(offset / sizeof(struct cached));
	return cache->generation == __atomic_load_n(&pc_table_generation, __ATOMIC_RELAXED) &&
	       is_first_state(cached, point.pc, point.sp, point.fp) && !copies_differ(cached) &&
	       anchor_holds(cache, cached);
}

/* The stack in @slot is taken. Returns its mode: SAME or CACHED. */
static inline unsigned cache_use(struct unwind_cache *cache, unsigned slot)
{
	unsigned mode = slot == cache->last_slot ? TRACE_STACK_SAME : TRACE_STACK_CACHED;

	cache->last_slot = slot;
	return mode;
}

#endif
