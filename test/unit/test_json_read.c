/* LINK: analyzer */
/*
 * The JSON reader: values as they were written, and refusal of what is none,
 * also when it is cut at any byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "util/json_read.h"

static const char sample[] =
	"{ \"a\": [1, -2.5e3, true, false, null], \"s\": \"q\\\"\\u00e9\\ud83d\\ude00\\n\",\n"
	"  \"o\": {\"x\": {}, \"y\": []} }\n";

static void values_are_read_as_they_were_written(void **state)
{
	struct json_document *document;
	const struct json_value *root, *array;

	(void)state;
	assert_int_equal(json_parse("t", sample, strlen(sample), &document, NULL), 0);
	root = json_root(document);
	array = json_get(root, "a");
	assert_int_equal(array->count, 5);
	assert_true(array->items[0].number == 1 && array->items[1].number == -2500);
	assert_true(array->items[2].boolean && !array->items[3].boolean);
	assert_int_equal(array->items[4].type, JSON_NULL);
	assert_string_equal(json_get_string(root, "s", ""), "q\"\xc3\xa9\xf0\x9f\x98\x80\n");
	assert_int_equal(json_get(json_get(root, "o"), "y")->type, JSON_ARRAY);
	assert_null(json_get(json_get(root, "nowhere"), "x"));
	assert_true(json_get_number(root, "s", 7) == 7);
	json_free(document);
}

static void every_cut_is_refused(void **state)
{
	size_t bytes = strlen(sample) - 2, i;

	(void)state;
	for (i = 0; i < bytes; i++) {
		char *copy = malloc(i ? i : 1);
		struct json_document *document;

		memcpy(copy, sample, i);
		assert_int_equal(json_parse("t", copy, i, &document, NULL), ERROR_FORMAT);
		free(copy);
	}
}

static void what_is_no_json_is_refused_with_its_line(void **state)
{
	static const char *bad[] = {
		"{\n\n'a': 1}", "[1,]", "[1 2]", "{\"a\" 1}", "\"\\x\"", "\"\\ud800\"",
		"\"\\u0000\"", "nul", "+1", ".5", "1 2", "\"a\nb\"", "{\"a\":1,}", "01x",
	};
	char deep[200];
	struct json_document *document;
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(json_parse("t", bad[i], strlen(bad[i]), &document, &err),
				 ERROR_FORMAT);
	assert_int_equal(json_parse("t", bad[0], strlen(bad[0]), &document, &err), ERROR_FORMAT);
	assert_string_equal(err.file, "t: line 3");
	memset(deep, '[', sizeof(deep));
	assert_int_equal(json_parse("t", deep, sizeof(deep), &document, &err), ERROR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read_as_they_were_written),
		cmocka_unit_test(every_cut_is_refused),
		cmocka_unit_test(what_is_no_json_is_refused_with_its_line),
	};
	return cmocka_run_group_tests_name("json_read", tests, NULL, NULL);
}
