/* LINK: analyzer */
/*
 * Verdicts on made-up curves: each label for the shapes it stands for, and not
 * for those that look alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "model/verdict.h"

#define BLOCK 100.0

/* A site made of blocks: each is one call, times are shares of the run; a death
 * above 1 is none, at 1 it is given back at the end. */
static void block(struct curve *curve, double birth, double death)
{
	static const double ends[] = { 0.1, 0.25, 0.625, 0.75, 1.01 };
	unsigned i, window = 0;
	bool stays = death >= 1;

	curve->samples++;
	curve->allocated_count++;
	curve->allocated_bytes += BLOCK;
	curve->early_bytes += birth < 0.1 ? BLOCK : 0;
	for (i = (unsigned)(birth * CURVE_BUCKETS);
	     i < CURVE_BUCKETS && (stays || i < death * CURVE_BUCKETS - 1); i++)
		curve->live[i] += BLOCK;
	while (birth >= ends[window])
		window++;
	if (stays) {
		curve->stayed_bytes[window] += BLOCK;
		curve->stayed_count[window]++;
		curve->given_back_bytes += death == 1 ? BLOCK : 0;
		return;
	}
	curve->freed_count++;
	curve->freed_young_count += death - birth < 0.05;
	if (death - birth >= 0.25) {
		curve->freed_old_count++;
		curve->freed_old_bytes += BLOCK;
	}
}

#define EACH(t, count) for (double t = 0.5 / (count); t < 1; t += 1.0 / (count))

static void blocks_made_at_start_and_kept_are_one_time(void **state)
{
	struct curve kept = { 0 }, given_back = { 0 };

	(void)state;
	EACH(t, 50) {
		block(&kept, t * 0.09, 2);
		block(&given_back, t * 0.09, 1);
	}
	assert_int_equal(verdict_of_site(&kept), VERDICT_ONE_TIME);
	assert_int_equal(verdict_of_site(&given_back), VERDICT_ONE_TIME);
}

static void blocks_never_freed_are_a_leak_also_among_many_that_are(void **state)
{
	struct curve plain = { 0 }, uneven = { 0 }, one_in_hundred = { 0 }, stairs = { 0 };
	unsigned n = 0;

	(void)state;
	EACH(t, 100)
		block(&plain, t, 2);
	EACH(t, 300) /* as on a machine that was busy in between */
		block(&uneven, t < 0.5 ? t * 0.3 : t < 0.8 ? t * 0.9 : t * 0.98 + 0.01, 2);
	EACH(t, 10000)
		block(&one_in_hundred, t, n++ % 100 ? t + 0.001 : 2);
	EACH(t, 400)
		block(&stairs, floor(t * 12) / 12, 2);
	assert_int_equal(verdict_of_site(&plain), VERDICT_LEAK);
	assert_int_equal(verdict_of_site(&uneven), VERDICT_LEAK);
	assert_int_equal(verdict_of_site(&one_in_hundred), VERDICT_LEAK);
	assert_int_equal(verdict_of_site(&stairs), VERDICT_LEAK);
}

static void what_is_given_back_at_the_end_grows_but_does_not_leak(void **state)
{
	struct curve curve = { 0 };

	(void)state;
	EACH(t, 100)
		block(&curve, t, 1);
	assert_int_equal(verdict_of_site(&curve), VERDICT_GROWING);
}

static void a_rise_whose_old_blocks_are_freed_too_is_growing(void **state)
{
	struct curve curve = { 0 };
	unsigned n = 0;

	(void)state;
	EACH(t, 400)
		block(&curve, t, n++ % 4 ? 2 : t + 0.3);
	assert_int_equal(verdict_of_site(&curve), VERDICT_GROWING);
}

static void a_table_that_doubles_is_growing_until_it_stands_long(void **state)
{
	struct curve doubling = { 0 }, settled = { 0 };
	unsigned i;

	(void)state;
	for (i = 0; i < CURVE_BUCKETS; i++) {
		double t = (double)i / CURVE_BUCKETS;

		doubling.live[i] = exp2(floor(log2(t / 0.82 * 64 + 0.01)));
		settled.live[i] = exp2(floor(log2(fmin(t, 0.3) / 0.3 * 64 + 0.01)));
	}
	doubling.stayed_bytes[BORN_LATE] = 64;
	doubling.stayed_count[BORN_LATE] = 1;
	doubling.allocated_bytes = settled.allocated_bytes = 128;
	doubling.allocated_count = settled.allocated_count = 8;
	assert_int_equal(verdict_of_site(&doubling), VERDICT_GROWING);
	assert_int_equal(verdict_of_site(&settled), VERDICT_PLATEAU);
}

static void a_cache_that_is_full_is_a_plateau_whatever_it_replaces(void **state)
{
	struct curve replaced = { 0 }, lost_early = { 0 }, two_steps = { 0 };

	(void)state;
	EACH(t, 500) {
		block(&replaced, t, t + 0.3);
		if (t < 0.45)
			block(&lost_early, t, 2);
		if (t < 0.15 || (t > 0.5 && t < 0.65))
			block(&two_steps, t, 2);
	}
	assert_int_equal(verdict_of_site(&replaced), VERDICT_PLATEAU);
	assert_int_equal(verdict_of_site(&lost_early), VERDICT_PLATEAU);
	assert_int_equal(verdict_of_site(&two_steps), VERDICT_PLATEAU);
}

