/* LINK: analyzer */
/*
 * What grew between moments and traces, how it went on over several, and what
 * WHEN may say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model/diff.h"
#include "model/moment.h"
#include "model/series.h"
#include "model/site_match.h"
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
	struct normalize normalize;
	struct diff diff;
};

static void diff_open(struct diffed *d, const char *path_a, const char *when_a, const char *path_b,
		      const char *when_b)
{
	*d = (struct diffed){ 0 };
	open_word(path_a, when_a, &d->a);
	open_word(path_b, when_b, &d->b);
	query_init(&d->query);
	d->query.sort = METRIC_LIVE;
}

static void diff_make(struct diffed *d)
{
	struct error err;

	assert_int_equal(diff_build(&d->a, &d->b, &d->query, &d->normalize, 0.05, &d->diff, &err),
			 0);
}

static void diff_of(struct diffed *d, const char *path_a, const char *when_a, const char *path_b,
		    const char *when_b)
{
	diff_open(d, path_a, when_a, path_b, when_b);
	diff_make(d);
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

/* early, stop, start, late: blocks of the first moment are unknown at the last. */
static void make_stopped(void)
{
	struct trace_builder *b = trace_builder_new();

	site(b, 0x401011);
	trace_builder_at(b, 640);
	trace_builder_allocate(b, 0x100000, 100);
	trace_builder_at(b, 6400);
	trace_builder_mark(b, TRACE_MARK_SNAPSHOT, "early", "", 0);
	trace_builder_at(b, 7000);
	trace_builder_mark(b, TRACE_MARK_SNAPSHOT, "before", "", 0);
	trace_builder_at(b, 12800);
	trace_builder_mark(b, TRACE_MARK_STOP, "", "", 0);
	trace_builder_at(b, 25600);
	trace_builder_mark(b, TRACE_MARK_START, "", "", 0);
	trace_builder_at(b, 64000);
	trace_builder_mark(b, TRACE_MARK_SNAPSHOT, "late", "", 0);
	trace_builder_at(b, 70000);
	trace_builder_mark(b, TRACE_MARK_SNAPSHOT, "after", "", 0);
	trace_builder_write(b, first_path);
	trace_builder_free_all(b);
}

static void a_difference_across_a_stop_says_so(void **state)
{
	static const struct {
		const char *from, *to;
		uint32_t gap; /* kind of the mark; 0: none */
	} cases[] = {
		{ "early", "late", TRACE_MARK_STOP },  { "late", "early", TRACE_MARK_STOP },
		{ "early", "before", 0 },              { "late", "after", 0 },
		{ "after", "late", 0 },
	};
	struct diffed d;

	(void)state;
	make_stopped();
	make_second();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		diff_of(&d, first_path, cases[i].from, first_path, cases[i].to);
		assert_int_equal(d.diff.gap ? d.diff.gap->kind : 0, cases[i].gap);
		diff_done(&d);
	}
	/* Of two traces, what lies before the moment counts. */
	diff_of(&d, second_path, NULL, first_path, "early");
	assert_null(d.diff.gap);
	diff_done(&d);
	diff_of(&d, second_path, NULL, first_path, "late");
	assert_non_null(d.diff.gap);
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

static bool is_about(double value, double expected)
{
	return value > 0.999 * expected && value < 1.001 * expected;
}

static void a_difference_backwards_has_the_same_errors(void **state)
{
	struct diffed d;
	struct number one;

	(void)state;
	make_first(4096);
	number_of_sample(100, 4096, &one);
	diff_of(&d, first_path, "late", first_path, "early");
	assert_true(row_of(&d.diff, 0x1010)->delta.bytes < 0);
	assert_true(is_about(row_of(&d.diff, 0x1010)->delta.bytes_variance,
			     3 * one.bytes_variance));
	assert_true(is_about(row_of(&d.diff, 0x1030)->delta.bytes_variance,
			     4 * one.bytes_variance));
	assert_true(row_of(&d.diff, 0x1050)->delta.bytes_variance == 0);
	diff_done(&d);
}

static void what_was_allocated_before_both_moments_adds_no_error(void **state)
{
	struct diffed d;
	struct number one;

	(void)state;
	make_first(4096);
	number_of_sample(100, 4096, &one);
	diff_open(&d, first_path, "early", first_path, "late");
	d.query.sort = METRIC_ALLOCATED;
	diff_make(&d);
	assert_true(is_about(row_of(&d.diff, 0x1010)->delta.bytes_variance,
			     3 * one.bytes_variance));
	assert_true(row_of(&d.diff, 0x1020)->delta.bytes_variance < 1e-6 * one.bytes_variance);
	diff_done(&d);
}

