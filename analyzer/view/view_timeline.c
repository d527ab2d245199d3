/*
 * timeline: the live heap, the rate of allocation, RSS and mappings over time,
 * with the marks below; --from and --to choose the part.
 */
#include "model/filtered_pass.h"
#include "model/moment.h"
#include "model/timeline.h"
#include "util/memory.h"
#include "view/chart.h"
#include "view/multi.h"
#include "view/view_options.h"

#include <stdlib.h>
#include <string.h>

static uint64_t buckets_asked;

const struct option view_timeline_options[] = {
	{ "points", 0, OPTION_NUMBER, "N", "points of the curves (200; a chart's width in text)",
	  &buckets_asked, NULL, NULL },
	{ 0 },
};

/* ---- JSON, CSV ---- */

static void print_json(struct multi *multi, const struct timeline *timeline)
{
	struct json *json = &multi->json;

	json_unsigned(json, "from_ns", timeline->from_ns);
	json_unsigned(json, "to_ns", timeline->to_ns);
	json_array_begin(json, "points");
	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_bucket *b = &timeline->buckets[i];

		json_row_begin(json, NULL);
		json_unsigned(json, "time_ns", timeline_bucket_start(timeline, i));
		json_number(json, "live", &b->live);
		json_double(json, "highest_live_bytes", b->highest_bytes);
		json_number(json, "allocated", &b->made);
		json_number(json, "freed", &b->freed);
		json_double(json, "mapped_bytes", b->mapped_bytes);
		if (b->resident_bytes >= 0)
			json_double(json, "resident_bytes", b->resident_bytes);
		else
			json_null(json, "resident_bytes");
		json_object_end(json);
	}
	json_array_end(json);
}

static void json_marks(struct json *json, const struct trace *trace,
		       const struct timeline *timeline)
{
	json_array_begin(json, "marks");
	for (size_t i = 0; i < trace->mark_count; i++) {
		const struct trace_marker *mark = &trace->marks[i];

		if (mark->time_ns < timeline->from_ns || mark->time_ns > timeline->to_ns)
			continue;
		json_row_begin(json, NULL);
		json_unsigned(json, "time_ns", mark->time_ns);
		json_string(json, "name", mark->name);
		json_string(json, "detail", mark->detail);
		json_object_end(json);
	}
	json_array_end(json);
}

static void print_csv(const struct multi *multi, const struct trace *trace,
		      const struct timeline *timeline)
{
	FILE *out = multi->request->out;

	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_bucket *b = &timeline->buckets[i];

		csv_text(out, trace->path, true);
		csv_double(out, (double)timeline_bucket_start(timeline, i));
		csv_double(out, b->live.bytes);
		csv_double(out, b->live.count);
		csv_double(out, b->highest_bytes);
		csv_double(out, b->made.bytes);
		csv_double(out, b->made.count);
		csv_double(out, b->freed.bytes);
		csv_double(out, b->freed.count);
		csv_double(out, b->mapped_bytes);
		if (b->resident_bytes >= 0)
			csv_double(out, b->resident_bytes);
		else
			fputc(',', out);
		fputc('\n', out);
	}
}

/* ---- charts ---- */

struct charts {
	const struct multi *multi;
	const struct timeline *timeline;
	double *values;
	unsigned columns;
};

static void draw(const struct charts *charts, const char *title, unsigned rows,
		 const char *escape, char *(*format)(char *, double, bool))
{
	struct chart chart = { .title = title, .values = charts->values,
			       .count = charts->timeline->count, .columns = charts->columns,
			       .rows = rows, .format = format,
			       .escape = charts->multi->request->color ? escape : "",
			       .raw = charts->multi->request->raw };

	chart_print(charts->multi->request->out, &chart);
}

static void draw_live(const struct charts *charts)
{
	bool by_count = charts->multi->request->query.by_count;

	for (size_t i = 0; i < charts->timeline->count; i++)
		charts->values[i] = by_count ? charts->timeline->buckets[i].live.count :
					       charts->timeline->buckets[i].highest_bytes;
	if (by_count)
		draw(charts, "live blocks", 8, "\033[36m", units_count);
	else
		draw(charts, "live heap", 8, "\033[36m", units_bytes);
}

static void draw_rate(const struct charts *charts)
{
	const struct timeline *timeline = charts->timeline;
	double seconds = (double)(timeline->to_ns - timeline->from_ns) / 1e9 /
			 (double)timeline->count;

	for (size_t i = 0; i < timeline->count; i++)
		charts->values[i] = (double)(uint64_t)(timeline->buckets[i].made.count / seconds);
	draw(charts, "allocations per second", 3, "\033[33m", units_count);
}

static void draw_resident(const struct charts *charts)
{
	double highest = -1;

	for (size_t i = 0; i < charts->timeline->count; i++) {
		charts->values[i] = charts->timeline->buckets[i].resident_bytes;
		highest = charts->values[i] > highest ? charts->values[i] : highest;
	}
	if (highest >= 0)
		draw(charts, "resident (RSS)", 3, "\033[35m", units_bytes);
}

static void draw_mapped(const struct charts *charts)
{
	double highest = 0;

	for (size_t i = 0; i < charts->timeline->count; i++) {
		charts->values[i] = charts->timeline->buckets[i].mapped_bytes;
		highest = charts->values[i] > highest ? charts->values[i] : highest;
	}
	if (highest > 0)
		draw(charts, "mapped by the program itself", 3, "\033[32m", units_bytes);
}

static void print_axis(const struct charts *charts)
{
	FILE *out = charts->multi->request->out;
	char from[UNITS_BYTES], to[UNITS_BYTES];

	units_duration(from, charts->timeline->from_ns);
	units_duration(to, charts->timeline->to_ns);
	fprintf(out, "%*s%s%*s\n", CHART_MARGIN, "", from,
		(int)charts->columns - (int)strlen(from), to);
}

