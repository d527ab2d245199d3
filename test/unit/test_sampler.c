/* LINK: library */
/*
 * The sampler against the formulas that its header promises. The simulations
 * have fixed seeds: they pass or fail for good. Limits are five standard errors.
 */
#include "sampler.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RATE 65536

/* As malloc does it: is a block of @size taken? */
static bool take(struct sampler *sampler, uint64_t *countdown, uint64_t size)
{
	if (sampler_passes(countdown, size))
		return false;
	return sampler_take(sampler, sampler_bytes(size), countdown);
}

static void begin(struct sampler *sampler, uint64_t *countdown, uint64_t stream, uint64_t rate)
{
	sampler_init(sampler, 20261130, stream);
	sampler_set_rate(sampler, rate, countdown);
}

static void a_block_is_taken_with_the_probability_of_its_size(void **state)
{
	static const uint64_t sizes[] = { 100, 4096, 30000, RATE, 10 * RATE };
	struct sampler sampler;
	uint64_t countdown;

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		double p = 1 - exp(-(double)sizes[i] / RATE);
		unsigned long trials = 2000000, taken = 0;

		begin(&sampler, &countdown, i, RATE);
		for (unsigned long n = 0; n < trials; n++)
			taken += take(&sampler, &countdown, sizes[i]);
		assert_true(fabs((double)taken - p * (double)trials) <
			    5 * sqrt(p * (1 - p) * (double)trials) + 1);
	}
}

static void estimates_over_mixed_sizes_are_unbiased(void **state)
{
	struct sampler sampler;
	uint64_t countdown, x = 1;
	double bytes = 0, count = 0, bytes_estimate = 0, count_estimate = 0;
	double bytes_variance = 0, count_variance = 0;

	(void)state;
	begin(&sampler, &countdown, 7, RATE);
	for (unsigned long n = 0; n < 3000000; n++) {
		uint64_t size;
		double p;

		x = x * 6364136223846793005ull + 1442695040888963407ull;
		size = (x >> 40) % 100 ? 16 + (x >> 33) % 512 : 8000 + (x >> 33) % 2000000;
		bytes += (double)size;
		count += 1;
		if (!take(&sampler, &countdown, size))
			continue;
		p = 1 - exp(-(double)size / RATE);
		bytes_estimate += (double)size / p;
		count_estimate += 1 / p;
		bytes_variance += (double)size * (double)size * (1 - p) / (p * p);
		count_variance += (1 - p) / (p * p);
	}
	assert_true(fabs(bytes_estimate - bytes) < 5 * sqrt(bytes_variance));
	assert_true(fabs(count_estimate - count) < 5 * sqrt(count_variance));
	/* The errors that we print are worth something: they are small here. */
	assert_true(sqrt(bytes_variance) < 0.01 * bytes);
	assert_true(sqrt(count_variance) < 0.05 * count);
}

static void gaps_are_exponential(void **state)
{
	enum { TRIALS = 1000000 };
	static const double shares[] = { 0.01, 0.1, 0.5, 0.9, 0.99, 0.9999 };
	unsigned long below[6] = { 0 };
	struct sampler sampler;
	double sum = 0, squares = 0, mean;

	(void)state;
	sampler_init(&sampler, 1, 2);
	for (int n = 0; n < TRIALS; n++) {
		uint64_t gap = sampler_gap(&sampler, RATE);

		sum += (double)gap;
		squares += (double)gap * (double)gap;
		for (int i = 0; i < 6; i++)
			below[i] += gap < (uint64_t)(-log(1 - shares[i]) * RATE);
	}
	mean = sum / TRIALS;
	/* Rounded down, the mean is half a byte below the rate. */
	assert_true(fabs(mean - (RATE - 0.5)) < 5 * RATE / sqrt(TRIALS));
	/* The variance of the variance of an exponential is 8 rate^4 / n. */
	assert_true(fabs(squares / TRIALS - mean * mean - (double)RATE * RATE) <
		    5 * sqrt(8.0 / TRIALS) * RATE * RATE);
	for (int i = 0; i < 6; i++)
		assert_true(fabs((double)below[i] - shares[i] * TRIALS) <
			    5 * sqrt(shares[i] * (1 - shares[i]) * TRIALS) + 2);
}

