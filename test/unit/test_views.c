/* LINK: analyzer */
/*
 * What people read: whole outputs of text views on a small trace whose names and
 * times are the same everywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "trace_builder.h"
#include "view/json.h"
#include "view/table.h"
#include "view/units.h"
#include "view/view.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[256];

/* ---- a small trace: 3 sites ---- */

static void stack(struct trace_builder *b, uint64_t inner)
{
	uint64_t frames[] = { inner, 0x402001, 0x403001 };

	trace_builder_stack(b, frames, 3);
}

static void make_trace(void)
{
	struct trace_builder *b = trace_builder_new();

	stack(b, 0x401011);
	for (uint64_t i = 0; i < 10; i++) {
		trace_builder_at(b, 6400 * (i + 1));
		trace_builder_allocate(b, 0x10000 + i * 0x1000, 1000);
	}
	trace_builder_mark(b, TRACE_MARK_SNAPSHOT, "warm", "caches filled", 0);
	stack(b, 0x401021);
	for (uint64_t i = 0; i < 4; i++) {
		trace_builder_at(b, 100000 + 6400 * i);
		trace_builder_allocate(b, 0x90000, 64);
		trace_builder_free(b, 0x90000);
	}
	stack(b, 0x401031);
	trace_builder_at(b, 200000);
	trace_builder_allocate(b, 0xa0000, 5000);
	for (uint64_t i = 0; i < 8; i++)
		trace_builder_free(b, 0x10000 + i * 0x1000);
	trace_builder_write(b, path);
	trace_builder_free_all(b);
}

/* ---- running a view ---- */

static char *shown(const char *name, unsigned width, int format)
{
	const struct view *view = view_find(name);
	struct view_request request = { .program = "test", .width = width, .format = format };
	const char *words[] = { path };
	struct trace_set set;
	struct error err;
	char *text = NULL;
	size_t bytes;

	assert_non_null(view);
	query_init(&request.query);
	request.out = open_memstream(&text, &bytes);
	request.words = (struct option_list){ words, 1 };
	assert_int_equal(trace_set_open(words, 1, &set, &err), 0);
	assert_int_equal(view->show(&request, &set, &err), 0);
	fclose(request.out);
	trace_set_close(&set);
	query_release(&request.query);
	return text;
}

static void assert_shows(const char *name, unsigned width, const char *expected)
{
	char *text = shown(name, width, FORMAT_TEXT);

	assert_string_equal(text, expected);
	free(text);
}

/* ---- golden outputs ---- */

static void top_sites_is_a_table_that_adds_up(void **state)
{
	(void)state;
	assert_shows("top-sites", 80,
		"app --flag: pid 4242, 200 us, exact\n"
		"\n"
		"allocated   share  calls   live  at peak  temporary  call site\n"
		"    9.77K   65.5%     10  1.95K    9.77K          0  app+0x1010\n"
		"    4.88K   32.8%      1  4.88K    4.88K          0  app+0x1030\n"
		"     256B    1.7%      4      0        0          4  app+0x1020\n"
		"    14.9K  100.0%     15  6.84K    14.6K          4  total of 3 sites\n");
}

static void peak_is_what_the_heap_held_when_it_was_largest(void **state)
{
	(void)state;
	assert_shows("peak", 80,
		"app --flag: pid 4242, 200 us, exact\n"
		"\n"
		"at peak   share  blocks  live at end  allocated  call site\n"
		"  9.77K   66.7%      10        1.95K      9.77K  app+0x1010\n"
		"  4.88K   33.3%       1        4.88K      4.88K  app+0x1030\n"
		"  14.6K  100.0%      11        6.84K      14.6K  total of 2 sites\n");
}

static void leaks_shows_stacks_and_leaves_out_what_was_freed(void **state)
{
	(void)state;
	assert_shows("leaks", 80,
		"app --flag: pid 4242, 200 us, exact\n"
		"\n"
		"not freed   share  blocks  of calls  call site\n"
		"    4.88K   71.4%       1         1  app+0x1030\n"
		"      app+0x1030\n"
		"      app+0x2000\n"
		"      app+0x3000\n"
		"    1.95K   28.6%       2        10  app+0x1010\n"
		"      app+0x1010\n"
		"      app+0x2000\n"
		"      app+0x3000\n"
		"    6.84K  100.0%       3        11  total of 2 sites\n");
}

static void snapshots_name_moments_in_time_order(void **state)
{
	(void)state;
	assert_shows("snapshots", 80,
		"moment     time   live  blocks  change\n"
		"@warm   64.0 us  9.77K      10  +9.77K  caches filled\n"
		"@peak    200 us  14.6K      11  +4.88K\n"
		"@end     200 us  6.84K       3  -7.81K\n");
}

static void the_tree_goes_from_main_down(void **state)
{
	(void)state;
	assert_shows("tree", 80,
		"app --flag: pid 4242, 200 us, exact\n"
		"\n"
		"allocated   share    own  call tree\n"
		"    14.9K  100.0%      -  app+0x3000\n"
		"    14.9K  100.0%      -  └ app+0x2000\n"
		"    9.77K   65.5%  9.77K    ├ app+0x1010\n"
		"    4.88K   32.8%  4.88K    ├ app+0x1030\n"
		"     256B    1.7%   256B    └ app+0x1020\n"
		"    14.9K  100.0%         total\n");
}

