/* LINK: analyzer */
/*
 * What grew between moments and traces, and what WHEN may say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model/diff.h"
#include "model/moment.h"
#include "trace_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char first_path[256], second_path[256];

static void site(struct trace_builder *b, uint64_t inner)
{
	uint64_t frames[] = { inner, 0x402001 };

	trace_builder_stack(b, frames, 2);
}

/* Site 1 grows by 3 blocks, 2 shrinks, 3 is gone, 4 is new, 5 stays. */
static void make_first(uint64_t rate)
{
	struct trace_builder *b = trace_builder_new();

	trace_builder_at(b, 640);
	if (rate > 1)
		trace_builder_rate(b, rate);
	for (uint64_t s = 1; s <= 5; s++) {
		if (s == 4)
			continue;
		site(b, 0x401001 + s * 16);
		for (uint64_t i = 0; i < 4; i++)
			trace_builder_allocate(b, s * 0x100000 + i * 0x1000, 100);
	}
	trace_builder_at(b, 6400);
	trace_builder_mark(b, TRACE_MARK_SNAPSHOT, "early", "", 0);
	trace_builder_at(b, 12800);
	site(b, 0x401011);
	for (uint64_t i = 4; i < 7; i++)
		trace_builder_allocate(b, 0x100000 + i * 0x1000, 100);
	trace_builder_free(b, 0x200000);
	for (uint64_t i = 0; i < 4; i++)
		trace_builder_free(b, 0x300000 + i * 0x1000);
	site(b, 0x401041);
	trace_builder_allocate(b, 0x400000, 50);
	trace_builder_at(b, 64000);
	trace_builder_mark(b, TRACE_MARK_SNAPSHOT, "late", "", 0);
	trace_builder_write(b, first_path);
	trace_builder_free_all(b);
}

static void make_second(void)
{
	struct trace_builder *b = trace_builder_new();

	site(b, 0x401011);
	trace_builder_at(b, 640);
	for (uint64_t i = 0; i < 9; i++)
		trace_builder_allocate(b, 0x100000 + i * 0x1000, 100);
	trace_builder_write(b, second_path);
	trace_builder_free_all(b);
}

static void open_word(const char *path, const char *when, struct trace_set *set)
{
	static char word[300];
	const char *words[] = { word };
	struct error err;

	snprintf(word, sizeof(word), "%s%s%s", path, when ? "@" : "", when ? when : "");
	if (trace_set_open(words, 1, set, &err))
		fail_msg("%s: %s", word, err.words);
}

struct diffed {
	struct trace_set a, b;
	struct query query;
	struct diff diff;
};

static void diff_of(struct diffed *d, const char *path_a, const char *when_a, const char *path_b,
		    const char *when_b)
{
	struct error err;

	open_word(path_a, when_a, &d->a);
	open_word(path_b, when_b, &d->b);
	query_init(&d->query);
	d->query.sort = METRIC_LIVE;
	assert_int_equal(diff_build(&d->a, &d->b, &d->query, 0.05, &d->diff, &err), 0);
}

static void diff_done(struct diffed *d)
{
	diff_release(&d->diff);
	trace_set_close(&d->a);
	trace_set_close(&d->b);
	query_release(&d->query);
}

static const struct diff_row *row_of(const struct diff *diff, uint64_t offset)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct profile_site *s =
			diff->rows[i].later ? diff->rows[i].later : diff->rows[i].baseline;

		if (s->where.module_offset == offset)
			return &diff->rows[i];
	}
	return NULL;
}

static void sites_are_new_grown_shrunk_gone_or_the_same(void **state)
{
	static const struct {
		uint64_t offset;
		enum diff_status status;
		double bytes, count;
	} expected[] = { { 0x1010, DIFF_GROWN, 300, 3 }, { 0x1020, DIFF_SHRUNK, -100, -1 },
			 { 0x1030, DIFF_GONE, -400, -4 }, { 0x1040, DIFF_NEW, 50, 1 },
			 { 0x1050, DIFF_SAME, 0, 0 } };
	struct diffed d;

	(void)state;
	make_first(1);
	diff_of(&d, first_path, "early", first_path, "late");
	assert_int_equal(d.diff.count, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct diff_row *row = row_of(&d.diff, expected[i].offset);

		assert_non_null(row);
		assert_int_equal(row->status, expected[i].status);
		assert_true(row->delta.bytes == expected[i].bytes);
		assert_true(row->delta.count == expected[i].count);
		assert_int_equal(row->is_significant, expected[i].status != DIFF_SAME);
	}
	assert_true(d.diff.rows[0].delta.bytes == 300);
	assert_true(d.diff.rows[4].delta.bytes == -400);
	assert_true(d.diff.delta[TALLY_HEAP].bytes == -150);
	diff_done(&d);
}

