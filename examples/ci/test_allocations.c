/*
 * Asserts on a function's allocations from inside a cmocka test: "it leaks
 * nothing", "it allocates at most N times". The test marks the moments before and
 * after the call through memprof.h; its own trace, readable while it runs, is
 * then asked by the usual commands.
 *
 *	gcc -g -I.../include test_allocations.c -lcmocka -o test_allocations
 *	MEMPROF_RATE=1 MEMPROF_OUTPUT=%p.trace LD_PRELOAD=/path/libmemprof.so \
 *		./test_allocations
 *
 * Without the library the marks do nothing and the tests are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memprof/memprof.h"

/* ---- what is tested ------------------------------------------------------------- */

static char *join(const char *a, const char *b)
{
	char *text = malloc(strlen(a) + strlen(b) + 1);

	strcpy(text, a);
	return strcat(text, b);
}

static void greet(void)
{
	char *text = join("good ", "morning");

	free(text);
}

/* ---- the assertions -------------------------------------------------------------- */

/* Sums a column of the sites between the snapshots "before" and "after". The
 * library stays out of the commands themselves. -1: there was no answer. */
static double between(const char *column)
{
	char command[1024];
	double number = -1;
	FILE *answer;

	snprintf(command, sizeof(command),
		 "LD_PRELOAD=; sites=$(memprof-report top-sites --format csv --limit 0 "
		 "--from before --to after %d.trace) && echo \"$sites\" | awk -F, '"
		 "NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"%s\") c = i } "
		 "NR > 1 { n += $c } END { print n + 0 }'", (int)getpid(), column);
	answer = popen(command, "r");
	if (answer && fscanf(answer, "%lf", &number) != 1)
		number = -1;
	if (answer)
		pclose(answer);
	return number;
}

#define assert_leaks_nothing(call)                                                                 \
	do {                                                                                       \
		memprof_snapshot("before");                                                        \
		call;                                                                              \
		memprof_snapshot("after");                                                         \
		assert_true(between("live_count") == 0);                                           \
	} while (0)

#define assert_allocates_at_most(count, call)                                                      \
	do {                                                                                       \
		memprof_snapshot("before");                                                        \
		call;                                                                              \
		memprof_snapshot("after");                                                         \
		assert_true(between("allocated_count") >= 0);                                      \
		assert_true(between("allocated_count") <= (count));                             \
	} while (0)

/* ---- tests ------------------------------------------------------------------------ */

static void greeting_leaks_nothing(void **state)
{
	(void)state;
	if (!memprof_is_active())
		skip();
	assert_leaks_nothing(greet());
}

static void greeting_allocates_once(void **state)
{
	(void)state;
	if (!memprof_is_active())
		skip();
	assert_allocates_at_most(1, greet());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(greeting_leaks_nothing),
		cmocka_unit_test(greeting_allocates_once),
	};
	return cmocka_run_group_tests_name("allocations", tests, NULL, NULL);
}
