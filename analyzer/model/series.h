/*
 * Three or more moments or traces side by side: how each site went on. The
 * difference that counts is that of the last against the first; what came
 * between says whether a growth goes on or flattens.
 */
#ifndef ANALYZER_MODEL_SERIES_H
#define ANALYZER_MODEL_SERIES_H

#include "model/difference.h"

enum series_trend {
	SERIES_RISES,      /* more at the end, and the last step still has a share in it */
	SERIES_FLATTENS,   /* more at the end, but the last step was below SERIES_FLAT */
	SERIES_FALLS,      /* less at the end */
	SERIES_STEADY,     /* no difference, or none that noise would not explain */
};
extern const char *const series_trend_names[];

/* A growth flattens when the last step was slower than this share of the mean. */
#define SERIES_FLAT 0.25

struct series_row {
	const struct profile_site *site; /* at the last moment that has it */
	struct profile *profile;         /* of that moment */
	const struct profile_site **sites; /* by moment; NULL = nothing there */
	struct number *values;           /* by moment */
	struct number delta;             /* last - first */
	double p;
	bool is_significant;
	bool is_moved;
	enum series_trend trend;
};

struct series {
	struct difference_end *ends;     /* the moments; ends[0].profile etc. */
	size_t count;
	struct series_row *rows;         /* largest growth first */
	size_t row_count;
	struct series_row totals[TALLY_KINDS]; /* site, profile, sites NULL */
	bool exact, complete;
	bool one_trace;
	bool by_count;
	const struct trace_marker *gap;  /* difference_gap */
	double *places;                  /* where the moments lie in time, or 0, 1, 2... */
};

/* @sets and the query must outlive the series. @count >= 2. */
int series_build(struct trace_set *sets, size_t count, const struct query *query,
		 const struct normalize *normalize, double level, struct series *series,
		 struct error *err);
void series_release(struct series *series);

#endif
