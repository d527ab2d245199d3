/* LINK: analyzer */
/*
 * Significance: p-values, the procedure on a worked example, and its promise:
 * when nothing has changed, something is marked in one of twenty cases at most.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "model/significance.h"

static void p_values_are_those_of_the_normal_distribution(void **state)
{
	(void)state;
	assert_true(fabs(significance_p(1.959964, 1, 0) - 0.05) < 1e-6);
	assert_true(fabs(significance_p(-3, 1, 0) - 0.002699796) < 1e-8);
	assert_true(significance_p(0, 2, 0) == 1);
	assert_true(significance_p(5, 0, 0) == 0 && significance_p(0, 0, 0) == 1);
}

/* Of n equal samples none lies on one side: by the binomial, 2 / 2^n. */
static void few_samples_are_not_taken_for_many(void **state)
{
	(void)state;
	for (int n = 2; n <= 9; n++) {
		double p = significance_p(n, sqrt(n), 1), exact = 2 * pow(0.5, n);

		assert_true(p > exact * 0.9 && p < exact * 2.5);
		assert_true(p > significance_p(n, sqrt(n), 0));
	}
	assert_true(significance_p(1, 1, 1) == 1);
	assert_true(significance_p(-4, 2, 1) == significance_p(4, 2, 1));
}

static void the_largest_p_below_its_line_decides(void **state)
{
	/* Lines at 0.05 / 5 * k: 0.01 0.02 0.03 0.04 0.05. The third is above its
	 * line, the fourth below: all four are marked. */
	const double p[] = { 0.039, 0.5, 0.001, 0.031, 0.015 };
	bool marks[5];

	(void)state;
	assert_int_equal(significance_mark(p, 5, 0.05, marks), 4);
	assert_true(marks[0] && !marks[1] && marks[2] && marks[3] && marks[4]);
	assert_int_equal(significance_mark(p, 0, 0.05, marks), 0);
}

static void noise_alone_is_marked_in_one_of_twenty_cases(void **state)
{
	enum { RUNS = 20000, SITES = 40 };
	double p[SITES];
	bool marks[SITES];
	unsigned hits = 0, run, i;

	(void)state;
	srand48(7);
	for (run = 0; run < RUNS; run++) {
		for (i = 0; i < SITES; i++)
			p[i] = drand48();
		hits += significance_mark(p, SITES, 0.05, marks) > 0;
	}
	/* 1000 expected, standard deviation 31. */
	assert_in_range(hits, 875, 1125);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(p_values_are_those_of_the_normal_distribution),
		cmocka_unit_test(few_samples_are_not_taken_for_many),
		cmocka_unit_test(the_largest_p_below_its_line_decides),
		cmocka_unit_test(noise_alone_is_marked_in_one_of_twenty_cases),
	};
	return cmocka_run_group_tests_name("significance", tests, NULL, NULL);
}
