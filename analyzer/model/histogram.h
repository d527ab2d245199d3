/*
 * How long blocks live, and how large they are: sums by class over all events of
 * a pass.
 */
#ifndef ANALYZER_MODEL_HISTOGRAM_H
#define ANALYZER_MODEL_HISTOGRAM_H

#include "model/number.h"
#include "model/pass.h"

/* Ages: below 1 us, 10 us, ... 1000 s, and above. */
#define AGE_CLASSES 11
extern const uint64_t age_class_limits_ns[AGE_CLASSES]; /* upper bounds; the last UINT64_MAX */

/* Sizes: 0, 1-8, 9-16, 17-32, ... above 1 GiB. */
#define SIZE_CLASSES 30
extern const uint64_t size_class_limits[SIZE_CLASSES];  /* largest size of the class */

unsigned age_class_of(uint64_t age_ns);
unsigned size_class_of(uint64_t size);

/* What glibc's malloc gives for @size bytes; other allocators differ. */
uint64_t glibc_usable_bytes(uint64_t size);

struct lifetimes {
	struct aggregator aggregator;
	struct number freed[AGE_CLASSES];      /* by age when freed */
	struct number living[AGE_CLASSES];     /* by age at the end */
	/* Blocks that live are known at the end only: births by time, in 4096 steps. */
	struct number *births;
	uint64_t step_ns;
	uint64_t duration_ns;
};
void lifetimes_init(struct lifetimes *lifetimes, uint64_t duration_ns);
void lifetimes_release(struct lifetimes *lifetimes);

struct size_sums {
	struct number made, live, temporary;
	double live_slack, made_slack;         /* usable - requested, by glibc's rule */
};
struct sizes {
	struct aggregator aggregator;
	struct size_sums classes[SIZE_CLASSES];
};
void sizes_init(struct sizes *sizes);

#endif