static unsigned mark_column(const struct charts *charts, uint64_t time_ns)
{
	const struct timeline *timeline = charts->timeline;
	double share = (double)(time_ns - timeline->from_ns) /
		       (double)(timeline->to_ns - timeline->from_ns);
	unsigned column = (unsigned)(share * charts->columns);

	return column < charts->columns ? column : charts->columns - 1;
}

/* A row of ticks, then the names in order. */
static void print_marks(const struct charts *charts, const struct trace *trace)
{
	FILE *out = charts->multi->request->out;
	char *ticks = memory_zeroed(charts->columns + 1, 1);
	size_t shown = 0, hidden = 0;
	char text[UNITS_BYTES];

	memset(ticks, ' ', charts->columns);
	for (size_t i = 0; i < trace->mark_count; i++)
		if (trace->marks[i].time_ns >= charts->timeline->from_ns &&
		    trace->marks[i].time_ns <= charts->timeline->to_ns) {
			ticks[mark_column(charts, trace->marks[i].time_ns)] = '^';
			shown++;
		}
	if (shown)
		fprintf(out, "%*s%s\n", CHART_MARGIN, "", ticks);
	free(ticks);
	shown = 0;
	for (size_t i = 0; i < trace->mark_count; i++) {
		const struct trace_marker *mark = &trace->marks[i];

		if (mark->time_ns < charts->timeline->from_ns ||
		    mark->time_ns > charts->timeline->to_ns)
			continue;
		if (shown++ >= 12) {
			hidden++;
			continue;
		}
		fprintf(out, "%*s%s  %s%s%s\n", CHART_MARGIN, "",
			units_duration(text, mark->time_ns), *mark->name ? mark->name : "mark",
			*mark->detail ? ": " : "", mark->detail);
	}
	if (hidden)
		fprintf(out, "%*s%zu more (memprof-report events)\n", CHART_MARGIN, "", hidden);
}

static void print_text(const struct multi *multi, const struct trace *trace,
		       const struct timeline *timeline, unsigned columns)
{
	struct charts charts = { .multi = multi, .timeline = timeline, .columns = columns };

	charts.values = memory_zeroed(timeline->count, sizeof(*charts.values));
	multi_heading(multi, trace, timeline->from_ns, timeline->to_ns);
	draw_live(&charts);
	draw_rate(&charts);
	draw_resident(&charts);
	draw_mapped(&charts);
	print_axis(&charts);
	print_marks(&charts, trace);
	free(charts.values);
}

/* ---- the view ---- */

/* The time of @when; *@time_ns stays as it is where that is the end. */
static int find_time(struct trace *trace, const struct moment *when, uint64_t *time_ns,
		     struct error *err)
{
	if (when->kind == MOMENT_PEAK)
		return pass_peak_time(trace, time_ns, err);
	if (when->kind == MOMENT_TIME)
		*time_ns = when->time_ns;
	return 0;
}

static int find_window(const struct trace_set_member *member, const struct query *query,
		       uint64_t *from_ns, uint64_t *to_ns, struct error *err)
{
	struct moment moment = member->when;
	int status = 0;

	*from_ns = 0;
	*to_ns = member->trace->info.duration_ns;
	if (query->from)
		status = moment_parse(member->trace, query->from, &moment, err);
	if (!status && query->from)
		status = find_time(member->trace, &moment, from_ns, err);
	moment = member->when;
	if (!status && query->to)
		status = moment_parse(member->trace, query->to, &moment, err);
	if (!status)
		status = find_time(member->trace, &moment, to_ns, err);
	if (!status && *to_ns < *from_ns)
		status = error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				   "--from is behind --to");
	return status;
}

static int show_one(struct multi *multi, const struct trace_set_member *member, struct error *err)
{
	const struct view_request *request = multi->request;
	unsigned width = request->width ? request->width : 80;
	unsigned columns = width > CHART_MARGIN + 20 ? width - CHART_MARGIN - 1 : 20;
	size_t count = buckets_asked ? buckets_asked :
		       request->format == FORMAT_TEXT ? 2 * columns : 200;
	struct query query = request->query;
	struct timeline timeline;
	struct aggregator *only = &timeline.aggregator;
	struct filtered_pass pass;
	uint64_t from_ns, to_ns;
	int status = find_window(member, &query, &from_ns, &to_ns, err);

	if (status)
		return status;
	/* The window is what is drawn; blocks from before it are live in it, too. */
	query.from = NULL;
	timeline_init(&timeline, member->trace, from_ns, to_ns, count < 1000000 ? count : 1000000);
	status = filtered_pass_run(member, &query, &only, 1, &pass, err);
	if (!status) {
		timeline_add_readings(&timeline, member->trace);
		multi_trace_begin(multi, member->trace);
		if (request->format == FORMAT_JSON) {
			print_json(multi, &timeline);
			json_marks(&multi->json, member->trace, &timeline);
		} else if (request->format == FORMAT_CSV) {
			print_csv(multi, member->trace, &timeline);
		} else {
			print_text(multi, member->trace, &timeline, columns);
		}
		multi_trace_end(multi);
	}
	timeline_release(&timeline);
	return status;
}

int view_timeline(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct multi multi;
	int status = 0;

	multi_begin(&multi, request, set, "memprof.timeline/1",
		    "trace,time_ns,live_bytes,live_count,highest_live_bytes,allocated_bytes,"
		    "allocated_count,freed_bytes,freed_count,mapped_bytes,resident_bytes");
	for (size_t i = 0; !status && i < set->count; i++)
		status = show_one(&multi, &set->members[i], err);
	multi_end(&multi);
	return status;
}
