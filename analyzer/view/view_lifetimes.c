/*
 * lifetimes: how long blocks live, by decades of time; what is still living is
 * counted apart, by its age so far.
 */
#include "model/filtered_pass.h"
#include "model/histogram.h"
#include "view/bar.h"
#include "view/multi.h"

static char *class_words(char *text, unsigned class)
{
	static const char *const names[AGE_CLASSES] = {
		"below 1 us", "1 us - 10 us", "10 us - 100 us", "100 us - 1 ms", "1 ms - 10 ms",
		"10 ms - 100 ms", "100 ms - 1 s", "1 s - 10 s", "10 s - 100 s", "100 s - 1000 s",
		"1000 s and more",
	};

	snprintf(text, UNITS_BYTES, "%s", names[class]);
	return text;
}

static void print_json(struct multi *multi, const struct lifetimes *lifetimes)
{
	struct json *json = &multi->json;

	json_array_begin(json, "classes");
	for (unsigned i = 0; i < AGE_CLASSES; i++) {
		json_row_begin(json, NULL);
		json_unsigned(json, "from_ns", i ? age_class_limits_ns[i - 1] : 0);
		if (i < AGE_CLASSES - 1)
			json_unsigned(json, "to_ns", age_class_limits_ns[i]);
		else
			json_null(json, "to_ns");
		json_number(json, "freed", &lifetimes->freed[i]);
		json_number(json, "living", &lifetimes->living[i]);
		json_object_end(json);
	}
	json_array_end(json);
}

static void print_csv(const struct multi *multi, const struct trace *trace,
		      const struct lifetimes *lifetimes)
{
	FILE *out = multi->request->out;

	for (unsigned i = 0; i < AGE_CLASSES; i++) {
		csv_text(out, trace->path, true);
		csv_double(out, i ? (double)age_class_limits_ns[i - 1] : 0);
		csv_double(out, lifetimes->freed[i].count);
		csv_double(out, lifetimes->freed[i].bytes);
		csv_double(out, lifetimes->living[i].count);
		csv_double(out, lifetimes->living[i].bytes);
		fputc('\n', out);
	}
}

static void print_text(const struct multi *multi, const struct lifetimes *lifetimes)
{
	static const struct table_column columns[] = {
		{ "lived", TABLE_LEFT, false },      { "freed", TABLE_RIGHT, false },
		{ "share", TABLE_RIGHT, false },     { "bytes", TABLE_RIGHT, false },
		{ "living", TABLE_RIGHT, false },    { "bytes", TABLE_RIGHT, false },
		{ "", TABLE_LEFT, false },
	};
	const struct view_request *request = multi->request;
	struct table *table = table_new(columns, 7);
	struct number freed = { 0 }, living = { 0 };
	char text[UNITS_BYTES], bar[BAR_BYTES];
	double largest = 0;

	for (unsigned i = 0; i < AGE_CLASSES; i++) {
		double value = number_value(&lifetimes->freed[i], request->query.by_count);

		number_add(&freed, &lifetimes->freed[i]);
		number_add(&living, &lifetimes->living[i]);
		largest = value > largest ? value : largest;
	}
	for (unsigned i = 0; i < AGE_CLASSES; i++) {
		const struct number *f = &lifetimes->freed[i], *l = &lifetimes->living[i];

		if (!f->count && !l->count)
			continue;
		table_row(table);
		table_cell(table, TABLE_PLAIN, "%s", class_words(text, i));
		table_cell(table, TABLE_PLAIN, "%s", units_number(text, f, true, request->raw));
		table_cell(table, TABLE_PLAIN, "%s", units_percent(text, f->count, freed.count));
		table_cell(table, TABLE_PLAIN, "%s", units_number(text, f, false, request->raw));
		table_cell(table, TABLE_PLAIN, "%s", units_number(text, l, true, request->raw));
		table_cell(table, TABLE_PLAIN, "%s", units_number(text, l, false, request->raw));
		table_cell(table, TABLE_CYAN, "%s",
			   bar_text(bar, number_value(f, request->query.by_count), largest, 20));
	}
	table_row(table);
	table_cell(table, TABLE_BOLD, "total");
	table_cell(table, TABLE_BOLD, "%s", units_number(text, &freed, true, request->raw));
	table_cell(table, TABLE_BOLD, "100.0%%");
	table_cell(table, TABLE_BOLD, "%s", units_number(text, &freed, false, request->raw));
	table_cell(table, TABLE_BOLD, "%s", units_number(text, &living, true, request->raw));
	table_cell(table, TABLE_BOLD, "%s", units_number(text, &living, false, request->raw));
	table_print(table, request->out, request->width, request->color);
	table_free(table);
}

static int show_one(struct multi *multi, const struct trace_set_member *member, struct error *err)
{
	struct lifetimes lifetimes;
	struct aggregator *only = &lifetimes.aggregator;
	struct filtered_pass pass;
	int status;

	lifetimes_init(&lifetimes, member->trace->info.duration_ns);
	status = filtered_pass_run(member, &multi->request->query, &only, 1, &pass, err);
	if (!status) {
		multi_trace_begin(multi, member->trace);
		if (multi->request->format == FORMAT_JSON) {
			print_json(multi, &lifetimes);
		} else if (multi->request->format == FORMAT_CSV) {
			print_csv(multi, member->trace, &lifetimes);
		} else {
			multi_heading(multi, member->trace, pass.from_ns, pass.end_ns);
			print_text(multi, &lifetimes);
		}
		multi_trace_end(multi);
	}
	lifetimes_release(&lifetimes);
	return status;
}

int view_lifetimes(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct multi multi;
	int status = 0;

	request->query.by_count = true;
	multi_begin(&multi, request, set, "memprof.lifetimes/1",
		    "trace,from_ns,freed_count,freed_bytes,living_count,living_bytes");
	for (size_t i = 0; !status && i < set->count; i++)
		status = show_one(&multi, &set->members[i], err);
	multi_end(&multi);
	return status;
}
