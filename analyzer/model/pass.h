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

struct aggregator {
	/* @events in time order; must not keep the pointer. */
	void (*take)(struct aggregator *self, const struct trace_event *events, size_t count);
	/* Once, after the last event that counts; @end_ns is where the pass ended. */
	void (*end)(struct aggregator *self, uint64_t end_ns);
};

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

/*
 * Replays @trace up to @to (and no more than @events_max events, 0 = no bound)
 * into @aggregators. *@stats may be NULL. MOMENT_PEAK runs a pass of its own to
 * find the peak. Prints progress on a terminal after a second.
 */
int pass_run(struct trace *trace, const struct moment *to, uint64_t events_max,
	     struct aggregator *const *aggregators, size_t count, struct trace_replay_stats *stats,
	     struct error *err);

#endif
