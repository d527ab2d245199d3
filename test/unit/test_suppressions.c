/* LINK: analyzer */
/*
 * Suppressions: LeakSanitizer's lines and valgrind's blocks, what they cover
 * and what they must not, and errors that name the line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "model/suppressions.h"

static const struct suppression_frame stack[] = {
	{ "malloc", "malloc", NULL, "/usr/lib/libc.so.6", false },
	{ "pool::grow(int)", "_ZN4pool4growEi", "/src/app/pool.cc", "/usr/bin/app", false },
	{ "serve", "serve", "/src/app/serve.c", "/usr/bin/app", false },
	{ "main", "main", "/src/app/main.c", "/usr/bin/app", false },
};
#define FRAMES (sizeof(stack) / sizeof(stack[0]))

static int match(const char *text)
{
	struct suppressions *list = suppressions_new();
	struct error err = { 0 };
	int found;

	assert_int_equal(suppressions_parse(list, "test", text, strlen(text), &err), 0);
	found = suppressions_match(list, stack, FRAMES, 2, 48);
	suppressions_free(list);
	return found;
}

static void a_leak_line_covers_function_file_and_module(void **state)
{
	(void)state;
	assert_int_equal(match("leak:grow"), 0);
	assert_int_equal(match("leak:_ZN4pool"), 0);
	assert_int_equal(match("leak:pool.cc"), 0);
	assert_int_equal(match("leak:libc.so"), 0);
	assert_int_equal(match("leak:nothing_like_it"), -1);
}

static void anchors_and_stars_tie_a_pattern(void **state)
{
	(void)state;
	assert_int_equal(match("leak:^serve$"), 0);
	assert_int_equal(match("leak:^erve"), -1);
	assert_int_equal(match("leak:serv$"), -1);
	assert_int_equal(match("leak:^/src/*/serve.c$"), 0);
	assert_int_equal(match("leak:p*w(int"), 0);
	assert_int_equal(match("leak:s?rve"), -1);
}

static void other_prefixes_look_at_one_part_alone(void **state)
{
	(void)state;
	assert_int_equal(match("function:serve"), 0);
	assert_int_equal(match("function:serve.c"), -1);
	assert_int_equal(match("file:serve.c"), 0);
	assert_int_equal(match("module:/usr/bin/app"), 0);
	assert_int_equal(match("module:serve"), -1);
}

static void a_block_meets_the_innermost_frames_in_order(void **state)
{
	(void)state;
	assert_int_equal(match("{\n a\n Memcheck:Leak\n fun:malloc\n fun:_ZN4pool*\n}\n"), 0);
	assert_int_equal(match("{\n a\n Memcheck:Leak\n fun:malloc\n fun:serve\n}\n"), -1);
	assert_int_equal(match("{\n a\n Memcheck:Leak\n fun:malloc\n ...\n fun:s?rve\n}\n"), 0);
	assert_int_equal(match("{\n a\n Memcheck:Leak\n ...\n obj:*/app\n fun:main\n}\n"), 0);
	assert_int_equal(match("{\n a\n Memcheck:Leak\n ...\n fun:main\n fun:more\n}\n"), -1);
	assert_int_equal(match("{\n a\n Memcheck:Leak\n match-leak-kinds: reachable\n"
			       " fun:malloc\n}\n"), 0);
}

/* As traces have them: behind malloc, with readable names. */
static const struct suppression_frame recorded[] = {
	{ "__strdup", NULL, NULL, "/usr/lib/libc.so.6", true },
	{ "pool::grow(int)", NULL, "/src/app/pool.cc", "/usr/bin/app", false },
	{ "main", NULL, "/src/app/main.c", "/usr/bin/app", false },
};

static int match_recorded(const char *text)
{
	struct suppressions *list = suppressions_new();
	struct error err = { 0 };
	int found;

	assert_int_equal(suppressions_parse(list, "test", text, strlen(text), &err), 0);
	found = suppressions_match(list, recorded, 3, 2, 48);
	suppressions_free(list);
	return found;
}

