/*
 * One pass over a trace that feeds several aggregators. An aggregator sees all
 * events in time order, in batches, and keeps what its view needs; a view that
 * needs two kinds of answers pays for one replay.
 */
#ifndef ANALYZER_MODEL_PASS_H
#define ANALYZER_MODEL_PASS_H

#include "model/query.h"
#include "model/trace_set.h"
#include "trace/trace.h"

struct slice;
struct slice_step;
struct event_pairs;

/*
 * An aggregator that has take_pairs gives a large trace's index a chance: what lies
 * in a slice (slices.h) of which it doesn't want the events comes in any order: those
 * of `take` one by one, blocks that were born and freed there as sums.
 */
struct aggregator {
	/* @events in time order; must not keep the pointer. */
	void (*take)(struct aggregator *self, const struct trace_event *events, size_t count);
	/* Once, after the last event that counts; @end_ns is where the pass ended. */
	void (*end)(struct aggregator *self, uint64_t end_ns);
	/* NULL: it wants every event. */
	void (*take_pairs)(struct aggregator *self, const struct event_pairs *pairs,
			   size_t count);
	/* NULL: it doesn't want the events of this slice, but the one that has from_ns, the
	 * one with the highest peak so far and the last that has births are replayed. */
	bool (*wants_events)(struct aggregator *self, const struct slice *slice);
	/* NULL, or it is given the heap by steps (SLICE_STEPS of them, the caller's) before
	 * anything else when slices are used. */
	void (*take_steps)(struct aggregator *self, const struct slice_step *steps);
	uint64_t from_ns;          /* a time that it looks at closely; 0 = none */
};

/* For take_pairs: blocks that were born and freed make no difference. */
void pairs_pass_over(struct aggregator *self, const struct event_pairs *pairs, size_t count);

/* Which events count: blocks of these sizes, threads, and births from from_ns on. */
struct event_filter {
	bool active;
	uint64_t from_ns;
	uint64_t min_size, max_size;
	bool *threads;             /* by thread index; NULL = all */
	size_t thread_count;
	uint8_t *stacks;           /* by stack, 1 = wanted; NULL = all. See filtered_pass.h */
	size_t stack_count;
};

int event_filter_init(struct event_filter *filter, struct trace *trace, const struct query *query,
		      struct error *err);
void event_filter_release(struct event_filter *filter);

/* Whether it looks at nothing that pairs have in different ways. */
static inline bool event_filter_knows_pairs(const struct event_filter *filter)
{
	return !filter || !filter->active ||
	       (!filter->min_size && filter->max_size == UINT64_MAX);
}

/* For aggregator.from_ns. @filter may be NULL. */
static inline uint64_t event_filter_from_ns(const struct event_filter *filter)
{
	return filter ? filter->from_ns : 0;
}

static inline bool event_filter_passes(const struct event_filter *filter,
				       const struct trace_event *e)
{
	bool is_birth = e->kind == TRACE_EVENT_ALLOCATE || e->kind == TRACE_EVENT_MAP;
	uint64_t birth_ns = is_birth ? e->time_ns : e->birth_ns;
	uint32_t thread = is_birth ? e->thread : e->birth_thread;

	return birth_ns >= filter->from_ns && e->size >= filter->min_size &&
	       e->size <= filter->max_size &&
	       (!filter->threads || (thread < filter->thread_count && filter->threads[thread])) &&
	       (!filter->stacks || (e->stack < filter->stack_count && filter->stacks[e->stack]));
}

/* When the whole heap was largest. */
int pass_peak_time(struct trace *trace, uint64_t *time_ns, struct error *err);

/*
 * Replays @trace up to @to (and no more than @events_max events, 0 = no bound)
 * into @aggregators. *@stats may be NULL. MOMENT_PEAK runs a pass of its own to
 * find the peak. Prints progress on a terminal after a second.
 */
int pass_run(struct trace *trace, const struct moment *to, uint64_t events_max,
	     struct aggregator *const *aggregators, size_t count, struct trace_replay_stats *stats,
	     struct error *err);

#endif
