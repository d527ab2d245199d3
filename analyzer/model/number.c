/*
 * See number.h.
 */
#include "model/number.h"

#include <math.h>

const char *const metric_names[METRIC_COUNT + 1] = {
	[METRIC_ALLOCATED] = "allocated", [METRIC_FREED] = "freed", [METRIC_LIVE] = "live",
	[METRIC_PEAK] = "peak",           [METRIC_TEMPORARY] = "temporary",
};

void number_of_sample(uint64_t size, uint64_t rate, struct number *number)
{
	double s = (double)size, p;

	if (rate <= 1) {
		*number = (struct number){ .count = 1, .bytes = s };
		return;
	}
	p = -expm1(-(size ? s : 1.0) / (double)rate);
	number->count = 1 / p;
	number->bytes = s / p;
	number->count_variance = (1 - p) / (p * p);
	number->bytes_variance = s * s * number->count_variance;
}

void tally_add(struct tally *to, const struct tally *tally)
{
	for (int m = 0; m < METRIC_COUNT; m++)
		number_add(&to->of[m], &tally->of[m]);
}

/* Taking sums apart can leave a rest of rounding below zero. */
double number_count_error(const struct number *n)
{
	return n->count_variance > 0 ? sqrt(n->count_variance) : 0;
}

double number_bytes_error(const struct number *n)
{
	return n->bytes_variance > 0 ? sqrt(n->bytes_variance) : 0;
}