static void a_block_of_valgrind_meets_what_a_trace_has_of_its_stack(void **state)
{
	(void)state;
	assert_int_equal(match_recorded("{\n a\n Memcheck:Leak\n fun:malloc\n fun:strdup\n"
					" fun:_ZN4pool4growEi\n fun:main\n}\n"), 0);
	assert_int_equal(match_recorded("{\n a\n Memcheck:Leak\n fun:malloc\n ...\n fun:main\n"
					"}\n"), 0);
	assert_int_equal(match_recorded("{\n a\n Memcheck:Leak\n fun:_Znwm\n"
					" fun:_ZN4pool4growEi\n}\n"), 0);
	assert_int_equal(match_recorded("{\n a\n Memcheck:Leak\n fun:malloc\n fun:main\n}\n"), -1);
	assert_int_equal(match_recorded("{\n a\n Memcheck:Leak\n fun:_ZN4pool4growEl\n}\n"), -1);
	assert_int_equal(match_recorded("{\n a\n Memcheck:Leak\n fun:malloc\n}\n"), -1);
}

static void a_block_may_leave_out_wrappers_alone(void **state)
{
	(void)state;
	assert_int_equal(match_recorded("{\n a\n Memcheck:Leak\n fun:_ZN4pool4growEi\n"
					" fun:main\n}\n"), 0);
	assert_int_equal(match_recorded("{\n a\n Memcheck:Leak\n fun:main\n}\n"), -1);
}

static void blocks_of_other_kinds_are_passed_over(void **state)
{
	(void)state;
	assert_int_equal(match("{\n a\n Memcheck:Cond\n fun:malloc\n}\n"), -1);
	assert_int_equal(match("{\n a\n Helgrind:Race\n fun:*\n}\nleak:serve\n"), 0);
}

static void uses_are_counted_and_the_unused_stay_at_zero(void **state)
{
	const char *text = "# first\nleak:absent\n\nleak:serve\n";
	struct suppressions *list = suppressions_new();
	struct suppression_use use;

	(void)state;
	assert_int_equal(suppressions_parse(list, "f", text, strlen(text), NULL), 0);
	assert_int_equal(suppressions_match(list, stack, FRAMES, 2, 48), 1);
	assert_int_equal(suppressions_match(list, stack, FRAMES, 1, 10), 1);
	use = suppressions_use(list, 1);
	assert_string_equal(use.text, "leak:serve");
	assert_int_equal(use.line, 4);
	assert_int_equal(use.stacks, 2);
	assert_true(use.blocks == 3 && use.bytes == 58);
	assert_int_equal(suppressions_use(list, 0).stacks, 0);
	suppressions_free(list);
}

static void a_bad_line_is_named_and_nothing_of_its_file_is_kept(void **state)
{
	static const char *bad[] = {
		"leak:good\nleek:typo\n",   "leak:good\nleak:\n",
		"leak:good\n{\nname\n}\n",  "leak:good\n{\nname\nMemcheck:Leak\nfun:x\n",
		"leak:good\n{\n",           "leak:good\n{\nname\nMemcheck:Leak\nfan:x\n}\n",
		"leak:good\n{\nname\nMemcheck:Leak\n}\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct suppressions *list = suppressions_new();
		struct error err = { 0 };

		assert_int_equal(suppressions_parse(list, "f", bad[i], strlen(bad[i]), &err),
				 ERROR_USAGE);
		assert_non_null(strstr(err.file, "f: line "));
		assert_int_equal(suppressions_count(list), 0);
		suppressions_free(list);
	}
}

static void what_is_generated_covers_the_stack_it_was_made_from(void **state)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	suppressions_generate(out, stack + 1, FRAMES - 1, "leak 1");
	fclose(out);
	assert_int_equal(match(text), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leak_line_covers_function_file_and_module),
		cmocka_unit_test(anchors_and_stars_tie_a_pattern),
		cmocka_unit_test(other_prefixes_look_at_one_part_alone),
		cmocka_unit_test(a_block_meets_the_innermost_frames_in_order),
		cmocka_unit_test(a_block_of_valgrind_meets_what_a_trace_has_of_its_stack),
		cmocka_unit_test(a_block_may_leave_out_wrappers_alone),
		cmocka_unit_test(blocks_of_other_kinds_are_passed_over),
		cmocka_unit_test(uses_are_counted_and_the_unused_stay_at_zero),
		cmocka_unit_test(a_bad_line_is_named_and_nothing_of_its_file_is_kept),
		cmocka_unit_test(what_is_generated_covers_the_stack_it_was_made_from),
	};
	return cmocka_run_group_tests_name("suppressions", tests, NULL, NULL);
}
