/*
 * Allocations that were not kept, by stack: temporary ones (freed by the same
 * thread before its next allocation), those that lived less than a given time,
 * and those that are a step of a realloc.
 */
#ifndef ANALYZER_MODEL_CHURN_H
#define ANALYZER_MODEL_CHURN_H

#include "model/number.h"
#include "model/pass.h"
#include "model/profile.h"

struct churn_sums {
	struct number calls;
	struct number short_lived;     /* freed younger than the limit, or temporary */
	struct number temporary;
	struct number reallocated;     /* made by a realloc that found a block there */
};

struct churn {
	struct aggregator aggregator;
	uint64_t age_ns;               /* the limit */
	const struct event_filter *filter; /* may be NULL */
	struct churn_sums *sums;
	size_t count;
	uint32_t *by_stack;            /* index + 1 */
	size_t stack_count;
};

void churn_init(struct churn *churn, uint64_t age_ns, const struct event_filter *filter);
void churn_release(struct churn *churn);
/* Adds what is known of the heap blocks of @stack. */
void churn_add(const struct churn *churn, uint32_t stack, struct churn_sums *sums);
void churn_sums_add(struct churn_sums *to, const struct churn_sums *sums);

#endif
