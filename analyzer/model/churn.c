/*
 * See churn.h.
 */
#include "model/churn.h"

#include "model/histogram.h"
#include "model/slices.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

static struct churn_sums *sums_of(struct churn *churn, uint32_t stack)
{
	if (stack >= churn->stack_count) {
		size_t count = churn->stack_count ? churn->stack_count : 4096;

		while (count <= stack)
			count *= 2;
		churn->by_stack = memory_resize(churn->by_stack, count, sizeof(*churn->by_stack));
		memset(churn->by_stack + churn->stack_count, 0,
		       (count - churn->stack_count) * sizeof(*churn->by_stack));
		churn->stack_count = count;
	}
	if (!churn->by_stack[stack]) {
		MEMORY_ROOM(churn->sums, churn->count);
		churn->sums[churn->count++] = (struct churn_sums){ 0 };
		churn->by_stack[stack] = (uint32_t)churn->count;
	}
	return &churn->sums[churn->by_stack[stack] - 1];
}

static void take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct churn *churn = (struct churn *)self;
	struct number n;

	for (const struct trace_event *e = events; e < events + count; e++) {
		struct churn_sums *sums;

		if (e->kind > TRACE_EVENT_FREE || (e->flags & TRACE_EVENT_INHERITED))
			continue;
		if (churn->filter && churn->filter->active &&
		    !event_filter_passes(churn->filter, e))
			continue;
		number_of_sample(e->size, e->rate, &n);
		sums = sums_of(churn, e->stack);
		if (e->kind == TRACE_EVENT_ALLOCATE) {
			number_add(&sums->calls, &n);
			if (e->flags & TRACE_EVENT_REALLOC)
				number_add(&sums->reallocated, &n);
			continue;
		}
		if (e->flags & TRACE_EVENT_TEMPORARY)
			number_add(&sums->temporary, &n);
		if ((e->flags & TRACE_EVENT_TEMPORARY) || e->time_ns - e->birth_ns < churn->age_ns)
			number_add(&sums->short_lived, &n);
	}
}

static void take_pairs(struct churn *churn, const struct event_pairs *pairs)
{
	const struct trace_event *e = &pairs->death;
	struct number n = { .count = (double)pairs->count, .bytes = (double)pairs->bytes };
	struct churn_sums *sums;

	if (churn->filter && churn->filter->active && !event_filter_passes(churn->filter, e))
		return;
	sums = sums_of(churn, e->stack);
	if (pairs->is_realloc) {
		number_add(&sums->reallocated, &n);
		return;
	}
	number_add(&sums->calls, &n);
	if (e->flags & TRACE_EVENT_TEMPORARY)
		number_add(&sums->temporary, &n);
	if ((e->flags & TRACE_EVENT_TEMPORARY) || e->time_ns - e->birth_ns < churn->age_ns)
		number_add(&sums->short_lived, &n);
}

static void churn_take_pairs(struct aggregator *self, const struct event_pairs *pairs,
			     size_t count)
{
	for (size_t i = 0; i < count; i++)
		take_pairs((struct churn *)self, &pairs[i]);
}

/* Pairs are told apart by age at the limits of the classes. */
static bool is_class_limit(uint64_t age_ns)
{
	for (unsigned i = 0; i < AGE_CLASSES; i++)
		if (age_class_limits_ns[i] == age_ns)
			return true;
	return false;
}

void churn_init(struct churn *churn, uint64_t age_ns, const struct event_filter *filter)
{
	*churn = (struct churn){ .aggregator.take = take, .age_ns = age_ns, .filter = filter };
	if (is_class_limit(age_ns) && event_filter_knows_pairs(filter))
		churn->aggregator.take_pairs = churn_take_pairs;
	churn->aggregator.from_ns = event_filter_from_ns(filter);
}

void churn_release(struct churn *churn)
{
	free(churn->sums);
	free(churn->by_stack);
}

void churn_sums_add(struct churn_sums *to, const struct churn_sums *sums)
{
	number_add(&to->calls, &sums->calls);
	number_add(&to->short_lived, &sums->short_lived);
	number_add(&to->temporary, &sums->temporary);
	number_add(&to->reallocated, &sums->reallocated);
}

void churn_add(const struct churn *churn, uint32_t stack, struct churn_sums *sums)
{
	if (stack < churn->stack_count && churn->by_stack[stack])
		churn_sums_add(sums, &churn->sums[churn->by_stack[stack] - 1]);
}
