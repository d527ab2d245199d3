/*
 * See between.h.
 */
#include "model/between.h"

#include "util/hash_map.h"
#include "util/memory.h"

#include <stdlib.h>

struct between {
	struct aggregator aggregator;
	struct event_filter filter;
	enum query_by by;
	uint64_t earlier_ns;
	struct hash_map places[TALLY_KINDS]; /* index into cells, by stack and dimension */
	struct number *cells;
	size_t count;
};

/* The dimension of the cell that tallies.h puts the block of @e into. */
static uint32_t dimension_of(const struct between *between, const struct trace_event *e,
			     bool is_birth)
{
	switch (between->by) {
	case BY_THREAD:
		return is_birth ? e->thread : e->birth_thread;
	case BY_SCOPE:
		return e->scope;
	case BY_SIZE:
		return e->size ? 64 - (uint32_t)__builtin_clzll(e->size) : 0;
	default:
		return 0;
	}
}

static uint64_t key_of(uint32_t stack, uint32_t dimension)
{
	return (uint64_t)dimension << 32 | stack;
}

static struct number *cell_of(struct between *between, enum tally_kind kind, uint64_t key)
{
	uint32_t place = hash_map_get(&between->places[kind], key);

	if (place == HASH_MAP_NONE) {
		MEMORY_ROOM(between->cells, between->count);
		place = (uint32_t)between->count++;
		between->cells[place] = (struct number){ 0 };
		hash_map_set(&between->places[kind], key, place);
	}
	return &between->cells[place];
}

static void take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct between *between = (struct between *)self;
	struct number n;

	for (const struct trace_event *e = events; e < events + count; e++) {
		bool is_birth = e->kind == TRACE_EVENT_ALLOCATE || e->kind == TRACE_EVENT_MAP;
		struct number *cell;

		if (e->rate <= 1 || e->time_ns <= between->earlier_ns ||
		    (e->flags & TRACE_EVENT_INHERITED) ||
		    !event_filter_passes(&between->filter, e))
			continue;
		number_of_sample(e->size, e->rate, &n);
		cell = cell_of(between, e->kind <= TRACE_EVENT_FREE ? TALLY_HEAP : TALLY_MAPPED,
			       key_of(e->stack, dimension_of(between, e, is_birth)));
		if (is_birth || e->birth_ns <= between->earlier_ns)
			number_add(cell, &n);
		else
			number_remove(cell, &n);
	}
}

int between_new(struct trace *trace, const struct query *query, uint64_t earlier_ns,
		struct between **out, struct error *err)
{
	struct between *between = memory_zeroed(1, sizeof(*between));
	int status = event_filter_init(&between->filter, trace, query, err);

	if (status) {
		free(between);
		return status;
	}
	between->aggregator.take = take;
	between->aggregator.take_pairs = pairs_pass_over; /* exact */
	between->aggregator.from_ns = event_filter_from_ns(&between->filter);
	between->by = query->by;
	between->earlier_ns = earlier_ns;
	*out = between;
	return 0;
}

void between_free(struct between *between)
{
	if (!between)
		return;
	event_filter_release(&between->filter);
	for (int kind = 0; kind < TALLY_KINDS; kind++)
		hash_map_release(&between->places[kind]);
	free(between->cells);
	free(between);
}

struct aggregator *between_aggregator(struct between *between)
{
	return &between->aggregator;
}

void between_add(const struct between *between, const struct profile_site *site,
		 struct number *sum)
{
	for (size_t i = 0; i < site->cell_count; i++) {
		const struct profile_cell *cell = &site->cells[i];
		uint32_t place = hash_map_get(&between->places[cell->kind],
					      key_of(cell->node, cell->dimension));

		if (place != HASH_MAP_NONE)
			number_add(sum, &between->cells[place]);
	}
}
