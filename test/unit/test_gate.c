/* LINK: analyzer */
/*
 * The gate's judgement: limits alone and beside a baseline, exact and sampled,
 * and the baseline's file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/gate.h"
#include "view/baseline_file.h"

static struct tally tally_of(double live_count, double live_bytes, double error)
{
	struct tally tally = { 0 };

	tally.of[METRIC_LIVE] = (struct number){ live_count, live_bytes, error * error,
						 error * error };
	tally.of[METRIC_ALLOCATED] = tally.of[METRIC_LIVE];
	tally.of[METRIC_PEAK] = tally.of[METRIC_LIVE];
	return tally;
}

static void add(struct baseline *baseline, const char *stack, const char *site,
		const struct tally *tally)
{
	assert_int_equal(baseline_entries_add(&baseline->stacks, strdup(stack), tally, false, NULL),
			 0);
	assert_int_equal(baseline_entries_add(&baseline->sites, strdup(site), tally, false, NULL),
			 0);
	tally_add(&baseline->totals, tally);
}

/* Two stacks: 3 blocks of 72 bytes, 1 block of 1000 bytes. */
static struct baseline *small_run(void)
{
	struct baseline *run = calloc(1, sizeof(*run));
	struct tally leak = tally_of(3, 72, 0), cache = tally_of(1, 1000, 0);

	run->exact = true;
	run->rate_bytes = 1;
	add(run, "leak@app < main@app", "leak@app", &leak);
	add(run, "cache@app < main@app", "cache@app", &cache);
	baseline_entries_merge(&run->stacks);
	baseline_entries_merge(&run->sites);
	return run;
}

static struct baseline *sampled_run(double bytes, double error, uint64_t rate)
{
	struct baseline *run = calloc(1, sizeof(*run));
	struct tally tally = tally_of(bytes / 100, bytes, error);

	run->rate_bytes = rate;
	run->samples = 1000;
	add(run, "leak@app < main@app", "leak@app", &tally);
	return run;
}

static struct gate *judge(const struct baseline *now, const struct baseline *before,
			  const char *kind, const char *text, const char *pattern)
{
	struct gate_limits limits = { 0 };
	struct gate *gate;

	assert_int_equal(gate_limits_add(&limits, gate_kind_find(kind), text, pattern, NULL), 0);
	assert_int_equal(gate_judge(now, before, &limits, &gate, NULL), 0);
	gate->rules[0].pattern = gate->rules[0].text = NULL; /* go with the limits */
	gate_limits_release(&limits);
	return gate;
}

static enum gate_verdict verdict(const struct baseline *now, const struct baseline *before,
				 const char *kind, const char *text, const char *pattern)
{
	struct gate *gate = judge(now, before, kind, text, pattern);
	enum gate_verdict verdict = gate->verdict;

	gate_free(gate);
	return verdict;
}

static void an_exact_limit_is_kept_to_the_byte(void **state)
{
	struct baseline *run = small_run();

	(void)state;
	assert_int_equal(verdict(run, NULL, "max-leaked", "1072", NULL), GATE_PASS);
	assert_int_equal(verdict(run, NULL, "max-leaked", "1071", NULL), GATE_FAIL);
	assert_int_equal(verdict(run, NULL, "max-leaked", "2K", NULL), GATE_PASS);
	assert_int_equal(verdict(run, NULL, "max-leaked-blocks", "4", NULL), GATE_PASS);
	assert_int_equal(verdict(run, NULL, "max-leaked-blocks", "3", NULL), GATE_FAIL);
	baseline_free(run);
}

static void a_pattern_limits_the_sites_it_names(void **state)
{
	struct baseline *run = small_run();

	(void)state;
	assert_int_equal(verdict(run, NULL, "max-leaked", "71", "^leak@"), GATE_FAIL);
	assert_int_equal(verdict(run, NULL, "max-leaked", "72", "^leak@"), GATE_PASS);
	assert_int_equal(verdict(run, NULL, "max-leaked", "0", "nobody"), GATE_PASS);
	baseline_free(run);
}

static void relative_limits_stand_on_the_baseline(void **state)
{
	struct baseline *before = small_run(), *now = small_run();
	struct tally more = tally_of(1, 24, 0);
	struct gate *gate;

	(void)state;
	assert_int_equal(verdict(now, before, "max-leaked", "+0", NULL), GATE_PASS);
	add(now, "other@app < main@app", "other@app", &more);
	assert_int_equal(verdict(now, before, "max-leaked", "+23", NULL), GATE_FAIL);
	assert_int_equal(verdict(now, before, "max-leaked", "+24", NULL), GATE_PASS);
	assert_int_equal(verdict(now, before, "max-leaked", "+3%", NULL), GATE_PASS);
	assert_int_equal(verdict(now, before, "max-leaked", "+2%", NULL), GATE_FAIL);
	gate = judge(now, before, "max-leaked-blocks", "+0", NULL);
	assert_int_equal(gate->leak_count, 1);
	assert_int_equal(gate->leaks[0].status, GATE_LEAK_NEW);
	assert_true(gate->leaks[0].more.bytes == 24);
	gate_free(gate);
	baseline_free(before);
	baseline_free(now);
}

