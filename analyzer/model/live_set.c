/*
 * See live_set.h.
 */
#include "model/live_set.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

static void block_add(struct live_set *set, const struct trace_event *e)
{
	uint32_t index;

	if (set->free_block) {
		index = set->free_block - 1;
		set->free_block = set->blocks[index].stack;
	} else {
		MEMORY_ROOM(set->blocks, set->count);
		index = (uint32_t)set->count++;
	}
	set->blocks[index] = *e;
	hash_map_set(&set->by_address, e->address, index);
}

static void block_remove(struct live_set *set, const struct trace_event *e)
{
	uint32_t index = hash_map_get(&set->by_address, e->address);

	if (index == HASH_MAP_NONE)
		return;
	hash_map_set(&set->by_address, e->address, HASH_MAP_NONE);
	set->blocks[index] = (struct trace_event){ .stack = set->free_block };
	set->free_block = index + 1;
}

static void map_add(struct live_set *set, const struct trace_event *e)
{
	MEMORY_ROOM(set->maps, set->map_count);
	set->maps[set->map_count++] = *e;
}

/* [start, end) goes away from one mapping: what is left are 0, 1 or 2 parts. */
static void map_cut(struct live_set *set, size_t index, uint64_t start, uint64_t end)
{
	struct trace_event left = set->maps[index], right = left;
	uint64_t map_end = left.address + left.size;

	set->maps[index] = set->maps[--set->map_count];
	if (left.address < start) {
		left.size = start - left.address;
		map_add(set, &left);
	}
	if (map_end > end) {
		right.address = end;
		right.size = map_end - end;
		map_add(set, &right);
	}
}

static void map_remove(struct live_set *set, const struct trace_event *e)
{
	uint64_t start = e->address, end = start + e->size;

	for (size_t i = set->map_count; i-- > 0;) {
		const struct trace_event *map = &set->maps[i];

		if (map->address < end && start < map->address + map->size)
			map_cut(set, i, start, end);
	}
}

static void live_set_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct live_set *set = (struct live_set *)self;

	for (const struct trace_event *e = events; e < events + count; e++) {
		if (set->filter && set->filter->active && !event_filter_passes(set->filter, e))
			continue;
		if (e->kind == TRACE_EVENT_ALLOCATE)
			block_add(set, e);
		else if (e->kind == TRACE_EVENT_FREE)
			block_remove(set, e);
		else if (e->kind == TRACE_EVENT_MAP)
			map_add(set, e);
		else
			map_remove(set, e);
	}
}

static int compare_birth(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

void live_set_settle(struct live_set *set)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++)
		if (set->blocks[i].kind)
			set->blocks[kept++] = set->blocks[i];
	set->count = kept;
	hash_map_release(&set->by_address);
	if (kept)
		qsort(set->blocks, kept, sizeof(*set->blocks), compare_birth);
	if (set->map_count)
		qsort(set->maps, set->map_count, sizeof(*set->maps), compare_birth);
}

void live_set_init(struct live_set *set, const struct event_filter *filter)
{
	*set = (struct live_set){ .aggregator = { .take = live_set_take,
						  .take_pairs = pairs_pass_over },
				  .filter = filter };
	set->aggregator.from_ns = event_filter_from_ns(filter);
}

void live_set_release(struct live_set *set)
{
	free(set->blocks);
	free(set->maps);
	hash_map_release(&set->by_address);
	*set = (struct live_set){ 0 };
}