/* By size class all stacks have cells in the same site: each counts once. */
static void errors_follow_the_groups_and_filters_of_the_query(void **state)
{
	struct diffed d;
	struct number of_100, of_50;

	(void)state;
	make_first(4096);
	number_of_sample(100, 4096, &of_100);
	number_of_sample(50, 4096, &of_50);
	diff_open(&d, first_path, "early", first_path, "late");
	d.query.by = BY_SIZE;
	diff_make(&d);
	assert_int_equal(d.diff.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct diff_row *row = &d.diff.rows[i];
		bool is_new = row->status == DIFF_NEW;

		assert_true(is_about(row->delta.bytes_variance,
				     is_new ? of_50.bytes_variance : 8 * of_100.bytes_variance));
	}
	diff_done(&d);
	diff_open(&d, first_path, "early", first_path, "late");
	d.query.max_size = 60;
	diff_make(&d);
	assert_int_equal(d.diff.count, 1);
	assert_true(is_about(d.diff.delta[TALLY_HEAP].bytes_variance, of_50.bytes_variance));
	diff_done(&d);
}

/* ---- runs of different length ---- */

/* @requests of two blocks of 100 bytes each. */
static void make_requests(const char *path, unsigned requests)
{
	struct trace_builder *b = trace_builder_new();

	site(b, 0x401011);
	for (unsigned i = 0; i < requests; i++) {
		trace_builder_at(b, 6400 * (i + 1));
		trace_builder_allocate(b, 0x100000 + i * 0x1000, 100);
		trace_builder_allocate(b, 0x900000 + i * 0x1000, 100);
		trace_builder_mark(b, TRACE_MARK_EVENT, "request", "", 0);
	}
	trace_builder_write(b, path);
	trace_builder_free_all(b);
}

static void runs_of_different_length_compare_by_event_and_allocation(void **state)
{
	static const struct {
		const char *by;
		double bytes;
	} rows[] = { { "request", 200 }, { "events", 100e6 } };
	struct diffed d;

	(void)state;
	make_requests(first_path, 3);
	make_requests(second_path, 7);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		diff_open(&d, first_path, NULL, second_path, NULL);
		d.normalize = normalize_parse(rows[i].by);
		diff_make(&d);
		assert_int_equal(d.diff.count, 1);
		assert_true(is_about(d.diff.rows[0].before.bytes, rows[i].bytes));
		assert_true(is_about(d.diff.rows[0].after.bytes, rows[i].bytes));
		diff_done(&d);
	}
}

static void by_time_figures_are_per_second(void **state)
{
	struct diffed d;
	double seconds;

	(void)state;
	make_requests(first_path, 3);
	diff_open(&d, first_path, "10us", first_path, NULL);
	d.normalize = normalize_parse("time");
	diff_make(&d);
	seconds = (double)d.b.members[0].trace->info.duration_ns / 1e9;
	assert_true(is_about(d.diff.rows[0].before.bytes, 200 / 10e-6));
	assert_true(is_about(d.diff.rows[0].after.bytes, 600 / seconds));
	diff_done(&d);
}

static void nothing_is_divided_by_events_that_never_were(void **state)
{
	struct diffed d;
	struct error err;

	(void)state;
	make_requests(first_path, 3);
	diff_open(&d, first_path, NULL, first_path, NULL);
	d.normalize = normalize_parse("reqest");
	assert_int_equal(diff_build(&d.a, &d.b, &d.query, &d.normalize, 0.05, &d.diff, &err),
			 ERROR_USAGE);
	assert_non_null(strstr(err.words, "reqest"));
	diff_done(&d);
}

/* ---- series ---- */

/* Blocks live at each of four snapshots, by site. */
static const unsigned live_at[][4] = {
	{ 1, 2, 3, 4 }, { 1, 8, 10, 10 }, { 4, 3, 2, 1 }, { 2, 5, 1, 2 }, { 0, 0, 0, 3 },
	{ 1, 9, 9, 7 },
};
static const enum series_trend trends[] = { SERIES_RISES, SERIES_FLATTENS, SERIES_FALLS,
					    SERIES_STEADY, SERIES_RISES, SERIES_FLATTENS };

static void make_series(void)
{
	struct trace_builder *b = trace_builder_new();
	unsigned live[6] = { 0 };
	char name[8];

	for (unsigned moment = 0; moment < 4; moment++) {
		trace_builder_at(b, 6400 * (moment + 1));
		for (uint64_t s = 0; s < 6; s++) {
			site(b, 0x401011 + s * 16);
			for (; live[s] < live_at[s][moment]; live[s]++)
				trace_builder_allocate(b, (s + 1) * 0x100000 + live[s] * 0x1000,
						       100);
			for (; live[s] > live_at[s][moment]; live[s]--)
				trace_builder_free(b, (s + 1) * 0x100000 + (live[s] - 1) * 0x1000);
		}
		trace_builder_at(b, 6400 * (moment + 1) + 640);
		snprintf(name, sizeof(name), "m%u", moment);
		trace_builder_mark(b, TRACE_MARK_SNAPSHOT, name, "", 0);
	}
	trace_builder_write(b, first_path);
	trace_builder_free_all(b);
}

