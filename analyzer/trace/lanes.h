/*
 * All lanes as one stream: decodes each lane piece by piece and merges them by
 * time. A lane takes memory only between its first event and its last.
 */
#ifndef ANALYZER_TRACE_LANES_H
#define ANALYZER_TRACE_LANES_H

#include "trace/decoder.h"

struct lane;

struct lanes {
	struct reader *reader;
	struct lane **active;  /* a heap by the time of the next event */
	size_t active_count;
	uint32_t *waiting;     /* rows that haven't begun, the earliest last */
	size_t waiting_count;
	uint64_t skip_until;   /* units: events up to here are passed over; 0 = none */
	bool is_single;        /* one lane has all the events */
	struct raw_event *merged;
	struct lane *spent;    /* has given its batch: to be filled before going on */
	/* Sums over the lanes that are done. */
	uint64_t stack_checks, stack_mismatches, totals_mismatches;
};

#define LANES_BATCH 1024

/* @skip_until: what lanes.skip_until says. The events are in the order of time. */
void lanes_init(struct lanes *lanes, struct reader *reader, uint64_t skip_until);
void lanes_release(struct lanes *lanes);

/* The next events of all, in the order of time, with the RAW_MAP ones' address
 * turned into a pointer to their struct raw_map. 0: the end. What it returns is
 * good until the next call. */
size_t lanes_next(struct lanes *lanes, const struct raw_event **events);

#endif
