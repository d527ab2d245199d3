/*
 * See filtered_pass.h.
 */
#include "model/filtered_pass.h"

#include "model/profile.h"
#include "model/slices.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

/* Stands in front of the others: hands on what passes. */
struct sieve {
	struct aggregator aggregator;
	const struct event_filter *filter;
	struct aggregator *const *inner;
	size_t inner_count;
	struct trace_event *kept;
	size_t room;
	struct event_pairs *kept_pairs;
	size_t pair_room;
	uint64_t end_ns;
};

static void sieve_hand_on(struct sieve *sieve, const struct trace_event *events, size_t count)
{
	for (size_t i = 0; count && i < sieve->inner_count; i++)
		sieve->inner[i]->take(sieve->inner[i], events, count);
}

static void sieve_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct sieve *sieve = (struct sieve *)self;
	size_t kept = 0;

	if (!sieve->filter->active) {
		sieve_hand_on(sieve, events, count);
		return;
	}
	if (count > sieve->room) {
		sieve->room = count;
		sieve->kept = memory_resize(sieve->kept, count, sizeof(*sieve->kept));
	}
	for (size_t i = 0; i < count; i++)
		if (event_filter_passes(sieve->filter, &events[i]))
			sieve->kept[kept++] = events[i];
	sieve_hand_on(sieve, sieve->kept, kept);
}

static void sieve_hand_pairs_on(struct sieve *sieve, const struct event_pairs *pairs, size_t count)
{
	for (size_t i = 0; count && i < sieve->inner_count; i++)
		sieve->inner[i]->take_pairs(sieve->inner[i], pairs, count);
}

static void sieve_take_pairs(struct aggregator *self, const struct event_pairs *pairs,
			     size_t count)
{
	struct sieve *sieve = (struct sieve *)self;
	size_t kept = 0;

	if (!sieve->filter->active) {
		sieve_hand_pairs_on(sieve, pairs, count);
		return;
	}
	if (count > sieve->pair_room) {
		sieve->pair_room = count;
		sieve->kept_pairs =
			memory_resize(sieve->kept_pairs, count, sizeof(*sieve->kept_pairs));
	}
	for (size_t i = 0; i < count; i++)
		if (event_filter_passes(sieve->filter, &pairs[i].death))
			sieve->kept_pairs[kept++] = pairs[i];
	sieve_hand_pairs_on(sieve, sieve->kept_pairs, kept);
}

static bool sieve_wants(struct aggregator *self, const struct slice *slice)
{
	const struct sieve *sieve = (struct sieve *)self;

	for (size_t i = 0; i < sieve->inner_count; i++)
		if (sieve->inner[i]->wants_events &&
		    sieve->inner[i]->wants_events(sieve->inner[i], slice))
			return true;
	return false;
}

static void sieve_take_steps(struct aggregator *self, const struct slice_step *steps)
{
	const struct sieve *sieve = (struct sieve *)self;

	for (size_t i = 0; i < sieve->inner_count; i++)
		if (sieve->inner[i]->take_steps)
			sieve->inner[i]->take_steps(sieve->inner[i], steps);
}

/* Steps are of the whole heap, pairs of no one size. */
static void sieve_settle(struct sieve *sieve)
{
	struct aggregator *self = &sieve->aggregator;
	bool can_take = event_filter_knows_pairs(sieve->filter);

	self->wants_events = sieve_wants;
	self->from_ns = event_filter_from_ns(sieve->filter);
	for (size_t i = 0; i < sieve->inner_count; i++) {
		can_take &= sieve->inner[i]->take_pairs != NULL;
		can_take &= !sieve->inner[i]->take_steps || !sieve->filter->active;
		if (sieve->inner[i]->take_steps)
			self->take_steps = sieve_take_steps;
	}
	self->take_pairs = can_take ? sieve_take_pairs : NULL;
}

static void sieve_end(struct aggregator *self, uint64_t end_ns)
{
	struct sieve *sieve = (struct sieve *)self;

	sieve->end_ns = end_ns;
	for (size_t i = 0; i < sieve->inner_count; i++)
		if (sieve->inner[i]->end)
			sieve->inner[i]->end(sieve->inner[i], end_ns);
}

/* Marks the stacks that are left when names have been looked at. */
static int find_stacks(const struct trace_set_member *member, const struct query *query,
		       struct event_filter *filter, struct error *err)
{
	struct trace_set_member copy = *member;
	struct trace_set one = { .members = &copy, .count = 1 };
	struct query by_site = *query;
	struct profile *profile;
	int status;

	by_site.by = BY_SITE;
	status = profile_build(&one, &by_site, &profile, err);
	if (status)
		return status;
	filter->stack_count = member->trace->node_count;
	filter->stacks = memory_zeroed(filter->stack_count, 1);
	for (size_t i = 0; i < profile->site_count; i++)
		for (size_t c = 0; c < profile->sites[i].cell_count; c++)
			if (profile->sites[i].cells[c].node < filter->stack_count)
				filter->stacks[profile->sites[i].cells[c].node] = 1;
	filter->active = true;
	profile_free(profile);
	return 0;
}

int filtered_pass_run(const struct trace_set_member *member, const struct query *query,
		      struct aggregator *const *aggregators, size_t count,
		      struct filtered_pass *pass, struct error *err)
{
	struct event_filter filter = { 0 };
	struct sieve sieve = { .aggregator = { .take = sieve_take, .end = sieve_end },
			       .filter = &filter,
			       .inner = aggregators, .inner_count = count };
	struct aggregator *only = &sieve.aggregator;
	struct moment to = member->when;
	int status = event_filter_init(&filter, member->trace, query, err);

	*pass = (struct filtered_pass){ .from_ns = filter.from_ns };
	if (!status && to.kind == MOMENT_END && query->to)
		status = moment_parse(member->trace, query->to, &to, err);
	if (!status && (query->focus.count || query->ignore.count || query->module.count))
		status = find_stacks(member, query, &filter, err);
	sieve_settle(&sieve);
	if (!status)
		status = pass_run(member->trace, &to, 0, &only, 1, &pass->stats, err);
	pass->end_ns = sieve.end_ns;
	free(sieve.kept);
	free(sieve.kept_pairs);
	event_filter_release(&filter);
	return status;
}