static void the_larger_allowance_wins_and_an_absolute_limit_tops_it(void **state)
{
	static const char *const orders[][3] = {
		{ "+5%", "+64", "1100" }, { "1100", "+64", "+5%" }, { "+64", "1100", "+5%" },
	};
	struct baseline *run = small_run();
	size_t i, j;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct gate_limits limits = { 0 };
		struct gate *gate;

		for (j = 0; j < 3; j++)
			gate_limits_add(&limits, gate_kind_find("max-leaked"), orders[i][j], NULL,
					NULL);
		assert_int_equal(gate_judge(run, run, &limits, &gate, NULL), 0);
		assert_int_equal(gate->rule_count, 1);
		assert_true(gate->rules[0].limit == 1100);
		gate_free(gate);
		limits.items[i == 0 ? 2 : i == 1 ? 0 : 1].value = 5000;
		assert_int_equal(gate_judge(run, run, &limits, &gate, NULL), 0);
		assert_true(gate->rules[0].limit == 1072 + 64);
		gate_free(gate);
		gate_limits_release(&limits);
	}
	baseline_free(run);
}

static void a_sampled_limit_fails_only_on_what_errors_exclude(void **state)
{
	struct baseline *run = sampled_run(10e6, 1e6, 512 * 1024);

	(void)state;
	assert_int_equal(verdict(run, NULL, "max-leaked", "9000000", NULL), GATE_PASS);
	assert_int_equal(verdict(run, NULL, "max-leaked", "8000000", NULL), GATE_FAIL);
	baseline_free(run);
}

static void what_a_rate_can_not_see_is_not_judged(void **state)
{
	struct baseline *run = sampled_run(0, 0, 512 * 1024);
	struct gate *gate;

	(void)state;
	assert_int_equal(verdict(run, NULL, "max-leaked", "2M", NULL), GATE_PASS);
	gate = judge(run, NULL, "max-leaked", "1M", NULL);
	assert_int_equal(gate->verdict, GATE_UNKNOWN);
	assert_true(gate->rules[0].better_rate == floor(1048576.0 / 3));
	gate_free(gate);
	assert_int_equal(verdict(run, NULL, "max-leaked-blocks", "0", NULL), GATE_UNKNOWN);
	baseline_free(run);
}

static void a_bad_limit_is_refused(void **state)
{
	static const char *const bad[] = { "", "x", "-1", "+", "+x%", "5%", "+5%%", "1.5.2" };
	struct gate_limits limits = { 0 };
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		for (k = 0; k < gate_kind_count; k++)
			assert_int_equal(gate_limits_add(&limits, &gate_kinds[k], bad[i], NULL,
							 NULL), ERROR_USAGE);
	assert_int_equal(gate_limits_add(&limits, &gate_kinds[0], "1", "(", NULL), ERROR_USAGE);
	assert_int_equal(limits.count, 0);
	gate_limits_release(&limits);
}

static void a_config_file_names_its_bad_line(void **state)
{
	char path[] = "/tmp/test-gate-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct gate_limits limits = { 0 };
	struct error err = { 0 };

	(void)state;
	fputs("# ours\nmax-leaked 1K\nsite ^pool max-allocations +5%  # too\n", file);
	fflush(file);
	assert_int_equal(gate_limits_load(&limits, path, &err), 0);
	assert_int_equal(limits.count, 2);
	assert_string_equal(limits.items[1].pattern, "^pool");
	fputs("max-laeked 1\n", file);
	fclose(file);
	assert_int_equal(gate_limits_load(&limits, path, &err), ERROR_USAGE);
	assert_non_null(strstr(err.file, ": line 4"));
	gate_limits_release(&limits);
	unlink(path);
}

static void a_baseline_file_gives_back_what_was_written(void **state)
{
	char path[] = "/tmp/test-gate-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct baseline *run = small_run(), *read;
	struct suppressions *list = suppressions_new();

	(void)state;
	baseline_write(run, "app \"x\"", file);
	fclose(file);
	suppressions_parse(list, "t", "leak:^cache$", 12, NULL);
	assert_int_equal(baseline_load(path, list, &read, NULL), 0);
	assert_true(read->exact);
	assert_int_equal(read->stacks.count, 2);
	assert_true(read->totals.of[METRIC_LIVE].bytes == 72);
	assert_true(read->suppressed.bytes == 1000);
	assert_non_null(baseline_find(&read->sites, "leak@app"));
	assert_int_equal(verdict(run, read, "max-leaked", "+1000", NULL), GATE_PASS);
	baseline_free(read);
	baseline_free(run);
	suppressions_free(list);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exact_limit_is_kept_to_the_byte),
		cmocka_unit_test(a_pattern_limits_the_sites_it_names),
		cmocka_unit_test(relative_limits_stand_on_the_baseline),
		cmocka_unit_test(the_larger_allowance_wins_and_an_absolute_limit_tops_it),
		cmocka_unit_test(a_sampled_limit_fails_only_on_what_errors_exclude),
		cmocka_unit_test(what_a_rate_can_not_see_is_not_judged),
		cmocka_unit_test(a_bad_limit_is_refused),
		cmocka_unit_test(a_config_file_names_its_bad_line),
		cmocka_unit_test(a_baseline_file_gives_back_what_was_written),
	};
	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
