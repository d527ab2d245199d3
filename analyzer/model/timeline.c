/*
 * See timeline.h.
 */
#include "model/timeline.h"

#include "model/slices.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

void timeline_release(struct timeline *timeline)
{
	free(timeline->buckets);
	free(timeline->starts);
	free(timeline->steps);
}

uint64_t timeline_bucket_start(const struct timeline *timeline, size_t index)
{
	return timeline->starts[index];
}

static void begin_bucket(struct timeline *timeline, size_t index)
{
	struct timeline_bucket *bucket = &timeline->buckets[index];

	bucket->live = timeline->live;
	bucket->highest_bytes = timeline->live.bytes;
	bucket->mapped_bytes = timeline->mapped_bytes;
}

/* Buckets without an event have what the one before them ended with. */
static void advance(struct timeline *timeline, uint64_t time_ns)
{
	while (timeline->at + 1 < timeline->count && time_ns >= timeline->starts[timeline->at + 1])
		begin_bucket(timeline, ++timeline->at);
}

static void take_heap(struct timeline *timeline, const struct trace_event *e, bool is_in_window)
{
	struct timeline_bucket *bucket = &timeline->buckets[timeline->at];
	struct number n;

	number_of_sample(e->size, e->rate, &n);
	if (e->kind == TRACE_EVENT_ALLOCATE) {
		number_add(&timeline->live, &n);
		if (is_in_window)
			number_add(&bucket->made, &n);
	} else {
		number_remove(&timeline->live, &n);
		if (is_in_window)
			number_add(&bucket->freed, &n);
	}
	bucket->live = timeline->live;
	if (timeline->live.bytes > bucket->highest_bytes || !is_in_window)
		bucket->highest_bytes = timeline->live.bytes;
}

/* ---- by steps ---- */

static void take_step(struct timeline *timeline, const struct slice_step *step)
{
	struct timeline_bucket *bucket = &timeline->buckets[timeline->at];

	bucket->made.count += step->made_count;
	bucket->made.bytes += step->made_bytes;
	bucket->freed.count += step->freed_count;
	bucket->freed.bytes += step->freed_bytes;
	if (step->highest_bytes > bucket->highest_bytes)
		bucket->highest_bytes = step->highest_bytes;
	timeline->live.count = step->live_count;
	timeline->live.bytes = step->live_bytes;
	bucket->live = timeline->live;
	timeline->mapped_bytes = bucket->mapped_bytes = step->mapped_bytes;
}

static void apply_steps(struct timeline *timeline)
{
	for (size_t i = timeline->first_step; i < timeline->end_step; i++) {
		advance(timeline, slice_step_start(timeline->trace, i));
		take_step(timeline, &timeline->steps[i]);
	}
	timeline->first_step = timeline->end_step;
}

/* Which steps lie in the window as a whole. */
static void timeline_take_steps(struct aggregator *self, const struct slice_step *steps)
{
	struct timeline *timeline = (struct timeline *)self;
	const struct trace *trace = timeline->trace;
	size_t first = slice_step_of(trace, timeline->from_ns), end = SLICE_STEPS;

	if (!timeline->is_on_steps)
		return;
	if (slice_step_start(trace, first) < timeline->from_ns)
		first++;
	if (timeline->to_ns < trace->info.duration_ns)
		end = slice_step_of(trace, timeline->to_ns + 1);
	if (first >= end)
		return;
	timeline->first_step = first;
	timeline->end_step = end;
	timeline->steps_from_ns = slice_step_start(trace, first);
	timeline->steps_to_ns = end < SLICE_STEPS ? slice_step_start(trace, end) : UINT64_MAX;
	timeline->steps = memory_zeroed(SLICE_STEPS, sizeof(*timeline->steps));
	memcpy(timeline->steps, steps, SLICE_STEPS * sizeof(*timeline->steps));
}

/* Of the window what no step has as a whole. */
static bool timeline_wants(struct aggregator *self, const struct slice *slice)
{
	const struct timeline *timeline = (const struct timeline *)self;

	if (slice->last_ns < timeline->from_ns)
		return false;
	return !timeline->steps ||
	       (slice->before_ns < timeline->steps_from_ns &&
		timeline->from_ns < timeline->steps_from_ns) ||
	       slice->last_ns >= timeline->steps_to_ns;
}

/* ---- event by event ---- */

/* Whether the steps have told of an event at @time_ns. */
static inline bool is_told(struct timeline *timeline, uint64_t time_ns)
{
	if (!timeline->steps || time_ns < timeline->steps_from_ns)
		return false;
	if (time_ns < timeline->steps_to_ns)
		return true;
	apply_steps(timeline);
	return false;
}

static void timeline_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct timeline *timeline = (struct timeline *)self;

	for (const struct trace_event *e = events; e < events + count; e++) {
		if (e->flags & TRACE_EVENT_INHERITED)
			continue;
		if (is_told(timeline, e->time_ns))
			continue;
		advance(timeline, e->time_ns);
		if (e->kind <= TRACE_EVENT_FREE) {
			take_heap(timeline, e, e->time_ns >= timeline->from_ns);
			continue;
		}
		timeline->mapped_bytes += e->kind == TRACE_EVENT_MAP ? (double)e->size :
								       -(double)e->size;
		timeline->buckets[timeline->at].mapped_bytes = timeline->mapped_bytes;
	}
}

static void timeline_end(struct aggregator *self, uint64_t end_ns)
{
	struct timeline *timeline = (struct timeline *)self;

	(void)end_ns;
	apply_steps(timeline);
	while (timeline->at + 1 < timeline->count)
		begin_bucket(timeline, ++timeline->at);
}

void timeline_add_readings(struct timeline *timeline, const struct trace *trace)
{
	size_t next = 0;
	double resident = -1;

	for (size_t i = 0; i < timeline->count; i++) {
		uint64_t end = timeline_bucket_start(timeline, i + 1);

		for (; next < trace->reading_count && trace->readings[next].time_ns <= end; next++)
			resident = (double)trace->readings[next].resident;
		timeline->buckets[i].resident_bytes = resident;
	}
}

/* Wide buckets begin and end where steps of the trace's index do, so that they are
 * the same with and without it. */
static void find_starts(struct timeline *timeline)
{
	const struct trace *trace = timeline->trace;
	double width = (double)(timeline->to_ns - timeline->from_ns) / (double)timeline->count;

	timeline->is_on_steps = width >= TIMELINE_STEPS_LEAST *
					      (double)(slice_step_start(trace, 1));
	timeline->starts = memory_zeroed(timeline->count + 1, sizeof(*timeline->starts));
	for (size_t i = 0; i <= timeline->count; i++) {
		uint64_t start = timeline->from_ns + (uint64_t)(width * (double)i);

		if (timeline->is_on_steps && i && i < timeline->count)
			start = slice_step_start(trace, slice_step_of(trace, start));
		timeline->starts[i] = start;
	}
	timeline->starts[timeline->count] = timeline->to_ns;
}

void timeline_init(struct timeline *timeline, const struct trace *trace, uint64_t from_ns,
		   uint64_t to_ns, size_t count)
{
	*timeline = (struct timeline){ .aggregator = { .take = timeline_take, .end = timeline_end,
						       .take_pairs = pairs_pass_over,
						       .wants_events = timeline_wants,
						       .take_steps = timeline_take_steps },
				       .trace = trace,
				       .from_ns = from_ns,
				       .to_ns = to_ns > from_ns ? to_ns : from_ns + 1,
				       .count = count };
	timeline->buckets = memory_zeroed(count, sizeof(*timeline->buckets));
	find_starts(timeline);
}
