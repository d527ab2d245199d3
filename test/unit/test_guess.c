/* LINK: analyzer */
/*
 * "Did you mean": usual slips of the fingers are understood, other words are not.
 */
#include "util/guess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char *const names[] = { "leaks",	 "timeline",  "top-sites", "snapshots",
				     "max-peak", "max-leaked", "run",	     "report" };

static const char *guessed(const char *word)
{
	struct guess guess = guess_of(word, strlen(word));

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		guess_offer(&guess, names[i]);
	return guess.best ? guess.best : "nothing";
}

static void slips_of_the_fingers_are_understood(void **state)
{
	(void)state;
	assert_string_equal(guessed("leak"), "leaks");
	assert_string_equal(guessed("laeks"), "leaks");
	assert_string_equal(guessed("timelien"), "timeline");
	assert_string_equal(guessed("topsites"), "top-sites");
	assert_string_equal(guessed("max-leakd"), "max-leaked");
	assert_string_equal(guessed("max-leak"), "max-leaked");
	assert_string_equal(guessed("max-paek"), "max-peak");
	assert_string_equal(guessed("rn"), "run");
	assert_string_equal(guessed("reprot"), "report");
}

static void the_beginning_of_a_name_is_enough(void **state)
{
	(void)state;
	assert_string_equal(guessed("snap"), "snapshots");
	assert_string_equal(guessed("top"), "top-sites");
}

static void other_words_are_no_slips(void **state)
{
	(void)state;
	assert_string_equal(guessed("frobnicate"), "nothing");
	assert_string_equal(guessed("x"), "nothing");
	assert_string_equal(guessed(""), "nothing");
	assert_string_equal(guessed("banana"), "nothing");
	assert_string_equal(guessed("a-word-that-is-longer-than-any-name-that-there-could-be"),
			    "nothing");
}

static void only_the_length_that_is_told_counts(void **state)
{
	struct guess guess = guess_of("max-paek=24M", 8);
	char hint[GUESS_HINT];

	(void)state;
	assert_string_equal(guess_hint(&guess, "--", hint), "");
	guess_offer(&guess, "max-peak");
	assert_string_equal(guess_hint(&guess, "--", hint), ": did you mean --max-peak?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slips_of_the_fingers_are_understood),
		cmocka_unit_test(the_beginning_of_a_name_is_enough),
		cmocka_unit_test(other_words_are_no_slips),
		cmocka_unit_test(only_the_length_that_is_told_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
