/*
 * sizes: which block sizes are asked for, in classes of powers of two, and what
 * the allocator adds to them (slack), by the rule of glibc's malloc.
 */
#include "model/filtered_pass.h"
#include "model/histogram.h"
#include "view/bar.h"
#include "view/multi.h"

#include <inttypes.h>
#include <string.h>

static char *class_words(char *text, unsigned class)
{
	char high[UNITS_BYTES];

	if (class < 1)
		return strcpy(text, "0");
	if (class == SIZE_CLASSES - 1)
		return strcpy(text, "above 1G");
	if (class > 7)
		snprintf(text, UNITS_BYTES, "up to %s",
			 units_bytes(high, (double)size_class_limits[class], false));
	else
		snprintf(text, UNITS_BYTES, "%" PRIu64 " - %" PRIu64,
			 size_class_limits[class - 1] + 1, size_class_limits[class]);
	return text;
}

/* The rule of glibc is told of glibc alone. */
static bool has_slack(const struct trace *trace)
{
	return !trace->info.allocator || !*trace->info.allocator ||
	       strstr(trace->info.allocator, "libc.so") != NULL;
}

static void print_json(struct multi *multi, const struct trace *trace, const struct sizes *sizes)
{
	struct json *json = &multi->json;

	json_array_begin(json, "classes");
	for (unsigned i = 0; i < SIZE_CLASSES; i++) {
		const struct size_sums *class = &sizes->classes[i];

		if (!class->made.count)
			continue;
		json_row_begin(json, NULL);
		json_unsigned(json, "from_bytes", i ? size_class_limits[i - 1] + 1 : 0);
		if (i < SIZE_CLASSES - 1)
			json_unsigned(json, "to_bytes", size_class_limits[i]);
		else
			json_null(json, "to_bytes");
		json_number(json, "allocated", &class->made);
		json_number(json, "live", &class->live);
		json_number(json, "temporary", &class->temporary);
		if (has_slack(trace))
			json_double(json, "live_slack_bytes", class->live_slack);
		else
			json_null(json, "live_slack_bytes");
		json_object_end(json);
	}
	json_array_end(json);
}

static void print_csv(const struct multi *multi, const struct trace *trace,
		      const struct sizes *sizes)
{
	FILE *out = multi->request->out;

	for (unsigned i = 0; i < SIZE_CLASSES; i++) {
		const struct size_sums *class = &sizes->classes[i];

		if (!class->made.count)
			continue;
		csv_text(out, trace->path, true);
		csv_double(out, i ? (double)size_class_limits[i - 1] + 1 : 0);
		csv_double(out, class->made.count);
		csv_double(out, class->made.bytes);
		csv_double(out, class->live.count);
		csv_double(out, class->live.bytes);
		csv_double(out, class->temporary.count);
		csv_double(out, class->live_slack);
		fputc('\n', out);
	}
}

static void row(struct table *table, const struct multi *multi, const char *words,
		const struct size_sums *class, const struct number *total, bool slack,
		enum table_style style)
{
	bool raw = multi->request->raw;
	char text[UNITS_BYTES];

	table_row(table);
	table_cell(table, style, "%s", words);
	table_cell(table, style, "%s", units_number(text, &class->made, true, raw));
	table_cell(table, style, "%s", units_percent(text, class->made.count, total->count));
	table_cell(table, style, "%s", units_number(text, &class->made, false, raw));
	table_cell(table, style, "%s",
		   units_percent(text, class->temporary.count, class->made.count));
	table_cell(table, style, "%s", units_number(text, &class->live, true, raw));
	table_cell(table, style, "%s", units_number(text, &class->live, false, raw));
	table_cell(table, style, "%s", slack ? units_bytes(text, class->live_slack, raw) : "?");
}

static void print_text(const struct multi *multi, const struct trace *trace,
		       const struct sizes *sizes)
{
	static const struct table_column columns[] = {
		{ "bytes", TABLE_RIGHT, false },     { "calls", TABLE_RIGHT, false },
		{ "share", TABLE_RIGHT, false },     { "allocated", TABLE_RIGHT, false },
		{ "temporary", TABLE_RIGHT, false }, { "live blocks", TABLE_RIGHT, false },
		{ "live", TABLE_RIGHT, false },      { "slack", TABLE_RIGHT, false },
		{ "", TABLE_LEFT, false },
	};
	struct table *table = table_new(columns, 9);
	struct size_sums total = { 0 };
	char words[UNITS_BYTES], bar[BAR_BYTES];
	double largest = 0;

	for (unsigned i = 0; i < SIZE_CLASSES; i++) {
		const struct size_sums *class = &sizes->classes[i];

		number_add(&total.made, &class->made);
		number_add(&total.live, &class->live);
		number_add(&total.temporary, &class->temporary);
		total.live_slack += class->live_slack;
		largest = class->made.count > largest ? class->made.count : largest;
	}
	for (unsigned i = 0; i < SIZE_CLASSES; i++) {
		if (!sizes->classes[i].made.count)
			continue;
		row(table, multi, class_words(words, i), &sizes->classes[i], &total.made,
		    has_slack(trace), TABLE_PLAIN);
		table_cell(table, TABLE_CYAN, "%s",
			   bar_text(bar, sizes->classes[i].made.count, largest, 16));
	}
	row(table, multi, "total", &total, &total.made, has_slack(trace), TABLE_BOLD);
	table_print(table, multi->request->out, multi->request->width, multi->request->color);
	table_free(table);
	if (has_slack(trace))
		fputs("\nslack: what malloc gives beyond what was asked for, of live blocks, by\n"
		      "glibc's rule.\n", multi->request->out);
}

static int show_one(struct multi *multi, const struct trace_set_member *member, struct error *err)
{
	struct sizes sizes;
	struct aggregator *only = &sizes.aggregator;
	struct filtered_pass pass;
	int status;

	sizes_init(&sizes);
	status = filtered_pass_run(member, &multi->request->query, &only, 1, &pass, err);
	if (status)
		return status;
	multi_trace_begin(multi, member->trace);
	if (multi->request->format == FORMAT_JSON) {
		print_json(multi, member->trace, &sizes);
	} else if (multi->request->format == FORMAT_CSV) {
		print_csv(multi, member->trace, &sizes);
	} else {
		multi_heading(multi, member->trace, pass.from_ns, pass.end_ns);
		print_text(multi, member->trace, &sizes);
	}
	multi_trace_end(multi);
	return 0;
}

int view_sizes(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct multi multi;
	int status = 0;

	multi_begin(&multi, request, set, "memprof.sizes/1",
		    "trace,from_bytes,allocated_count,allocated_bytes,live_count,live_bytes,"
		    "temporary_count,live_slack_bytes");
	for (size_t i = 0; !status && i < set->count; i++)
		status = show_one(&multi, &set->members[i], err);
	multi_end(&multi);
	return status;
}