static void a_series_tells_what_rises_from_what_flattens(void **state)
{
	static const char *const when[] = { "m0", "m1", "m2", "m3" };
	struct trace_set sets[4] = { 0 };
	struct normalize normalize = { 0 };
	struct series series;
	struct query query;
	struct error err;

	(void)state;
	make_series();
	for (int i = 0; i < 4; i++)
		open_word(first_path, when[i], &sets[i]);
	query_init(&query);
	query.sort = METRIC_LIVE;
	assert_int_equal(series_build(sets, 4, &query, &normalize, 0.05, &series, &err), 0);
	assert_int_equal(series.row_count, 6);
	for (size_t r = 0; r < 6; r++) {
		const struct series_row *row = &series.rows[r];
		size_t s = (row->site->where.module_offset - 0x1010) / 16;

		assert_int_equal(row->trend, trends[s]);
		for (int i = 0; i < 4; i++)
			assert_true(row->values[i].count == live_at[s][i]);
		assert_true(row->delta.count == (double)live_at[s][3] - live_at[s][0]);
		assert_true(!r || series.rows[r - 1].delta.bytes >= row->delta.bytes);
	}
	assert_true(series.totals[TALLY_HEAP].delta.count == 27 - 9);
	series_release(&series);
	query_release(&query);
	for (int i = 0; i < 4; i++)
		trace_set_close(&sets[i]);
}

/* ---- moved code ---- */

struct side {
	struct trace_module module;
	struct trace trace;
	struct profile_trace traces;
	struct profile profile;
	struct profile_site sites[3];
	struct match_site list[3];
};

static void side_init(struct side *side, const struct query *query, uint8_t build,
		      const char *const (*names)[2])
{
	*side = (struct side){ .module = { .path = "/bin/app", .build_id = { build },
					   .build_id_bytes = 20 } };
	side->trace = (struct trace){ .modules = &side->module, .module_count = 1 };
	side->traces.trace = &side->trace;
	side->profile = (struct profile){ .query = query, .traces = &side->traces,
					  .trace_count = 1 };
	for (int i = 0; i < 3; i++) {
		side->sites[i].where = (struct profile_frame){
			.function = names[i][0], .file = names[i][1], .line = 10u + build,
			.module = "/bin/app",
		};
		side->list[i] = (struct match_site){ &side->profile, &side->sites[i] };
	}
}

static void code_that_moved_to_another_file_is_matched_by_its_function(void **state)
{
	static const char *const old_names[][2] = { { "parse", "a.c" }, { "gone", "a.c" },
						    { "stays", "a.c" } };
	static const char *const new_names[][2] = { { "stays", "a.c" }, { "parse", "b.c" },
						    { "new", "b.c" } };
	struct query query;
	struct side before, after;
	struct match_pair *pairs;

	(void)state;
	query_init(&query);
	for (uint8_t build = 1; build <= 2; build++) {
		bool is_rebuilt = build == 2;
		size_t count, matched = 0;

		side_init(&before, &query, 1, old_names);
		side_init(&after, &query, build, new_names);
		count = site_match(before.list, 3, after.list, 3, false, &pairs);
		assert_int_equal(count, is_rebuilt ? 4 : 5);
		for (size_t i = 0; i < count; i++) {
			if (pairs[i].before == MATCH_NONE || pairs[i].after == MATCH_NONE)
				continue;
			matched++;
			assert_string_equal(old_names[pairs[i].before][0],
					    new_names[pairs[i].after][0]);
			assert_int_equal(pairs[i].is_moved, pairs[i].before == 0);
		}
		assert_int_equal(matched, is_rebuilt ? 2 : 1);
		free(pairs);
	}
	query_release(&query);
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
		cmocka_unit_test(a_difference_across_a_stop_says_so),
		cmocka_unit_test(errors_of_two_runs_add_up),
		cmocka_unit_test(a_difference_backwards_has_the_same_errors),
		cmocka_unit_test(what_was_allocated_before_both_moments_adds_no_error),
		cmocka_unit_test(errors_follow_the_groups_and_filters_of_the_query),
		cmocka_unit_test(runs_of_different_length_compare_by_event_and_allocation),
		cmocka_unit_test(by_time_figures_are_per_second),
		cmocka_unit_test(nothing_is_divided_by_events_that_never_were),
		cmocka_unit_test(a_series_tells_what_rises_from_what_flattens),
		cmocka_unit_test(code_that_moved_to_another_file_is_matched_by_its_function),
		cmocka_unit_test(moments_are_names_numbers_times_and_shares),
		cmocka_unit_test(a_file_whose_name_has_an_at_wins),
	};
	const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";

	snprintf(first_path, sizeof(first_path), "%s/diff.%d.a.trace", folder, (int)getpid());
	snprintf(second_path, sizeof(second_path), "%s/diff.%d.b.trace", folder, (int)getpid());
	return cmocka_run_group_tests(tests, NULL, remove_traces);
}
