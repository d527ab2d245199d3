/*
 * Numbers that know their error. In an exact trace a number is a plain sum. In a
 * sampled one an allocation of s bytes is in the trace with probability
 * p = 1 - exp(-s / rate) and stands for 1/p allocations and s/p bytes
 * (Horvitz and Thompson 1952); the variance of such sums is estimated without
 * bias by the sums of (1-p)/p^2 and s^2 (1-p)/p^2. A block of 0 bytes counts as
 * 1 byte for p. See features of "Sampling" in libmemprof(7).
 */
#ifndef ANALYZER_MODEL_NUMBER_H
#define ANALYZER_MODEL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

struct number {
	double count, bytes;
	double count_variance, bytes_variance;
};

enum metric {
	METRIC_ALLOCATED,
	METRIC_FREED,
	METRIC_LIVE,
	METRIC_PEAK,        /* live at the moment when the whole heap was largest */
	METRIC_TEMPORARY,
	METRIC_COUNT
};

/* "allocated", ... in the order of enum metric, NULL-terminated. */
extern const char *const metric_names[METRIC_COUNT + 1];

struct tally {
	struct number of[METRIC_COUNT];
};

/* What one recorded allocation of @size bytes at @rate stands for. */
void number_of_sample(uint64_t size, uint64_t rate, struct number *number);

static inline void number_add(struct number *to, const struct number *n)
{
	to->count += n->count;
	to->bytes += n->bytes;
	to->count_variance += n->count_variance;
	to->bytes_variance += n->bytes_variance;
}

/* Takes away a part that is contained in @from: variances of parts add up. */
static inline void number_remove(struct number *from, const struct number *n)
{
	from->count -= n->count;
	from->bytes -= n->bytes;
	from->count_variance -= n->count_variance;
	from->bytes_variance -= n->bytes_variance;
}

static inline void number_divide(struct number *n, double by)
{
	n->count /= by;
	n->bytes /= by;
	n->count_variance /= by * by;
	n->bytes_variance /= by * by;
}

void tally_add(struct tally *to, const struct tally *tally);

/* One standard error, 0 when exact. */
double number_count_error(const struct number *n);
double number_bytes_error(const struct number *n);

static inline double number_value(const struct number *n, bool by_count)
{
	return by_count ? n->count : n->bytes;
}

static inline double number_error(const struct number *n, bool by_count)
{
	return by_count ? number_count_error(n) : number_bytes_error(n);
}

#endif
