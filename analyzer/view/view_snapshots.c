/*
 * snapshots: the moments of a trace that have a name, and what was live then:
 * those the program or a person made, the peak, and those of the growth rule.
 */
#include "model/moment.h"
#include "util/memory.h"
#include "view/common.h"

#include <stdlib.h>
#include <string.h>

struct snapshot {
	const char *name;          /* as WHEN takes it, without '@' */
	const char *kind;          /* "snapshot", "auto", "peak", "end" */
	const char *detail;
	uint64_t time_ns;
	bool from_outside;
	struct number heap, mapped;
};

struct snapshot_list {
	struct snapshot *items;
	size_t count;
	struct trace *trace;
};

/* ---- gathering ---- */

static void list_add(struct snapshot_list *list, struct snapshot snapshot)
{
	MEMORY_ROOM(list->items, list->count);
	list->items[list->count++] = snapshot;
}

static void add_marks(struct snapshot_list *list, const struct moment_total *totals)
{
	const struct trace *trace = list->trace;

	for (size_t i = 0; i < trace->mark_count; i++) {
		const struct trace_marker *mark = &trace->marks[i];

		if (mark->kind != TRACE_MARK_SNAPSHOT)
			continue;
		list_add(list, (struct snapshot){
				       .name = mark->name && *mark->name ?
						       memory_string(mark->name) :
						       memory_format("#%u", mark->number),
				       .kind = "snapshot", .detail = mark->detail,
				       .time_ns = mark->time_ns,
				       .from_outside = mark->from_outside,
				       .heap = totals[i].heap, .mapped = totals[i].mapped });
	}
}

static void add_auto(struct snapshot_list *list, const struct auto_rule *rule)
{
	for (size_t i = 0; i < rule->count; i++)
		list_add(list, (struct snapshot){
				       .name = memory_format("auto#%zu", i + 1), .kind = "auto",
				       .time_ns = rule->moments[i].time_ns,
				       .heap = { .count = rule->moments[i].live_count,
						 .bytes = rule->moments[i].live_bytes } });
}

