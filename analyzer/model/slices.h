/*
 * A large trace cut into slices of time, kept in its index (trace/index_file.h),
 * so that a pass replays only the slices in which something depends on the exact
 * order of events. Of the others it knows all that matters:
 *
 *	deaths    FREEs of blocks that were born before the slice, one by one
 *	others    mappings, and FREEs of blocks that nobody knows, one by one
 *	births    ALLOCATEs of blocks that are live at its end, one by one
 *	pairs     blocks born and freed within it, summed up where they are alike
 *
 *	                 slice 7             slice 8
 *	A   ------------------| death
 *	B          birth |---------------------------------->
 *	C      |--| |-| |---|      |-| |--|        pairs
 *
 * Slices end where curves.h begins another bucket, or earlier when they have many
 * events. All is exact, so every sum is what a replay gives.
 */
#ifndef ANALYZER_MODEL_SLICES_H
#define ANALYZER_MODEL_SLICES_H

#include "trace/trace.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks that are alike: by stacks, threads, scope, size class of either kind
 * (tallies.h, histogram.h), flags, class of age (histogram.h), and by what curves.h
 * tells apart. */
struct event_pairs {
	struct trace_event death;  /* of the first of them */
	uint64_t count, bytes;
	uint64_t slack;            /* bytes, by glibc's rule */
	bool is_realloc;           /* no pair, but births of this slice, whatever became of
				    * them, that are a step of a realloc; `death` is the
				    * first ALLOCATE of them */
};

struct slice {
	uint64_t first_event, events; /* of trace_replay's events */
	uint64_t before_ns, last_ns;  /* time of the last event before it and of its own */
	double highest_bytes;         /* live heap, the most in it */
	uint64_t births;              /* of any kind */
	struct trace_replay_stats stats; /* before it */
	/* Counts in its block, in this order. */
	uint64_t address_count, death_count, other_count, birth_count, pair_count;
};

/* The heap in steps of time, finer than slices: 128 to a bucket of curves.h. */
#define SLICE_STEPS 16384
struct slice_step {
	double made_count, made_bytes, freed_count, freed_bytes;
	double live_count, live_bytes; /* at its end */
	double highest_bytes;          /* of what its events left live; < 0 = no event */
	double mapped_bytes;           /* at its end */
};

struct slices {
	struct trace *trace;
	const struct index_file *index;
	struct slice *items;
	size_t count;
	struct trace_replay_stats stats; /* of the whole */
};

/* Bytes of a slice's block: what its counts make up. */
size_t slice_content_bytes(const struct slice *slice);

/* What is in a slice; pointers into `block`. */
struct slice_content {
	void *block;
	const uint64_t *addresses;
	const struct trace_event *deaths, *others, *births;
	const struct event_pairs *pairs;
};

/* The slices of @trace. @builds: makes them where there are none yet and the trace
 * is worth it, which costs a replay. false: every event must be replayed. */
bool slices_open(struct trace *trace, bool builds, struct slices *slices);
void slices_close(struct slices *slices);

/* false: damaged (which slices_open would have found, but for bad luck). */
bool slice_content_get(const struct slices *slices, size_t number, struct slice_content *content);
void slice_content_release(struct slice_content *content);
/* SLICE_STEPS of them, for free(); NULL: damaged. */
struct slice_step *slices_steps(const struct slices *slices);

/* Bounds of steps: step k is [k * @unit, (k + 1) * @unit), of the bucket's part. */
uint64_t slice_step_start(const struct trace *trace, size_t step);
size_t slice_step_of(const struct trace *trace, uint64_t time_ns);

#endif
