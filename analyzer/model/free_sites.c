/*
 * See free_sites.h. Frees are counted by pairs of stacks; the pairs of one stack of
 * allocations are a list. Names come in only when a site is asked for.
 */
#include "model/free_sites.h"

#include "model/slices.h"
#include "util/hash_map.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

struct pair {
	uint32_t free_stack;
	uint32_t next;             /* of the same stack, index + 1 */
	double count;
};

struct free_sites {
	struct aggregator aggregator;
	struct event_filter filter;
	struct hash_map by_stacks; /* index into pairs */
	struct hash_map first;     /* by stack: index into pairs */
	struct pair *pairs;
	size_t count;
};

static struct pair *pair_of(struct free_sites *sites, uint32_t stack, uint32_t free_stack)
{
	uint64_t key = (uint64_t)free_stack << 32 | stack;
	uint32_t index = hash_map_get(&sites->by_stacks, key), first;

	if (index == HASH_MAP_NONE) {
		index = (uint32_t)sites->count;
		first = hash_map_get(&sites->first, stack);
		MEMORY_ROOM(sites->pairs, sites->count);
		sites->pairs[sites->count++] = (struct pair){
			.free_stack = free_stack, .next = first == HASH_MAP_NONE ? 0 : first + 1 };
		hash_map_set(&sites->by_stacks, key, index);
		hash_map_set(&sites->first, stack, index);
	}
	return &sites->pairs[index];
}

static inline bool counts(const struct free_sites *sites, const struct trace_event *e)
{
	return e->kind == TRACE_EVENT_FREE && e->free_stack &&
	       !(e->flags & (TRACE_EVENT_INHERITED | TRACE_EVENT_UNKNOWN)) &&
	       (!sites->filter.active || event_filter_passes(&sites->filter, e));
}

static void take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct free_sites *sites = (struct free_sites *)self;
	struct number n;

	for (const struct trace_event *e = events; e < events + count; e++) {
		if (!counts(sites, e))
			continue;
		number_of_sample(e->size, e->rate, &n);
		pair_of(sites, e->stack, e->free_stack)->count += n.count;
	}
}

static void take_pairs(struct aggregator *self, const struct event_pairs *pairs, size_t count)
{
	struct free_sites *sites = (struct free_sites *)self;

	for (size_t i = 0; i < count; i++)
		if (counts(sites, &pairs[i].death))
			pair_of(sites, pairs[i].death.stack, pairs[i].death.free_stack)->count +=
				(double)pairs[i].count;
}

int free_sites_new(struct trace *trace, const struct query *query, struct free_sites **out,
		   struct error *err)
{
	struct free_sites *sites = memory_zeroed(1, sizeof(*sites));
	int status = event_filter_init(&sites->filter, trace, query, err);

	if (status) {
		free(sites);
		return status;
	}
	sites->aggregator.take = take;
	if (event_filter_knows_pairs(&sites->filter))
		sites->aggregator.take_pairs = take_pairs;
	sites->aggregator.from_ns = event_filter_from_ns(&sites->filter);
	*out = sites;
	return 0;
}

void free_sites_free(struct free_sites *sites)
{
	if (!sites)
		return;
	event_filter_release(&sites->filter);
	hash_map_release(&sites->by_stacks);
	hash_map_release(&sites->first);
	free(sites->pairs);
	free(sites);
}

struct aggregator *free_sites_aggregator(struct free_sites *sites)
{
	return &sites->aggregator;
}

/* ---- asking ---- */

struct found_list {
	struct usual_free *items;
	size_t count;
	double all;
};

static bool same_place(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->function == b->function && a->file == b->file && a->line == b->line &&
	       a->module == b->module && (a->function || a->module_offset == b->module_offset);
}

/* The frame that calls free, those of wrappers passed over. */
static const struct profile_frame *call_site(struct profile *profile, uint32_t member,
					     uint32_t node)
{
	const struct profile_frame *frames;
	size_t count = profile_node_frames(profile, member, node, &frames), i = 0;

	while (i + 1 < count && frames[i].is_wrapper)
		i++;
	return count ? &frames[i] : NULL;
}

static void found_add(struct found_list *list, const struct profile_frame *where, double count)
{
	list->all += count;
	for (size_t i = 0; where && i < list->count; i++)
		if (same_place(&list->items[i].where, where)) {
			list->items[i].count += count;
			return;
		}
	if (!where)
		return;
	MEMORY_ROOM(list->items, list->count);
	list->items[list->count++] = (struct usual_free){ .where = *where, .count = count };
}

static void add_stack(struct free_sites *sites, struct profile *profile, uint32_t member,
		      uint32_t stack, struct found_list *list)
{
	uint32_t at = hash_map_get(&sites->first, stack);

	for (at = at == HASH_MAP_NONE ? 0 : at + 1; at; at = sites->pairs[at - 1].next)
		found_add(list, call_site(profile, member, sites->pairs[at - 1].free_stack),
			  sites->pairs[at - 1].count);
}

bool free_sites_usual(struct free_sites *const *all, struct profile *profile,
		      const struct profile_site *site, struct usual_free *usual)
{
	struct found_list list = { 0 };

	*usual = (struct usual_free){ 0 };
	/* Cells of one stack lie side by side where there are several. */
	for (size_t i = 0; i < site->cell_count; i++) {
		const struct profile_cell *cell = &site->cells[i];

		if (i && site->cells[i - 1].node == cell->node &&
		    site->cells[i - 1].member == cell->member)
			continue;
		add_stack(all[cell->member], profile, cell->member, cell->node, &list);
	}
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].count > usual->count)
			*usual = list.items[i];
	usual->of = list.all;
	free(list.items);
	return usual->count > 0;
}
