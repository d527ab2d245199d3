/*
 * The blocks that are live at the end of a pass, each with its allocation: for
 * views that show blocks themselves, and for cutting a snapshot out. Mappings
 * that lost a part of themselves are there as what is left.
 */
#ifndef ANALYZER_MODEL_LIVE_SET_H
#define ANALYZER_MODEL_LIVE_SET_H

#include "model/pass.h"
#include "util/hash_map.h"

struct live_set {
	struct aggregator aggregator;
	const struct event_filter *filter; /* NULL = all */
	struct trace_event *blocks;  /* kind 0: a hole */
	size_t count;
	struct hash_map by_address;  /* index into blocks */
	uint32_t free_block;         /* index + 1 of the first hole; holes are linked by stack */
	struct trace_event *maps;
	size_t map_count;
};

void live_set_init(struct live_set *set, const struct event_filter *filter);
void live_set_release(struct live_set *set);
/* After the pass: blocks and maps in the order of their birth, without holes. */
void live_set_settle(struct live_set *set);

#endif
