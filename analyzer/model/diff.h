/*
 * What grew and what shrank between two profiles. How sites are matched is in
 * site_match.h, what errors rest on in difference.h.
 */
#ifndef ANALYZER_MODEL_DIFF_H
#define ANALYZER_MODEL_DIFF_H

#include "model/difference.h"

enum diff_status { DIFF_NEW, DIFF_GROWN, DIFF_SHRUNK, DIFF_GONE, DIFF_SAME };
extern const char *const diff_status_names[];

struct diff_row {
	const struct profile_site *baseline, *later; /* one may be NULL */
	enum diff_status status;
	struct number before, after, delta;
	double p;                  /* of the delta, by noise alone */
	bool is_significant;       /* more than sampling noise; exact: it differs */
	bool is_moved;             /* matched by less than its full names */
};

struct diff {
	struct profile *baseline, *later;
	struct diff_row *rows;     /* in the order of growth, largest first */
	size_t count;
	struct number before[TALLY_KINDS], after[TALLY_KINDS], delta[TALLY_KINDS];
	bool exact;
	bool one_trace;            /* two moments of the same trace */
	bool by_count;
	double divisors[2];        /* what the figures were divided by */
	const struct trace_marker *gap; /* difference_gap */
};

/* Both sets and the query must outlive the diff. Rows that have nothing on both
 * sides are left out. @level: false discovery rate for `is_significant`. */
int diff_build(struct trace_set *baseline, struct trace_set *later, const struct query *query,
	       const struct normalize *normalize, double level, struct diff *diff,
	       struct error *err);
void diff_release(struct diff *diff);

#endif
