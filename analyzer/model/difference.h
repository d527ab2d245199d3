/*
 * What a difference of two profiles rests on, shared by diffs and series: by
 * what figures are divided so that runs of different length compare, and which
 * blocks its error comes from.
 *
 *	two runs                     all blocks of both: variances add up
 *	live, two moments of one     the blocks born or freed between (between.h)
 *	allocated, freed, temporary  those counted between: the earlier figure is
 *	  at two moments of one      contained in the later one
 *
 * Figures divided by different numbers don't cancel out: variances add up.
 */
#ifndef ANALYZER_MODEL_DIFFERENCE_H
#define ANALYZER_MODEL_DIFFERENCE_H

#include "model/between.h"

enum normalize_kind { NORMALIZE_NOT, NORMALIZE_EVENTS, NORMALIZE_TIME, NORMALIZE_MARK };

struct normalize {
	enum normalize_kind kind;
	const char *mark;          /* NORMALIZE_MARK: the event's name */
};

/* "events", "time", or the name of a mark. */
struct normalize normalize_parse(const char *text);
/* "a million allocations", "second", the mark's name. */
const char *normalize_unit(const struct normalize *normalize);
/* By what the figures of @profile are divided, in that unit; 1 for NORMALIZE_NOT.
 * ERROR_USAGE where there was none of it. */
int normalize_divisor(const struct normalize *normalize, struct profile *profile,
		      double *divisor, struct error *err);

/* One end of a difference. */
struct difference_end {
	struct trace_set *set;
	struct profile *profile;
	double divisor;
};

struct difference {
	enum metric metric;
	bool one_trace;            /* two moments of the same trace */
	bool is_swapped;           /* and the first is the later one */
	bool is_scaled;            /* some divisor is not 1 */
	struct between *between;   /* NULL: not needed */
};

/* Fills divisors, and @difference for what lies between @first and @last of
 * @count ends, whose profiles are built. May build the last one anew. */
int difference_init(struct difference *difference, struct difference_end *ends, size_t count,
		    const struct normalize *normalize, const struct query *query,
		    struct error *err);
void difference_release(struct difference *difference);

/*
 * The first stop or start of recording that a difference of @count ends goes
 * across, NULL when there is none: blocks live at it are unknown since, so that
 * what is still there may look shrunk or gone. Of one trace it lies between the
 * moments, of several anywhere up to them.
 */
const struct trace_marker *difference_gap(const struct difference_end *ends, size_t count);

/*
 * The difference @after - @before of a site, figures already divided. @uncertain:
 * the blocks whose variances make up its error, as if all had the same sign.
 */
void difference_of(const struct difference *difference, const struct profile_site *before_site,
		   const struct profile_site *after_site, const struct number *before,
		   const struct number *after, struct number *delta, struct number *uncertain);

/* Whether it is more than noise may explain, as a p-value (significance.h). */
double difference_p(const struct number *delta, const struct number *uncertain, bool by_count);

#endif
