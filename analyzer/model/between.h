/*
 * What is uncertain in the difference between two moments of one sampled trace.
 * Blocks that are live at both cancel out exactly, sampled or not; so do those
 * born and freed between, which neither moment sees. What is left are blocks
 * born between and live at the later moment, and blocks live at the earlier one
 * and freed between. An aggregator for the pass up to the later moment.
 */
#ifndef ANALYZER_MODEL_BETWEEN_H
#define ANALYZER_MODEL_BETWEEN_H

#include "model/pass.h"
#include "model/profile.h"

struct between;

/* Blocks are those that @query wants. On success the caller's, for between_free. */
int between_new(struct trace *trace, const struct query *query, uint64_t earlier_ns,
		struct between **between, struct error *err);
void between_free(struct between *between);
struct aggregator *between_aggregator(struct between *between);

/* After the pass: adds to @sum what the blocks of @site that were born or freed
 * between stand for, as if all had the same sign, and their variances. @site is
 * of a profile made in that pass, of this trace alone. Exact blocks: nothing. */
void between_add(const struct between *between, const struct profile_site *site,
		 struct number *sum);

#endif