static void sizes_tell_classes_and_slack(void **state)
{
	char *text = shown("sizes", 80, FORMAT_TEXT);

	(void)state;
	assert_non_null(strstr(text, "    33 - 64      4   26.7%       256B     100.0%"));
	assert_non_null(strstr(text, "up to 8.00K"));
	free(text);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	static const char *const names[] = { "top-sites", "peak", "leaks", "snapshots", "events",
					     "churn", "callers", "tree", "sizes", "lifetimes",
					     "threads", "modules" };
	static const unsigned widths[] = { 40, 80, 100, 120 };

	(void)state;
	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		for (size_t w = 0; w < 4; w++) {
			char *text = shown(names[n], widths[w], FORMAT_TEXT), *rest = text, *line;

			while ((line = strsep(&rest, "\n")))
				if (text_columns(line) > widths[w] && strncmp(line, "app", 3) &&
				    strncmp(line, "short", 5) && strncmp(line, "thread b", 8) &&
				    strncmp(line, "slack", 5))
					fail_msg("%s at %u: %s", names[n], widths[w], line);
			free(text);
		}
}

/* ---- the parts ---- */

static void names_are_cut_in_the_middle(void **state)
{
	char text[64];

	(void)state;
	assert_string_equal(text_cut("abcdefghij", 7, text, sizeof(text)), "abc…hij");
	assert_string_equal(text_cut("abc", 7, text, sizeof(text)), "abc");
	assert_string_equal(text_cut("äöüßäöüßäö", 5, text, sizeof(text)), "äö…äö");
}

static void numbers_have_three_digits_and_a_unit(void **state)
{
	char text[UNITS_BYTES];
	struct number n = { .count = 100, .bytes = 2048, .bytes_variance = 204.8 * 204.8 };

	(void)state;
	assert_string_equal(units_bytes(text, 0, false), "0");
	assert_string_equal(units_bytes(text, 1023, false), "1023B");
	assert_string_equal(units_bytes(text, 1024, false), "1.00K");
	assert_string_equal(units_bytes(text, 1048575, false), "1.00M");
	assert_string_equal(units_bytes(text, -1536, false), "-1.50K");
	assert_string_equal(units_bytes(text, 123456, true), "123456");
	assert_string_equal(units_count(text, 9999, false), "9999");
	assert_string_equal(units_count(text, 1234567, false), "1.23M");
	assert_string_equal(units_duration(text, 1500000000), "1.50 s");
	assert_string_equal(units_duration(text, 7500000000000), "2h 05m");
	assert_string_equal(units_percent(text, 1, 8), "12.5%");
	assert_string_equal(units_number(text, &n, false, false), "2.00K ±10%");
}

static void control_characters_of_names_do_not_reach_the_terminal(void **state)
{
	static const struct table_column columns[] = { { "name", TABLE_LEFT, true } };
	struct table *table = table_new(columns, 1);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	table_row(table);
	table_cell(table, TABLE_PLAIN, "a\033[31mb\n");
	table_print(table, out, 80, false);
	fclose(out);
	assert_string_equal(text, "name\na?[31mb?\n");
	table_free(table);
	free(text);
}

static void json_strings_are_utf8_whatever_went_in(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	struct json json;

	(void)state;
	json_init(&json, out);
	json_row_begin(&json, NULL);
	json_string(&json, "k", "a\"\\\n\x01\xff\xc3\xa4\xed\xa0\x80z");
	json_double(&json, "n", 0.0 / 0.0);
	json_double(&json, "w", 1e15);
	json_object_end(&json);
	fclose(out);
	assert_string_equal(text,
			    "{\"k\": \"a\\\"\\\\\\n\\u0001\xef\xbf\xbdä\xef\xbf\xbd\xef\xbf\xbd"
			    "\xef\xbf\xbdz\", \"n\": null, \"w\": 1000000000000000}");
	free(text);
}

static int remove_trace(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(top_sites_is_a_table_that_adds_up),
		cmocka_unit_test(peak_is_what_the_heap_held_when_it_was_largest),
		cmocka_unit_test(leaks_shows_stacks_and_leaves_out_what_was_freed),
		cmocka_unit_test(snapshots_name_moments_in_time_order),
		cmocka_unit_test(the_tree_goes_from_main_down),
		cmocka_unit_test(sizes_tell_classes_and_slack),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(names_are_cut_in_the_middle),
		cmocka_unit_test(numbers_have_three_digits_and_a_unit),
		cmocka_unit_test(control_characters_of_names_do_not_reach_the_terminal),
		cmocka_unit_test(json_strings_are_utf8_whatever_went_in),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	snprintf(path, sizeof(path), "%s/views.%d.trace",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	make_trace();
	return cmocka_run_group_tests(tests, NULL, remove_trace);
}