static int compare_time(const void *a, const void *b)
{
	const struct snapshot *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int gather(struct trace_set_member *member, const struct view_request *request,
		  struct snapshot_list *list, struct error *err)
{
	struct trace *trace = member->trace;
	struct moment_total *totals = memory_zeroed(trace->mark_count + 1, sizeof(*totals));
	struct moment_totals moments;
	struct auto_rule rule;
	struct tallies *tallies = tallies_new(trace, DIMENSION_NONE, NULL);
	struct aggregator *all[] = { &moments.aggregator, &rule.aggregator,
				     tallies_aggregator(tallies) };
	struct tallies_totals whole;
	int status;

	(void)request;
	for (size_t i = 0; i < trace->mark_count; i++)
		totals[i].time_ns = trace->marks[i].time_ns;
	moment_totals_init(&moments, totals, trace->mark_count);
	auto_rule_init(&rule);
	status = pass_run(trace, &member->when, 0, all, 3, NULL, err);
	if (!status) {
		tallies_totals(tallies, &whole);
		list->trace = trace;
		add_marks(list, totals);
		add_auto(list, &rule);
		list_add(list, (struct snapshot){ .name = memory_string("peak"), .kind = "peak",
						  .time_ns = whole.peak_ns,
						  .heap = whole.peak_whole });
		list_add(list, (struct snapshot){ .name = memory_string("end"), .kind = "end",
						  .time_ns = trace->info.duration_ns,
						  .heap = whole.heap.of[METRIC_LIVE],
						  .mapped = whole.mapped.of[METRIC_LIVE] });
		qsort(list->items, list->count, sizeof(*list->items), compare_time);
	}
	tallies_free(tallies);
	free(rule.moments);
	free(totals);
	return status;
}

static void list_release(struct snapshot_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free((char *)list->items[i].name);
	free(list->items);
	*list = (struct snapshot_list){ 0 };
}

/* ---- printing ---- */

static void print_text(const struct view_request *request, const struct snapshot_list *list)
{
	static const struct table_column columns[] = {
		{ "moment", TABLE_LEFT, false },  { "time", TABLE_RIGHT, false },
		{ "live", TABLE_RIGHT, false },   { "blocks", TABLE_RIGHT, false },
		{ "change", TABLE_RIGHT, false }, { "", TABLE_LEFT, true },
	};
	struct table *table = table_new(columns, 6);
	size_t count = query_rows(request->query.limit, list->count, list->count);
	char text[UNITS_BYTES], change[UNITS_BYTES];
	double before = 0;

	for (size_t i = 0; i < count; i++) {
		const struct snapshot *s = &list->items[i];
		double delta = s->heap.bytes - before;

		table_row(table);
		table_cell(table, *s->kind == 's' ? TABLE_BOLD : TABLE_PLAIN, "@%s", s->name);
		table_cell(table, TABLE_PLAIN, "%s", units_duration(text, s->time_ns));
		table_cell(table, TABLE_PLAIN, "%s",
			   units_number(text, &s->heap, false, request->raw));
		table_cell(table, TABLE_PLAIN, "%s",
			   units_number(text, &s->heap, true, request->raw));
		units_bytes(change, delta, request->raw);
		table_cell(table, delta > 0 ? TABLE_RED : TABLE_GREEN, "%s%s", delta > 0 ? "+" : "",
			   change);
		table_cell(table, TABLE_DIM, "%s%s", s->detail ? s->detail : "",
			   s->from_outside ? " (from outside)" : "");
		before = s->heap.bytes;
	}
	if (count < list->count)
		table_line(table, TABLE_DIM, "%zu more (-n 0 shows all)", list->count - count);
	table_print(table, request->out, request->width, request->color);
	table_free(table);
}

static void print_csv(const struct view_request *request, const struct snapshot_list *list)
{
	size_t count = query_rows(request->query.limit, list->count, list->count);

	for (size_t i = 0; i < count; i++) {
		const struct snapshot *s = &list->items[i];

		csv_text(request->out, list->trace->path, true);
		csv_text(request->out, s->name, false);
		csv_text(request->out, s->kind, false);
		csv_double(request->out, (double)s->time_ns);
		csv_double(request->out, s->heap.bytes);
		csv_double(request->out, s->heap.count);
		csv_text(request->out, s->detail, false);
		fputc('\n', request->out);
	}
}

static void print_json(struct json *json, const struct view_request *request,
		       const struct snapshot_list *list)
{
	size_t count = query_rows(request->query.limit, list->count, list->count);

	json_object_begin(json, NULL);
	json_string(json, "path", list->trace->path);
	json_unsigned(json, "pid", list->trace->info.pid);
	json_array_begin(json, "snapshots");
	for (size_t i = 0; i < count; i++) {
		const struct snapshot *s = &list->items[i];

		json_row_begin(json, NULL);
		json_string(json, "name", s->name);
		json_string(json, "kind", s->kind);
		json_string(json, "detail", s->detail);
		json_unsigned(json, "time_ns", s->time_ns);
		json_bool(json, "from_outside", s->from_outside);
		json_number(json, "live", &s->heap);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

int view_snapshots(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct json json;
	int status = 0;

	json_init(&json, request->out);
	if (request->format == FORMAT_JSON) {
		json_object_begin(&json, NULL);
		json_string(&json, "schema", "memprof.snapshots/1");
		json_array_begin(&json, "traces");
	} else if (request->format == FORMAT_CSV) {
		fputs("trace,name,kind,time_ns,live_bytes,live_count,detail\n", request->out);
	}
	for (size_t i = 0; !status && i < set->count; i++) {
		struct snapshot_list list = { 0 };

		status = gather(&set->members[i], request, &list, err);
		if (!status && request->format == FORMAT_JSON)
			print_json(&json, request, &list);
		else if (!status && request->format == FORMAT_CSV)
			print_csv(request, &list);
		else if (!status) {
			if (set->count > 1)
				fprintf(request->out, "%s%s\n", i ? "\n" : "", list.trace->path);
			print_text(request, &list);
		}
		list_release(&list);
	}
	if (!status && request->format == FORMAT_JSON) {
		json_array_end(&json);
		json_object_end(&json);
		json_end(&json);
	}
	return status;
}
