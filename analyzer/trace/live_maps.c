/*
 * See live_maps.h. A treap: a search tree by address that is a heap by random
 * priorities, hence about balanced whatever the program does. They are other ones
 * in each process, so that no trace can be made for them: all here is recursive,
 * and as deep as the tree. Splitting and joining are all it needs. Numbers of
 * mappings are not used again; a mapping costs 4 bytes for good.
 */
#include "trace/live_maps.h"

#include "util/hash_map.h"
#include "util/memory.h"

#include <stdlib.h>

static uint32_t next_random(struct live_maps *maps)
{
	uint32_t x = maps->random ? maps->random : (uint32_t)(hash_seed[1] >> 32) | 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return maps->random = x;
}

static uint32_t new_part(struct live_maps *maps, const struct live_part *like)
{
	uint32_t number = maps->free_part;

	if (number) {
		maps->free_part = maps->parts[number].left;
	} else {
		if (!maps->part_count) {
			MEMORY_ROOM(maps->parts, maps->part_count);
			maps->parts[maps->part_count++] = (struct live_part){0};
		}
		MEMORY_ROOM(maps->parts, maps->part_count);
		number = (uint32_t)maps->part_count++;
	}
	maps->parts[number] = *like;
	maps->parts[number].left = maps->parts[number].right = 0;
	maps->parts[number].priority = next_random(maps);
	maps->parts_of[like->mapping]++;
	return number;
}

/* Divides @tree: parts that start below @at, and the others. */
static void split(struct live_maps *maps, uint32_t tree, uint64_t at, uint32_t *below,
		  uint32_t *above)
{
	struct live_part *part = &maps->parts[tree];

	if (!tree) {
		*below = *above = 0;
	} else if (part->start < at) {
		*below = tree;
		split(maps, part->right, at, &part->right, above);
	} else {
		*above = tree;
		split(maps, part->left, at, below, &part->left);
	}
}

/* All of @below lies below all of @above. */
static uint32_t join(struct live_maps *maps, uint32_t below, uint32_t above)
{
	struct live_part *parts = maps->parts;

	if (!below || !above)
		return below | above;
	if (parts[below].priority > parts[above].priority) {
		parts[below].right = join(maps, parts[below].right, above);
		return below;
	}
	parts[above].left = join(maps, below, parts[above].left);
	return above;
}

static uint32_t last_of(const struct live_maps *maps, uint32_t tree)
{
	while (tree && maps->parts[tree].right)
		tree = maps->parts[tree].right;
	return tree;
}

static void insert(struct live_maps *maps, const struct live_part *like)
{
	uint32_t number = new_part(maps, like), below, above;

	split(maps, maps->root, like->start, &below, &above);
	maps->root = join(maps, join(maps, below, number), above);
}

void live_maps_add(struct live_maps *maps, uint64_t start, uint64_t end, uint64_t time,
		   uint32_t origin, bool is_brk)
{
	struct live_part part = {.start = start, .end = end, .time = time,
				 .origin = origin, .is_brk = is_brk,
				 .mapping = (uint32_t)maps->mapping_count};

	if (start >= end)
		return;
	MEMORY_ROOM(maps->parts_of, maps->mapping_count);
	maps->parts_of[maps->mapping_count++] = 0;
	insert(maps, &part);
}

/* Gives out the parts of @tree, by address, and frees them. */
static void take_tree(struct live_maps *maps, uint32_t tree, live_maps_take take, void *context)
{
	struct live_part part;

	if (!tree)
		return;
	take_tree(maps, maps->parts[tree].left, take, context);
	part = maps->parts[tree];
	maps->parts[tree].left = maps->free_part;
	maps->free_part = tree;
	part.is_last = --maps->parts_of[part.mapping] == 0;
	take(context, &part);
	take_tree(maps, part.right, take, context);
}

/* Makes @at a border of parts. */
static void cut(struct live_maps *maps, uint64_t at)
{
	uint32_t below, above, last;
	struct live_part upper;

	split(maps, maps->root, at, &below, &above);
	last = last_of(maps, below);
	maps->root = join(maps, below, above);
	if (!last || maps->parts[last].end <= at)
		return;
	upper = maps->parts[last];
	upper.start = at;
	maps->parts[last].end = at;
	insert(maps, &upper);
}

void live_maps_remove(struct live_maps *maps, uint64_t start, uint64_t end, live_maps_take take,
		      void *context)
{
	uint32_t below, middle, above;

	if (start >= end || !maps->root)
		return;
	cut(maps, start);
	cut(maps, end);
	split(maps, maps->root, start, &below, &above);
	split(maps, above, end, &middle, &above);
	take_tree(maps, middle, take, context);
	maps->root = join(maps, below, above);
}

static void each(const struct live_maps *maps, uint32_t tree, live_maps_take take, void *context)
{
	if (!tree)
		return;
	each(maps, maps->parts[tree].left, take, context);
	take(context, &maps->parts[tree]);
	each(maps, maps->parts[tree].right, take, context);
}

void live_maps_each(const struct live_maps *maps, live_maps_take take, void *context)
{
	each(maps, maps->root, take, context);
}

void live_maps_release(struct live_maps *maps)
{
	free(maps->parts);
	free(maps->parts_of);
	*maps = (struct live_maps){0};
}
