/*
 * See significance.h.
 */
#include "model/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double significance_p(double difference, double error, double step)
{
	double size = fabs(difference) - (step > 0 ? step : 0);

	if (error <= 0)
		return difference != 0 ? 0 : 1;
	return size > 0 ? erfc(size / error / sqrt(2)) : 1;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The largest p(k), in rising order, with p(k) <= k / count * level. */
static double threshold(double *sorted, size_t count, double level)
{
	size_t k = count;

	qsort(sorted, count, sizeof(*sorted), ascending);
	while (k && sorted[k - 1] > level * (double)k / (double)count)
		k--;
	return k ? sorted[k - 1] : -1;
}

size_t significance_mark(const double *p, size_t count, double level, bool *marks)
{
	double *sorted = malloc((count + 1) * sizeof(*sorted)), most = -1;
	size_t marked = 0, i;

	if (sorted && count) {
		memcpy(sorted, p, count * sizeof(*sorted));
		most = threshold(sorted, count, level);
	}
	for (i = 0; i < count; i++)
		marked += marks[i] = p[i] <= most;
	free(sorted);
	return marked;
}
