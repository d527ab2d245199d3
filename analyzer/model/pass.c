/*
 * See pass.h.
 */
#include "model/pass.h"

#include "util/memory.h"
#include "util/progress.h"

#include <stdlib.h>
#include <string.h>

static int peak_find(struct trace *trace, uint64_t *events, uint64_t *time_ns,
		     struct error *err);

/* ---- filter ---- */

static bool thread_matches(const struct trace_thread *thread, const struct pattern *pattern)
{
	char tid[16];

	snprintf(tid, sizeof(tid), "%u", thread->tid);
	return pattern_matches(pattern, thread->name) || pattern_matches(pattern, tid);
}

int event_filter_init(struct event_filter *filter, struct trace *trace, const struct query *query,
		      struct error *err)
{
	struct moment from;

	*filter = (struct event_filter){ .min_size = query->min_size,
					 .max_size = query->max_size ? query->max_size :
								       UINT64_MAX };
	if (query->from) {
		int status = moment_parse(trace, query->from, &from, err);

		if (status)
			return status;
		if (from.kind == MOMENT_TIME)
			filter->from_ns = from.time_ns + 1;
		else if (from.kind == MOMENT_END)
			filter->from_ns = UINT64_MAX;
		else
			status = peak_find(trace, NULL, &filter->from_ns, err);
		if (status)
			return status;
	}
	if (query->thread.count) {
		filter->thread_count = trace->thread_count;
		filter->threads = memory_zeroed(trace->thread_count, sizeof(bool));
		for (size_t i = 0; i < trace->thread_count; i++)
			filter->threads[i] = thread_matches(&trace->threads[i], &query->thread);
	}
	filter->active = filter->from_ns || query->min_size || query->max_size || filter->threads;
	return 0;
}

void event_filter_release(struct event_filter *filter)
{
	free(filter->threads);
	free(filter->stacks);
	*filter = (struct event_filter){ 0 };
}

/* ---- the pass ---- */

struct pass {
	struct aggregator *const *aggregators;
	size_t count;
	uint64_t to_ns, events_left, last_ns;
	struct progress progress;
};

/* How many of @events lie at or before to_ns; they are in time order. */
static size_t events_until(const struct trace_event *events, size_t count, uint64_t to_ns)
{
	size_t low = 0, high = count;

	if (count && events[count - 1].time_ns <= to_ns)
		return count;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (events[middle].time_ns <= to_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int pass_take(void *context, const struct trace_event *events, size_t count)
{
	struct pass *pass = context;
	size_t wanted = events_until(events, count, pass->to_ns);

	if (wanted > pass->events_left)
		wanted = (size_t)pass->events_left;
	pass->events_left -= wanted;
	for (size_t i = 0; wanted && i < pass->count; i++)
		pass->aggregators[i]->take(pass->aggregators[i], events, wanted);
	if (wanted)
		pass->last_ns = events[wanted - 1].time_ns;
	progress_add(&pass->progress, wanted);
	return wanted < count || !pass->events_left;
}

static int pass_replay(struct trace *trace, struct pass *pass, struct trace_replay_stats *stats,
		       struct error *err)
{
	struct trace_replay_stats own;
	int status;

	progress_begin(&pass->progress, "events");
	status = trace_replay(trace, pass_take, pass, stats ? stats : &own, err);
	progress_end(&pass->progress);
	return status < 0 ? status : 0;
}

/* ---- where the peak is ---- */

struct peak_finder {
	struct aggregator aggregator;
	double live, peak;
	uint64_t seen, at, time_ns;
};

static void peak_finder_take(struct aggregator *self, const struct trace_event *events,
			     size_t count)
{
	struct peak_finder *finder = (struct peak_finder *)self;
	struct number n;

	for (const struct trace_event *e = events; e < events + count; e++) {
		finder->seen++;
		if (e->kind > TRACE_EVENT_FREE || (e->flags & TRACE_EVENT_INHERITED))
			continue;
		number_of_sample(e->size, e->rate, &n);
		finder->live += e->kind == TRACE_EVENT_ALLOCATE ? n.bytes : -n.bytes;
		if (finder->live > finder->peak) {
			finder->peak = finder->live;
			finder->at = finder->seen;
			finder->time_ns = e->time_ns;
		}
	}
}

/* The event that made the peak, as how many there were with it, and as a time. */
static int peak_find(struct trace *trace, uint64_t *events, uint64_t *time_ns,
		     struct error *err)
{
	struct peak_finder finder = { .aggregator.take = peak_finder_take };
	struct aggregator *only = &finder.aggregator;
	struct pass pass = { .aggregators = &only, .count = 1, .to_ns = UINT64_MAX,
			     .events_left = UINT64_MAX };
	int status = pass_replay(trace, &pass, NULL, err);

	if (events)
		*events = finder.at;
	if (time_ns)
		*time_ns = finder.time_ns + 1;
	return status;
}

int pass_run(struct trace *trace, const struct moment *to, uint64_t events_max,
	     struct aggregator *const *aggregators, size_t count, struct trace_replay_stats *stats,
	     struct error *err)
{
	struct pass pass = { .aggregators = aggregators, .count = count, .to_ns = UINT64_MAX,
			     .events_left = events_max ? events_max : UINT64_MAX };
	uint64_t end_ns = trace->info.duration_ns;
	int status = 0;

	if (to->kind == MOMENT_TIME)
		pass.to_ns = end_ns = to->time_ns;
	if (to->kind == MOMENT_PEAK)
		status = peak_find(trace, &pass.events_left, NULL, err);
	if (!status && pass.events_left)
		status = pass_replay(trace, &pass, stats, err);
	if (status)
		return status;
	if (to->kind == MOMENT_PEAK)
		end_ns = pass.last_ns;
	for (size_t i = 0; i < count; i++)
		if (aggregators[i]->end)
			aggregators[i]->end(aggregators[i], end_ns);
	return 0;
}