static void a_gap_ends_at_its_byte_however_blocks_lie(void **state)
{
	(void)state;
	for (uint64_t stream = 0; stream < 200; stream++) {
		struct sampler sampler, copy;
		uint64_t countdown, gap, passed = 0, size = 1 + stream * 37 % 5000;

		sampler_init(&sampler, 5, stream);
		copy = sampler;
		gap = sampler_gap(&copy, 10 * RATE);
		sampler_set_rate(&sampler, 10 * RATE, &countdown);
		while (!take(&sampler, &countdown, size))
			passed += size;
		/* The byte number `gap`, counted from 0, lies in the block. */
		assert_true(passed <= gap && gap < passed + size);
	}
}

static void rate_1_takes_every_block(void **state)
{
	struct sampler sampler;
	uint64_t countdown;

	(void)state;
	begin(&sampler, &countdown, 0, 1);
	for (uint64_t size = 0; size < 100000; size++)
		assert_true(take(&sampler, &countdown, size));
	assert_true(take(&sampler, &countdown, SIZE_MAX));
	assert_true(take(&sampler, &countdown, 1));
}

static void a_size_of_0_counts_as_1(void **state)
{
	uint64_t countdown = 3;

	(void)state;
	assert_true(sampler_passes(&countdown, 0));
	assert_int_equal(countdown, 2);
	assert_true(sampler_passes(&countdown, 1));
	assert_true(sampler_passes(&countdown, 0));
	assert_int_equal(countdown, 0);
	assert_false(sampler_passes(&countdown, 0));
	assert_int_equal(countdown, 0);
}

static void a_size_that_does_not_pass_leaves_the_countdown_alone(void **state)
{
	static const uint64_t sizes[] = { 101, 1ull << 63, UINT64_MAX };
	uint64_t countdown = 100;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_false(sampler_passes(&countdown, sizes[i]));
		assert_int_equal(countdown, 100);
	}
	assert_true(sampler_passes(&countdown, 100));
	assert_int_equal(countdown, 0);
}

static void off_takes_nothing_but_comes_by_every_leg(void **state)
{
	struct sampler sampler;
	uint64_t countdown, visits = 0, bytes = 0;

	(void)state;
	begin(&sampler, &countdown, 0, 0);
	while (bytes < 100 * SAMPLER_LEG) {
		if (!sampler_passes(&countdown, 64)) {
			assert_false(sampler_take(&sampler, 64, &countdown));
			visits++;
		}
		bytes += 64;
	}
	assert_in_range(visits, 98, 101);
}

static void equal_seeds_give_equal_gaps_and_streams_differ(void **state)
{
	struct sampler a, b, other;
	int equal = 0;

	(void)state;
	sampler_init(&a, 9, 1);
	sampler_init(&b, 9, 1);
	sampler_init(&other, 9, 2);
	for (int i = 0; i < 1000; i++) {
		uint64_t gap = sampler_gap(&a, 1 << 20);

		assert_int_equal(gap, sampler_gap(&b, 1 << 20));
		equal += gap == sampler_gap(&other, 1 << 20);
	}
	assert_true(equal < 5);
}

static void streams_are_not_correlated(void **state)
{
	enum { TRIALS = 200000 };
	struct sampler a, b;
	double product = 0;

	(void)state;
	sampler_init(&a, 9, 1);
	sampler_init(&b, 9, 2);
	for (int i = 0; i < TRIALS; i++)
		product += ((double)sampler_gap(&a, RATE) / RATE - 1) *
			   ((double)sampler_gap(&b, RATE) / RATE - 1);
	assert_true(fabs(product) < 5 * sqrt(TRIALS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_taken_with_the_probability_of_its_size),
		cmocka_unit_test(estimates_over_mixed_sizes_are_unbiased),
		cmocka_unit_test(gaps_are_exponential),
		cmocka_unit_test(a_gap_ends_at_its_byte_however_blocks_lie),
		cmocka_unit_test(rate_1_takes_every_block),
		cmocka_unit_test(a_size_of_0_counts_as_1),
		cmocka_unit_test(a_size_that_does_not_pass_leaves_the_countdown_alone),
		cmocka_unit_test(off_takes_nothing_but_comes_by_every_leg),
		cmocka_unit_test(equal_seeds_give_equal_gaps_and_streams_differ),
		cmocka_unit_test(streams_are_not_correlated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
