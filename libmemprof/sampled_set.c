/*
 * The set behind the tags is a stack of tables, each twice as large as the one
 * before it, made when the others are full where a new address would go:
 *
 *	level 0   1 024 lines of 8 addresses     64 KiB
 *	level 1   2 048 lines                   128 KiB
 *	...
 *	level 10  1 048 576 lines                64 MiB     16 million in all
 *
 * A line is one cache line. An address may lie in two lines of each level, at
 * any place in them, so removing it means storing 0: there are no tombstones to
 * collect, and no entry ever moves, which is why nobody needs a lock. Tables are
 * never given back; pages of theirs that were not touched cost nothing.
 */
#include "sampled_set.h"

#include <sys/mman.h>

#include "os.h"

#define LINE_ADDRESSES 8
#define LEVELS 11
#define LEVEL_LINES(level) (1024ul << (level))
#define TAG_STUCK 255

struct line {
	_Alignas(64) uintptr_t at[LINE_ADDRESSES];
};

_Alignas(4096) uint8_t sampled_tags[SAMPLED_TAGS];
static struct line *levels[LEVELS];

void sampled_set_start(void)
{
	/* A huge page for one byte would cost 2 MiB, and a fork that copies it. */
	os_call3(SYS_madvise, sampled_tags, sizeof sampled_tags, MADV_NOHUGEPAGE);
}

/* Counts up to TAG_STUCK and stays there: how often it was reached is unknown. */
static void tag_change(const void *block, int by)
{
	uint8_t *tag = sampled_tag(block);
	uint8_t old = __atomic_load_n(tag, __ATOMIC_RELAXED);

	do {
		if (old == TAG_STUCK)
			return;
	} while (!__atomic_compare_exchange_n(tag, &old, (uint8_t)(old + by), true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* The two lines of @block in a level. */
static void lines_of(const void *block, unsigned level, struct line *table, struct line *pair[2])
{
	uint64_t hash = ((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull;
	unsigned bits = 10 + level;

	pair[0] = &table[hash >> (64 - bits)];
	pair[1] = &table[(hash << bits) >> (64 - bits)];
}

static struct line *level_table(unsigned level)
{
	struct line *table = __atomic_load_n(&levels[level], __ATOMIC_ACQUIRE);
	struct line *made;

	if (table)
		return table;
	made = os_map(LEVEL_LINES(level) * sizeof *made);
	if (!made)
		return NULL;
	if (__atomic_compare_exchange_n(&levels[level], &table, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	os_unmap(made, LEVEL_LINES(level) * sizeof *made);
	return table;
}

static bool line_add(struct line *line, uintptr_t address)
{
	uintptr_t empty;

	for (unsigned i = 0; i < LINE_ADDRESSES; i++) {
		empty = __atomic_load_n(&line->at[i], __ATOMIC_RELAXED);
		if (!empty && __atomic_compare_exchange_n(&line->at[i], &empty, address, false,
							  __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static bool line_remove(struct line *line, uintptr_t address)
{
	for (unsigned i = 0; i < LINE_ADDRESSES; i++) {
		if (__atomic_load_n(&line->at[i], __ATOMIC_ACQUIRE) != address)
			continue;
		__atomic_store_n(&line->at[i], 0, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

static bool set_add(const void *block)
{
	struct line *pair[2], *table;

	for (unsigned level = 0; level < LEVELS; level++) {
		table = level_table(level);
		if (!table)
			return false;
		lines_of(block, level, table, pair);
		if (line_add(pair[0], (uintptr_t)block) || line_add(pair[1], (uintptr_t)block))
			return true;
	}
	return false;
}

bool sampled_set_add(const void *block)
{
	/* The tag first: whoever frees the block must find it. */
	tag_change(block, 1);
	if (set_add(block))
		return true;
	tag_change(block, -1);
	return false;
}

bool sampled_set_remove(const void *block)
{
	struct line *pair[2], *table;

	for (unsigned level = 0; level < LEVELS; level++) {
		table = __atomic_load_n(&levels[level], __ATOMIC_ACQUIRE);
		if (!table)
			return false;
		lines_of(block, level, table, pair);
		if (!line_remove(pair[0], (uintptr_t)block) &&
		    !line_remove(pair[1], (uintptr_t)block))
			continue;
		tag_change(block, -1);
		return true;
	}
	return false;
}

void sampled_set_pin(const void *start, size_t bytes)
{
	uintptr_t at = (uintptr_t)start & ~(uintptr_t)255;
	uintptr_t end = (uintptr_t)start + (bytes ? bytes : 1);

	for (; at < end; at += 256)
		__atomic_store_n(sampled_tag((void *)at), TAG_STUCK, __ATOMIC_RELAXED);
}
