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

	/* Private. */
	const struct trace *trace;
	uint64_t *starts;          /* of the buckets, and the end of the last */
	bool is_on_steps;
	struct slice_step *steps;  /* of the index; NULL = not given */
	size_t first_step, end_step; /* those still to be taken */
	uint64_t steps_from_ns, steps_to_ns; /* what they tell of */
};

/* Buckets of so many steps of the index (slices.h) are moved to the bounds of steps. */
#define TIMELINE_STEPS_LEAST 8

/* @count buckets from @from_ns to @to_ns of @trace. */
void timeline_init(struct timeline *timeline, const struct trace *trace, uint64_t from_ns,
		   uint64_t to_ns, size_t count);
/* After the pass: RSS from the trace's own readings. */
void timeline_add_readings(struct timeline *timeline, const struct trace *trace);
uint64_t timeline_bucket_start(const struct timeline *timeline, size_t index);
void timeline_release(struct timeline *timeline);

#endif
