/*
 * How the blocks of each stack came and went: live bytes over time, how old
 * blocks were when they were freed, and when those that stayed were born. An
 * aggregator; what verdicts and charts of sites are made of.
 *
 * The run ends with its last allocation: what is only freed after it (exit
 * handlers, static destructors, a clean-up at the end of main) leaves the curve
 * as it was, and is counted apart as given back at the end.
 *
 * Memory: a curve only for stacks whose blocks outlive a bucket.
 */
#ifndef ANALYZER_MODEL_CURVES_H
#define ANALYZER_MODEL_CURVES_H

#include "model/pass.h"
#include "model/tallies.h"

#define CURVE_BUCKETS 128

/* When blocks that stayed were born, as shares of the run. */
enum birth_window {
	BORN_FIRST_TENTH,  /* 0 to 1/10 */
	BORN_EARLY,        /* 1/10 to 1/4 */
	BORN_MIDDLE,       /* 1/4 to 5/8 */
	BORN_LATE,         /* 5/8 to 3/4: the youngest that are old at the end */
	BORN_YOUNG,        /* the last quarter: too young to say anything of them */
	BORN_WINDOWS
};

/* Bounds of the windows, in 1/40 of the run: BORN_x is [birth_bounds[x], birth_bounds[x+1]). */
extern const unsigned birth_bounds[BORN_WINDOWS + 1];

/* The sums of one stack, or of several together (curve_add). Weighted. */
struct curve {
	double live[CURVE_BUCKETS];     /* bytes, at the end of each bucket of the run; without
					 * young temporary blocks */
	double allocated_count, allocated_bytes;
	double freed_count;             /* in the run */
	double freed_young_count;       /* younger than 1/20 of the run */
	double freed_old_bytes;         /* at an age of 1/4 of the run or more */
	double freed_old_count;
	double early_bytes;             /* allocated in the first tenth */
	double stayed_bytes[BORN_WINDOWS]; /* live at the end of the run, by birth */
	double stayed_count[BORN_WINDOWS];
	double given_back_bytes;        /* of those: freed after the run's end */
	double samples;                 /* recorded allocations */
	bool sampled;                   /* some of them stand for more than themselves */
};

struct curves;

/* For @trace; times are taken as shares of its duration. @filter as for tallies
 * (may be NULL). NULL: out of memory. */
struct curves *curves_new(struct trace *trace, const struct event_filter *filter);
void curves_free(struct curves *curves);
struct aggregator *curves_aggregator(struct curves *curves);

/* After the pass: adds what is known of a stack to @curve (zero it first). */
void curves_add(const struct curves *curves, uint32_t stack, enum tally_kind kind,
		struct curve *curve);
/* The same for everything of a kind. */
void curves_add_all(const struct curves *curves, enum tally_kind kind, struct curve *curve);

#endif
