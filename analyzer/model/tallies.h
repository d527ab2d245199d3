/*
 * Per-stack tallies, in one pass: allocated, freed, live, temporary and the
 * composition of the peak. A cell stands for the blocks of one stack (and one
 * thread, scope or size class where the question is by one of these).
 */
#ifndef ANALYZER_MODEL_TALLIES_H
#define ANALYZER_MODEL_TALLIES_H

#include "model/number.h"
#include "model/pass.h"

enum tally_kind { TALLY_HEAP, TALLY_MAPPED, TALLY_KINDS };

/* The second dimension of cells. */
enum tally_dimension { DIMENSION_NONE, DIMENSION_THREAD, DIMENSION_SCOPE, DIMENSION_SIZE };

struct tallies;

struct tallies_cell {
	uint32_t stack;
	uint32_t dimension;        /* index of thread or scope; bits of the size, 0 for 0 */
	enum tally_kind kind;
	struct tally tally;
};

struct tallies_totals {
	struct tally heap, mapped; /* of what passed the filter */
	struct number inherited;   /* freed, but born before recording or before --from */
	struct number unknown;     /* live when recording was stopped */
	uint64_t peak_ns;          /* when the whole heap was largest */
	uint64_t peak_events;      /* events up to and with the one that made the peak */
	struct number peak_whole;  /* the whole heap then, filter or not */
	uint64_t samples;          /* recorded allocations that passed the filter */
	uint64_t sampled;          /* those of them with a rate above 1 */
};

/* @filter is borrowed (may be NULL); both belong to @trace. NULL: no memory. */
struct tallies *tallies_new(struct trace *trace, enum tally_dimension dimension,
			    const struct event_filter *filter);
void tallies_free(struct tallies *tallies);
struct aggregator *tallies_aggregator(struct tallies *tallies);

/* After the pass. */
size_t tallies_count(const struct tallies *tallies);
void tallies_cell(const struct tallies *tallies, size_t index, struct tallies_cell *cell);
void tallies_totals(const struct tallies *tallies, struct tallies_totals *totals);

#endif
