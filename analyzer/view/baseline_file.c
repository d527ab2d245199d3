/*
 * See baseline_file.h.
 */
#include "view/baseline_file.h"

#include "util/json_read.h"
#include "view/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "memprof.baseline/1"
#define FRAMES_MAX 512
#define NUMBER_MAX 0x1p63 /* no program allocates more, in blocks or bytes */

/* Metrics that a baseline keeps. "freed" is allocated less live. */
static const struct kept {
	const char *name;
	enum metric metric;
} kept[] = {
	{ "leaked", METRIC_LIVE },
	{ "peak", METRIC_PEAK },
	{ "allocated", METRIC_ALLOCATED },
	{ "temporary", METRIC_TEMPORARY },
};

#define KEPT (sizeof(kept) / sizeof(kept[0]))

static void write_tally(struct json *json, const struct tally *tally)
{
	size_t i;

	for (i = 0; i < KEPT; i++)
		json_number(json, kept[i].name, &tally->of[kept[i].metric]);
}

static void write_entries(struct json *json, const char *key, const char *name_key,
			  const struct baseline_entries *entries)
{
	size_t i;

	json_array_begin(json, key);
	for (i = 0; i < entries->count; i++) {
		json_row_begin(json, NULL);
		json_string(json, name_key, entries->items[i].name);
		write_tally(json, &entries->items[i].tally);
		json_object_end(json);
	}
	json_array_end(json);
}

void baseline_write(const struct baseline *baseline, const char *command, FILE *out)
{
	struct tally whole = baseline->totals;
	struct json json;

	number_add(&whole.of[METRIC_LIVE], &baseline->suppressed);
	json_init(&json, out);
	json_object_begin(&json, NULL);
	json_string(&json, "schema", SCHEMA);
	json_string(&json, "command", command);
	json_bool(&json, "exact", baseline->exact);
	json_unsigned(&json, "rate_bytes", baseline->rate_bytes);
	json_unsigned(&json, "samples", baseline->samples);
	json_row_begin(&json, "totals");
	write_tally(&json, &whole);
	json_object_end(&json);
	write_entries(&json, "stacks", "stack", &baseline->stacks);
	write_entries(&json, "sites", "site", &baseline->sites);
	json_object_end(&json);
	json_end(&json);
}

static bool is_possible(const struct json_value *value)
{
	size_t i;

	for (i = 0; value && i < value->count; i++)
		if (value->items[i].type == JSON_NUMBER &&
		    !(value->items[i].number >= 0 && value->items[i].number <= NUMBER_MAX))
			return false;
	return true;
}

static struct number read_number(const struct json_value *value)
{
	double count_error = json_get_number(value, "count_error", 0);
	double bytes_error = json_get_number(value, "bytes_error", 0);

	return (struct number){
		.count = json_get_number(value, "count", 0),
		.bytes = json_get_number(value, "bytes", 0),
		.count_variance = count_error * count_error,
		.bytes_variance = bytes_error * bytes_error,
	};
}

static uint64_t read_count(const struct json_value *object, const char *name, double least)
{
	return (uint64_t)fmin(NUMBER_MAX, fmax(least, json_get_number(object, name, least)));
}

/* @what for errors: "totals", or a stack's name. */
static int read_tally(const char *path, const struct json_value *object, const char *what,
		      struct tally *tally, struct error *err)
{
	const struct json_value *value;
	size_t i;

	*tally = (struct tally){ 0 };
	for (i = 0; i < KEPT; i++) {
		value = json_get(object, kept[i].name);
		if (!is_possible(value))
			return error_set(err, ERROR_FORMAT, path, ERROR_NO_OFFSET,
					 "no program has such a number: %s of %.100s",
					 kept[i].name, what);
		tally->of[kept[i].metric] = read_number(value);
	}
	return 0;
}

static bool is_suppressed_name(struct suppressions *suppressions, const char *name)
{
	struct suppression_frame frames[FRAMES_MAX];
	char *copy = suppressions && suppressions_count(suppressions) ? strdup(name) : NULL;
	bool covered;

	if (!copy)
		return false;
	covered = suppressions_match(suppressions, frames,
				     baseline_split_name(copy, frames, FRAMES_MAX), 0, 0) >= 0;
	free(copy);
	return covered;
}

static int read_entries(const char *path, const struct json_value *array, const char *name_key,
			struct suppressions *suppressions, struct baseline_entries *entries,
			struct error *err)
{
	size_t i;

	if (!array || array->type != JSON_ARRAY)
		return error_set(err, ERROR_FORMAT, path, ERROR_NO_OFFSET,
				 "is no baseline: it has no list of %ss", name_key);
	for (i = 0; i < array->count; i++) {
		const char *name = json_get_string(&array->items[i], name_key, NULL);
		struct tally tally;
		int code;

		if (!name)
			return error_set(err, ERROR_FORMAT, path, ERROR_NO_OFFSET,
					 "%s %zu has no name", name_key, i + 1);
		code = read_tally(path, &array->items[i], name, &tally, err);
		if (code)
			return code;
		if (baseline_entries_add(entries, strdup(name), &tally,
				is_suppressed_name(suppressions, name), NULL))
			return error_set(err, ERROR_MEMORY, path, ERROR_NO_OFFSET,
					 "out of memory");
	}
	return 0;
}

static void take_suppressed(struct baseline *baseline)
{
	size_t i;

	for (i = 0; i < baseline->stacks.count; i++)
		if (baseline->stacks.items[i].is_suppressed)
			number_add(&baseline->suppressed,
				   &baseline->stacks.items[i].tally.of[METRIC_LIVE]);
	number_remove(&baseline->totals.of[METRIC_LIVE], &baseline->suppressed);
}

int baseline_load(const char *path, struct suppressions *suppressions, struct baseline **result,
		  struct error *err)
{
	struct baseline *baseline = NULL;
	struct json_document *document;
	const struct json_value *root, *exact;
	int code = json_load(path, &document, err);

	if (code)
		return code;
	root = json_root(document);
	if (strcmp(json_get_string(root, "schema", ""), SCHEMA))
		code = error_set(err, ERROR_FORMAT, path, ERROR_NO_OFFSET,
				 "is no baseline of memprof-gate (its schema is not " SCHEMA ")");
	else if (!(baseline = calloc(1, sizeof(*baseline))))
		code = error_set(err, ERROR_MEMORY, path, ERROR_NO_OFFSET, "out of memory");
	if (!code)
		code = read_entries(path, json_get(root, "stacks"), "stack", suppressions,
				    &baseline->stacks, err);
	if (!code)
		code = read_entries(path, json_get(root, "sites"), "site", NULL, &baseline->sites,
				    err);
	if (!code)
		code = read_tally(path, json_get(root, "totals"), "totals", &baseline->totals, err);
	if (code) {
		baseline_free(baseline);
		goto done;
	}
	exact = json_get(root, "exact");
	baseline->path = strdup(path);
	baseline->exact = exact && exact->type == JSON_BOOL && exact->boolean;
	baseline->rate_bytes = read_count(root, "rate_bytes", 1);
	baseline->samples = read_count(root, "samples", 0);
	baseline_entries_merge(&baseline->stacks);
	baseline_entries_merge(&baseline->sites);
	take_suppressed(baseline);
	*result = baseline;
done:
	json_free(document);
	return code;
}
