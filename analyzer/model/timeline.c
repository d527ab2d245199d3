/*
 * See timeline.h.
 */
#include "model/timeline.h"

#include "util/memory.h"

#include <stdlib.h>

void timeline_release(struct timeline *timeline)
{
	free(timeline->buckets);
}

uint64_t timeline_bucket_start(const struct timeline *timeline, size_t index)
{
	double step = (double)(timeline->to_ns - timeline->from_ns) / (double)timeline->count;

	return timeline->from_ns + (uint64_t)(step * (double)index);
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
	size_t index = 0;

	if (time_ns > timeline->from_ns)
		index = (size_t)((double)(time_ns - timeline->from_ns) /
				 (double)(timeline->to_ns - timeline->from_ns) *
				 (double)timeline->count);
	if (index >= timeline->count)
		index = timeline->count - 1;
	while (timeline->at < index)
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

static void timeline_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct timeline *timeline = (struct timeline *)self;

	for (const struct trace_event *e = events; e < events + count; e++) {
		if (e->flags & TRACE_EVENT_INHERITED)
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

void timeline_init(struct timeline *timeline, uint64_t from_ns, uint64_t to_ns, size_t count)
{
	*timeline = (struct timeline){ .aggregator = { timeline_take, timeline_end },
				       .from_ns = from_ns,
				       .to_ns = to_ns > from_ns ? to_ns : from_ns + 1,
				       .count = count };
	timeline->buckets = memory_zeroed(count, sizeof(*timeline->buckets));
}
