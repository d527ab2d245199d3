/*
 * What grew and what shrank between two profiles. Sites are matched by their
 * names and places, never by addresses. Lines may have moved between two builds:
 * where the module is not the same build, the sites of one function are paired
 * in the order of their lines.
 *
 * Errors: two runs are independent, variances add up. Two moments of one trace
 * share all blocks that are live in both, and these cancel out exactly; what is
 * uncertain is what was born or freed between (`between`).
 */
#ifndef ANALYZER_MODEL_DIFF_H
#define ANALYZER_MODEL_DIFF_H

#include "model/profile.h"

enum diff_status { DIFF_NEW, DIFF_GROWN, DIFF_SHRUNK, DIFF_GONE, DIFF_SAME };
extern const char *const diff_status_names[];

struct diff_row {
	const struct profile_site *baseline, *later; /* one may be NULL */
	enum diff_status status;
	struct number before, after, delta;
	bool is_significant;       /* more than sampling noise; exact: it differs */
};

struct diff {
	struct profile *baseline, *later;
	struct diff_row *rows;     /* in the order of growth, largest first */
	size_t count;
	struct number before[TALLY_KINDS], after[TALLY_KINDS], delta[TALLY_KINDS];
	bool exact;
	bool one_trace;            /* two moments of the same trace */
};

/* Both sets and the query must outlive the diff. Rows that have nothing on both
 * sides are left out. @level: false discovery rate for `is_significant`. */
int diff_build(struct trace_set *baseline, struct trace_set *later, const struct query *query,
	       double level, struct diff *diff, struct error *err);
void diff_release(struct diff *diff);

#endif