static void short_spikes_that_happen_to_be_higher_late_are_no_growth(void **state)
{
	struct curve curve = { 0 };
	unsigned i;

	(void)state;
	EACH(t, 3000)
		block(&curve, t, t + 0.001);
	for (i = 0; i < CURVE_BUCKETS; i += 3)
		curve.live[i] = i > 90 ? 1300 : 1000;
	assert_false(curve_rises(&curve));
	assert_int_equal(verdict_of_site(&curve), VERDICT_CHURN);
}

static void a_sawtooth_is_a_plateau_wherever_the_run_ends(void **state)
{
	unsigned end;

	(void)state;
	for (end = 0; end < 10; end++) {
		struct curve curve = { 0 };
		double period = 1 / (6 + end / 10.0);

		EACH(t, 3000)
			block(&curve, t, fmin((floor(t / period) + 1) * period, 2));
		assert_int_equal(verdict_of_site(&curve), VERDICT_PLATEAU);
	}
}

static void short_lives_and_many_of_them_are_churn(void **state)
{
	struct curve churn = { 0 }, few = { 0 };

	(void)state;
	EACH(t, 2000)
		block(&churn, t, t + 0.02);
	EACH(t, 8)
		block(&few, t, t + 0.12);
	assert_int_equal(verdict_of_site(&churn), VERDICT_CHURN);
	assert_int_not_equal(verdict_of_site(&few), VERDICT_CHURN);
}

static void too_few_samples_are_not_judged(void **state)
{
	struct curve curve = { 0 };

	(void)state;
	EACH(t, 20)
		block(&curve, t, 2);
	assert_int_equal(verdict_of_site(&curve), VERDICT_LEAK);
	curve.sampled = true;
	assert_int_equal(verdict_of_site(&curve), VERDICT_UNKNOWN);
}

static void the_program_is_what_its_rise_is_made_of(void **state)
{
	struct curve leak = { 0 }, grow = { 0 }, churn = { 0 }, none = { 0 };

	(void)state;
	EACH(t, 100) {
		block(&leak, t, 2);
		block(&grow, t, 1);
	}
	EACH(t, 50000)
		block(&churn, t, t + 0.0089);
	assert_int_equal(verdict_of_program(&leak, &leak, &none), PROGRAM_RETENTION);
	assert_int_equal(verdict_of_program(&grow, &none, &grow), PROGRAM_GROWTH);
	assert_int_equal(verdict_of_program(&churn, &none, &none), PROGRAM_CHURN);
	/* A heap without a block is nothing to judge. */
	assert_int_equal(verdict_of_program(&none, &none, &none), PROGRAM_UNKNOWN);
}

static void what_noise_may_hide_is_not_called_a_plateau(void **state)
{
	struct curve leak = { 0 }, rest = { 0 }, whole = { 0 }, none = { 0 };

	(void)state;
	EACH(t, 60)
		block(&leak, t, 2);
	EACH(t, 3000)
		block(&rest, t, t + 0.02);
	for (unsigned i = 0; i < CURVE_BUCKETS; i++)
		rest.live[i] = 3000 + (i == 20 ? 3000 : 0);
	for (unsigned i = 0; i < CURVE_BUCKETS; i++)
		whole.live[i] = leak.live[i] + rest.live[i];
	whole.samples = leak.samples + rest.samples;
	whole.allocated_bytes = leak.allocated_bytes + rest.allocated_bytes;
	assert_int_equal(verdict_of_program(&whole, &none, &none), PROGRAM_PLATEAU);
	whole.sampled = leak.sampled = true;
	whole.samples = 1e6; /* little noise: what is left is that the site rises */
	assert_int_equal(verdict_of_program(&whole, &none, &none), PROGRAM_PLATEAU);
	assert_int_equal(verdict_of_program(&whole, &leak, &none), PROGRAM_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_made_at_start_and_kept_are_one_time),
		cmocka_unit_test(blocks_never_freed_are_a_leak_also_among_many_that_are),
		cmocka_unit_test(what_is_given_back_at_the_end_grows_but_does_not_leak),
		cmocka_unit_test(a_rise_whose_old_blocks_are_freed_too_is_growing),
		cmocka_unit_test(a_table_that_doubles_is_growing_until_it_stands_long),
		cmocka_unit_test(a_cache_that_is_full_is_a_plateau_whatever_it_replaces),
		cmocka_unit_test(short_spikes_that_happen_to_be_higher_late_are_no_growth),
		cmocka_unit_test(a_sawtooth_is_a_plateau_wherever_the_run_ends),
		cmocka_unit_test(short_lives_and_many_of_them_are_churn),
		cmocka_unit_test(too_few_samples_are_not_judged),
		cmocka_unit_test(the_program_is_what_its_rise_is_made_of),
		cmocka_unit_test(what_noise_may_hide_is_not_called_a_plateau),
	};
	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