static void a_moment_does_not_differ_from_itself(void **state)
{
	struct diffed d;

	(void)state;
	make_first(1);
	diff_of(&d, first_path, "late", first_path, "late");
	for (size_t i = 0; i < d.diff.count; i++)
		assert_int_equal(d.diff.rows[i].status, DIFF_SAME);
	diff_done(&d);
}

static void blocks_live_at_both_moments_add_no_error(void **state)
{
	struct diffed d;
	struct number one;

	(void)state;
	make_first(4096);
	number_of_sample(100, 4096, &one);
	diff_of(&d, first_path, "early", first_path, "late");
	/* Site 5 has four samples in both: their difference is known exactly. */
	assert_true(row_of(&d.diff, 0x1050)->delta.bytes == 0);
	assert_true(row_of(&d.diff, 0x1050)->delta.bytes_variance == 0);
	/* Site 1: three born between. */
	assert_true(row_of(&d.diff, 0x1010)->delta.bytes_variance > 2.99 * one.bytes_variance);
	assert_true(row_of(&d.diff, 0x1010)->delta.bytes_variance < 3.01 * one.bytes_variance);
	diff_done(&d);
}

static void errors_of_two_runs_add_up(void **state)
{
	struct diffed d;
	struct number one;

	(void)state;
	make_first(4096);
	make_second();
	number_of_sample(100, 4096, &one);
	diff_of(&d, second_path, NULL, first_path, "late");
	assert_true(row_of(&d.diff, 0x1010)->delta.bytes_variance > 6.99 * one.bytes_variance);
	diff_done(&d);
}

static void moments_are_names_numbers_times_and_shares(void **state)
{
	static const struct {
		const char *when;
		enum moment_kind kind;
		uint64_t low, high;
	} rows[] = {
		{ "early", MOMENT_TIME, 6336, 6400 },  { "#2", MOMENT_TIME, 63936, 64000 },
		{ "10us", MOMENT_TIME, 10000, 10000 }, { "0.5ms", MOMENT_TIME, 500000, 500000 },
		{ "50%", MOMENT_TIME, 31000, 33000 },  { "peak", MOMENT_PEAK, 0, 0 },
		{ "end", MOMENT_END, 0, 0 },
	};
	struct trace *trace;
	struct moment moment;
	struct error err;

	(void)state;
	make_first(1);
	assert_int_equal(trace_open(first_path, &trace, &err), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(moment_parse(trace, rows[i].when, &moment, &err), 0);
		assert_int_equal(moment.kind, rows[i].kind);
		assert_in_range(moment.time_ns, rows[i].low, rows[i].high);
	}
	assert_int_equal(moment_parse(trace, "nosuch", &moment, &err), ERROR_USAGE);
	assert_non_null(strstr(err.words, "early, late"));
	assert_int_equal(moment_parse(trace, "#9", &moment, &err), ERROR_USAGE);
	trace_close(trace);
}

static void a_file_whose_name_has_an_at_wins(void **state)
{
	char name[300], *path;
	const char *when;
	struct error err;

	(void)state;
	make_first(1);
	snprintf(name, sizeof(name), "%s@early", first_path);
	assert_int_equal(trace_word_split(name, &path, &when, &err), 0);
	assert_string_equal(path, first_path);
	assert_string_equal(when, "early");
	free(path);
	assert_int_equal(link(first_path, name), 0);
	assert_int_equal(trace_word_split(name, &path, &when, &err), 0);
	assert_string_equal(path, name);
	assert_null(when);
	free(path);
	unlink(name);
}

static int remove_traces(void **state)
{
	(void)state;
	unlink(first_path);
	unlink(second_path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites_are_new_grown_shrunk_gone_or_the_same),
		cmocka_unit_test(a_moment_does_not_differ_from_itself),
		cmocka_unit_test(blocks_live_at_both_moments_add_no_error),
		cmocka_unit_test(errors_of_two_runs_add_up),
		cmocka_unit_test(moments_are_names_numbers_times_and_shares),
		cmocka_unit_test(a_file_whose_name_has_an_at_wins),
	};
	const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";

	snprintf(first_path, sizeof(first_path), "%s/diff.%d.a.trace", folder, (int)getpid());
	snprintf(second_path, sizeof(second_path), "%s/diff.%d.b.trace", folder, (int)getpid());
	return cmocka_run_group_tests(tests, NULL, remove_traces);
}
