/*
 * The heap over time, in buckets of equal length: what was live, and what was
 * allocated and freed in each.
 */
#ifndef ANALYZER_MODEL_TIMELINE_H
#define ANALYZER_MODEL_TIMELINE_H

#include "model/number.h"
#include "model/pass.h"

struct timeline_bucket {
	struct number live;        /* heap, at the end of the bucket */
	double highest_bytes;      /* the most that was live in it */
	struct number made, freed; /* heap, in the bucket */
	double mapped_bytes;       /* by the program itself, at its end */
	double resident_bytes;     /* RSS, the last reading up to its end; -1 = none yet */
};

struct timeline {
	struct aggregator aggregator;
	uint64_t from_ns, to_ns;
	struct timeline_bucket *buckets;
	size_t count;
	size_t at;                 /* bucket of the last event */
	struct number live;
	double mapped_bytes;
};

/* @count buckets from @from_ns to @to_ns. */
void timeline_init(struct timeline *timeline, uint64_t from_ns, uint64_t to_ns, size_t count);
/* After the pass: RSS from the trace's own readings. */
void timeline_add_readings(struct timeline *timeline, const struct trace *trace);
uint64_t timeline_bucket_start(const struct timeline *timeline, size_t index);
void timeline_release(struct timeline *timeline);

#endif
