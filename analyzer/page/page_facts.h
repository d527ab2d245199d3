/*
 * What the page shows of time: the curve of the heap, what every stack had live
 * at a row of moments, threads; block sizes and lifetimes beside it. One for each
 * trace; several traces share one axis of time.
 */
#ifndef ANALYZER_PAGE_PAGE_FACTS_H
#define ANALYZER_PAGE_PAGE_FACTS_H

#include "model/histogram.h"
#include "model/pass.h"
#include "model/tallies.h"

/* Times of the axis start at 0; moment i is what was live at moments_ns[i]. */
struct page_axis {
	uint64_t length_ns;
	uint64_t *moments_ns;
	size_t moment_count;
};

enum page_column {
	PAGE_LIVE_BYTES,
	PAGE_LIVE_COUNT,
	PAGE_MADE_BYTES,
	PAGE_MADE_COUNT,
	PAGE_COLUMNS
};

/* The heap's curve, in bins of equal length. */
#define PAGE_BINS 2500

struct page_point {
	double heap[PAGE_COLUMNS];
	double mapped_bytes;
};

struct page_bin {
	struct page_point last; /* at its end */
	struct page_point high; /* when the live heap was largest in it */
	uint64_t high_ns;
};

/* From moment `at` on the columns differ by these. */
struct page_change {
	uint32_t at;
	double by[PAGE_COLUMNS];
};

struct page_series {
	uint32_t stack;
	enum tally_kind kind;
	struct page_change *changes;
	size_t change_count;
	double now[PAGE_COLUMNS];  /* at the end */
	double told[PAGE_COLUMNS]; /* by the changes so far */
	double highest;            /* live bytes at any moment */
	bool is_dirty;
};

struct page_thread {
	double made_count, made_bytes, freed_count, live_bytes;
};

struct page_facts {
	struct aggregator aggregator;
	struct trace *trace;
	const struct page_axis *axis;
	uint64_t shift_ns; /* of the trace's start on the axis */
	struct page_bin bins[PAGE_BINS];
	struct page_series *series;
	size_t series_count;
	struct sizes sizes; /* aggregators of their own, to be fed in the same pass */
	struct lifetimes lifetimes;
	struct page_thread *threads;
	size_t thread_count;
	/* private */
	struct page_point now;
	size_t bin, moment;
	uint32_t *series_of[TALLY_KINDS];
	size_t series_of_count[TALLY_KINDS];
	uint32_t *dirty;
	size_t dirty_count;
	size_t next_mark;
	uint64_t known_from_ns, stop_ns;
};

/* @axis is borrowed. */
struct page_facts *page_facts_new(struct trace *trace, const struct page_axis *axis,
				  uint64_t shift_ns);
void page_facts_free(struct page_facts *facts);

/* Index of the series of a stack, or UINT32_MAX. */
uint32_t page_facts_series(const struct page_facts *facts, enum tally_kind kind, uint32_t stack);

/* The axis of one or several traces: moments evenly over the time, and one at
 * each mark, up to @end_ns of each trace. */
void page_axis_init(struct page_axis *axis, struct trace *const *traces, const uint64_t *shifts_ns,
		    const uint64_t *ends_ns, size_t count);
void page_axis_release(struct page_axis *axis);

#endif
