/* LINK: library */
/*
 * The MEMPROF_* variables: every default, what each kind of value may look like,
 * and that a bad one is named and does no harm.
 */
#include "settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "log.h"
#include "memprof/variables.h"

static struct settings settings;
static unsigned complaints;
static char complained_of[64];

static void count_complaint(const char *name, const char *value, const char *wanted)
{
	complaints++;
	snprintf(complained_of, sizeof(complained_of), "%s=%s", name, value);
	assert_true(strlen(wanted) > 0);
}

static void read_one(const char *variable)
{
	char *environment[] = { "HOME=/", (char *)variable, "PATH=/bin", NULL };

	memset(&settings, 0xee, sizeof(settings));
	complaints = 0;
	settings_read(&settings, environment, count_complaint);
}

static void every_setting_has_the_default_that_the_manual_tells(void **state)
{
	(void)state;
	read_one("OTHER=1");
	assert_int_equal(settings.rate_bytes, 512 * 1024);
	assert_int_equal(settings.depth, 256);
	assert_int_equal(settings.record_mmap, 1);
	assert_int_equal(settings.follow_children, 1);
	assert_int_equal(settings.start_active, 1);
	assert_int_equal(settings.reading_ns, 100000000);
	assert_int_equal(settings.free_stacks, 0);
	assert_true(settings.max_trace_bytes == UINT64_MAX);
	assert_int_equal(settings.log_level, LOG_WARN);
	assert_string_equal(settings.output, "memprof.%e.%p.trace");
	assert_int_equal(complaints, 0);
}

static void sizes_take_the_suffixes_k_m_g(void **state)
{
	static const struct {
		const char *variable;
		uint64_t bytes;
	} rows[] = {
		{ "MEMPROF_RATE=1", 1 },
		{ "MEMPROF_RATE=64K", 64 << 10 },
		{ "MEMPROF_RATE=64k", 64 << 10 },
		{ "MEMPROF_RATE=64KiB", 64 << 10 },
		{ "MEMPROF_RATE=3M", 3 << 20 },
		{ "MEMPROF_RATE=2G", 2ull << 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		read_one(rows[i].variable);
		assert_int_equal(complaints, 0);
		assert_int_equal(settings.rate_bytes, rows[i].bytes);
	}
}

static void times_take_units(void **state)
{
	(void)state;
	read_one("MEMPROF_READINGS=250us");
	assert_int_equal(settings.reading_ns, 250000);
	read_one("MEMPROF_READINGS=2s");
	assert_int_equal(settings.reading_ns, 2000000000);
	read_one("MEMPROF_READINGS=0");
	assert_int_equal(settings.reading_ns, 0);
	assert_int_equal(complaints, 0);
}

static void a_seed_is_taken_and_without_one_it_is_random(void **state)
{
	uint64_t first;

	(void)state;
	read_one("MEMPROF_SEED=77");
	assert_int_equal(settings.seed, 77);
	read_one("A=B");
	first = settings.seed;
	read_one("A=B");
	assert_true(settings.seed != first);
}

static void a_bad_value_is_named_once_and_the_default_used(void **state)
{
	static const char *const bad[] = {
		"MEMPROF_RATE=0",          "MEMPROF_RATE=",
		"MEMPROF_RATE=12X",        "MEMPROF_RATE=-1",
		"MEMPROF_RATE=5 K",        "MEMPROF_RATE=99999999999999999999",
		"MEMPROF_RATE=16777216T",  "MEMPROF_RATE=1KK",
		"MEMPROF_RATE=2T",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		read_one(bad[i]);
		assert_int_equal(settings.rate_bytes, 512 * 1024);
		if (!strcmp(bad[i], "MEMPROF_RATE=")) {
			assert_int_equal(complaints, 0);
			continue;
		}
		assert_int_equal(complaints, 1);
		assert_string_equal(complained_of, bad[i]);
	}
}

static void switches_take_0_and_1_only(void **state)
{
	(void)state;
	read_one("MEMPROF_MMAP=0");
	assert_int_equal(settings.record_mmap, 0);
	read_one("MEMPROF_MMAP=2");
	assert_int_equal(settings.record_mmap, 1);
	assert_int_equal(complaints, 1);
	read_one("MEMPROF_CHILDREN=no");
	assert_int_equal(settings.follow_children, 1);
	assert_int_equal(complaints, 1);
}

static void an_output_that_is_too_long_is_refused(void **state)
{
	char variable[2200] = "MEMPROF_OUTPUT=";

	(void)state;
	memset(variable + strlen(variable), 'x', 2000);
	read_one(variable);
	assert_int_equal(complaints, 1);
	assert_string_equal(settings.output, "memprof.%e.%p.trace");
}

static void the_text_of_all_settings_can_be_read_back(void **state)
{
	char text[4096], *lines[32], *line;
	struct settings again;
	unsigned count = 0;
	size_t length;

	(void)state;
	read_one("MEMPROF_RATE=3M");
	settings.max_trace_bytes = 123456;
	settings.log_level = LOG_INFO;
	length = settings_text(&settings, text, sizeof(text));
	assert_int_equal(length, strlen(text));
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		lines[count++] = line;
	lines[count] = NULL;
	complaints = 0;
	settings_read(&again, lines, count_complaint);
	assert_int_equal(complaints, 0);
	assert_int_equal(again.rate_bytes, 3 << 20);
	assert_int_equal(again.max_trace_bytes, 123456);
	assert_int_equal(again.seed, settings.seed);
	assert_int_equal(again.reading_ns, 100000000);
	assert_int_equal(again.log_level, LOG_INFO);
	assert_string_equal(again.output, settings.output);
}

static void a_text_without_room_is_cut(void **state)
{
	char text[40];

	(void)state;
	read_one("A=B");
	memset(text, 'x', sizeof(text));
	assert_true(settings_text(&settings, text, sizeof(text)) < sizeof(text));
	assert_int_equal(strnlen(text, sizeof(text)), sizeof(text) - 1);
}

static void memprof_run_knows_every_setting_by_name(void **state)
{
	char *environment[] = { NULL };
	char text[8192], *line, *rest = text;
	size_t count = 0;

	(void)state;
	settings_read(&settings, environment, count_complaint);
	assert_true(settings_text(&settings, text, sizeof(text)) < sizeof(text));
	for (; (line = strtok_r(rest, "\n", &rest)); count++) {
		assert_true(count < MEMPROF_VARIABLES);
		line[strcspn(line, "=")] = '\0';
		assert_string_equal(line, memprof_variables[count]);
	}
	assert_int_equal(count, MEMPROF_VARIABLES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_setting_has_the_default_that_the_manual_tells),
		cmocka_unit_test(sizes_take_the_suffixes_k_m_g),
		cmocka_unit_test(times_take_units),
		cmocka_unit_test(a_seed_is_taken_and_without_one_it_is_random),
		cmocka_unit_test(a_bad_value_is_named_once_and_the_default_used),
		cmocka_unit_test(switches_take_0_and_1_only),
		cmocka_unit_test(an_output_that_is_too_long_is_refused),
		cmocka_unit_test(the_text_of_all_settings_can_be_read_back),
		cmocka_unit_test(a_text_without_room_is_cut),
		cmocka_unit_test(memprof_run_knows_every_setting_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
