/*
 * What the program has mapped by itself, by address. A mapping can lose its
 * middle and be two parts; parts remember which mapping they belong to.
 */
#ifndef ANALYZER_TRACE_LIVE_MAPS_H
#define ANALYZER_TRACE_LIVE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_part {
	uint64_t start, end;
	uint64_t time;         /* of the mapping's birth */
	uint32_t origin;
	bool is_brk;
	bool is_last;          /* given to `take`: no part of its mapping is left */

	/* Private. */
	uint32_t left, right, priority, mapping;
};

/* All zero is empty. */
struct live_maps {
	struct live_part *parts; /* a tree in an array; 0 = no part */
	size_t part_count;
	uint32_t root, free_part;
	uint32_t *parts_of;      /* by mapping: how many parts are left */
	size_t mapping_count;
	uint32_t random;
};

typedef void (*live_maps_take)(void *context, const struct live_part *part);

/* Adds a mapping of [@start, @end); what lies there has been removed before. */
void live_maps_add(struct live_maps *maps, uint64_t start, uint64_t end, uint64_t time,
		   uint32_t origin, bool is_brk);
/* Takes [@start, @end) out; each part that was there is given to @take. */
void live_maps_remove(struct live_maps *maps, uint64_t start, uint64_t end, live_maps_take take,
		      void *context);
/* All parts by rising address. */
void live_maps_each(const struct live_maps *maps, live_maps_take take, void *context);
void live_maps_release(struct live_maps *maps);

#endif
