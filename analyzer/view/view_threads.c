/*
 * threads: who allocates and who frees. Blocks freed by another thread than the
 * one that allocated them are told apart: they cross the allocator's caches.
 */
#include "model/filtered_pass.h"
#include "model/slices.h"
#include "util/memory.h"
#include "view/multi.h"

#include <stdlib.h>

struct thread_sums {
	struct number made, live, freed_own, freed_others, temporary;
};

struct thread_table {
	struct aggregator aggregator;
	struct thread_sums *sums;  /* by thread, one more for threads out of range */
	size_t count;
};

static struct thread_sums *sums_of(struct thread_table *table, uint32_t thread)
{
	return &table->sums[thread < table->count ? thread : table->count];
}

static void take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct thread_table *table = (struct thread_table *)self;
	struct number n;

	for (const struct trace_event *e = events; e < events + count; e++) {
		struct thread_sums *sums = sums_of(table, e->thread);

		if (e->kind > TRACE_EVENT_FREE || (e->flags & TRACE_EVENT_INHERITED))
			continue;
		number_of_sample(e->size, e->rate, &n);
		if (e->kind == TRACE_EVENT_ALLOCATE) {
			number_add(&sums->made, &n);
			number_add(&sums->live, &n);
			continue;
		}
		number_add(e->thread == e->birth_thread ? &sums->freed_own : &sums->freed_others,
			   &n);
		number_remove(&sums_of(table, e->birth_thread)->live, &n);
		if (e->flags & TRACE_EVENT_TEMPORARY)
			number_add(&sums->temporary, &n);
	}
}

static void take_pairs(struct aggregator *self, const struct event_pairs *pairs, size_t count)
{
	struct thread_table *table = (struct thread_table *)self;

	for (size_t i = 0; i < count; i++) {
		const struct trace_event *e = &pairs[i].death;
		struct number n = { .count = (double)pairs[i].count,
				    .bytes = (double)pairs[i].bytes };
		struct thread_sums *sums = sums_of(table, e->thread);

		if (pairs[i].is_realloc)
			continue;
		number_add(&sums_of(table, e->birth_thread)->made, &n);
		number_add(e->thread == e->birth_thread ? &sums->freed_own : &sums->freed_others,
			   &n);
		if (e->flags & TRACE_EVENT_TEMPORARY)
			number_add(&sums->temporary, &n);
	}
}

/* ---- printing ---- */

static bool is_idle(const struct thread_sums *sums)
{
	return !sums->made.count && !sums->freed_own.count && !sums->freed_others.count;
}

static void print_json(struct multi *multi, const struct trace *trace,
		       const struct thread_table *threads)
{
	struct json *json = &multi->json;

	json_array_begin(json, "threads");
	for (size_t i = 0; i < threads->count; i++) {
		const struct thread_sums *sums = &threads->sums[i];

		json_object_begin(json, NULL);
		json_unsigned(json, "tid", trace->threads[i].tid);
		json_string(json, "name", trace->threads[i].name);
		json_unsigned(json, "first_ns", trace->threads[i].first_ns);
		json_unsigned(json, "last_ns", trace->threads[i].last_ns);
		json_number(json, "allocated", &sums->made);
		json_number(json, "live", &sums->live);
		json_number(json, "freed_own", &sums->freed_own);
		json_number(json, "freed_others", &sums->freed_others);
		json_number(json, "temporary", &sums->temporary);
		json_object_end(json);
	}
	json_array_end(json);
}

static void print_csv(const struct multi *multi, const struct trace *trace,
		      const struct thread_table *threads)
{
	FILE *out = multi->request->out;

	for (size_t i = 0; i < threads->count; i++) {
		const struct thread_sums *sums = &threads->sums[i];
		const struct number *numbers[] = { &sums->made, &sums->live, &sums->freed_own,
						   &sums->freed_others, &sums->temporary };

		csv_text(out, trace->path, true);
		csv_double(out, trace->threads[i].tid);
		csv_text(out, trace->threads[i].name, false);
		for (int n = 0; n < 5; n++) {
			csv_double(out, numbers[n]->count);
			csv_double(out, numbers[n]->bytes);
		}
		fputc('\n', out);
	}
}

static const struct thread_table *sort_table;
static bool sort_by_count;

static int compare(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	double vx = number_value(&sort_table->sums[x].made, sort_by_count);
	double vy = number_value(&sort_table->sums[y].made, sort_by_count);

	if (vx != vy)
		return vx > vy ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void cells(struct table *table, const struct multi *multi, const struct thread_sums *sums,
		  const struct number *total, enum table_style style)
{
	bool by_count = multi->request->query.by_count, raw = multi->request->raw;
	char text[UNITS_BYTES];

	table_row(table);
	table_cell(table, style, "%s", units_number(text, &sums->made, by_count, raw));
	table_cell(table, style, "%s", units_percent(text, number_value(&sums->made, by_count),
						     number_value(total, by_count)));
	table_cell(table, style, "%s", units_number(text, &sums->made, !by_count, raw));
	table_cell(table, style, "%s", units_number(text, &sums->live, by_count, raw));
	table_cell(table, style, "%s", units_number(text, &sums->freed_own, by_count, raw));
	table_cell(table, style, "%s", units_number(text, &sums->freed_others, by_count, raw));
	table_cell(table, style, "%s",
		   units_percent(text, sums->temporary.count, sums->made.count));
}

static void sums_add(struct thread_sums *to, const struct thread_sums *sums)
{
	number_add(&to->made, &sums->made);
	number_add(&to->live, &sums->live);
	number_add(&to->freed_own, &sums->freed_own);
	number_add(&to->freed_others, &sums->freed_others);
	number_add(&to->temporary, &sums->temporary);
}

static void print_text(const struct multi *multi, const struct trace *trace,
		       const struct thread_table *threads)
{
	bool by_count = multi->request->query.by_count;
	const struct table_column columns[] = {
		{ by_count ? "calls" : "allocated", TABLE_RIGHT, false },
		{ "share", TABLE_RIGHT, false },
		{ by_count ? "allocated" : "calls", TABLE_RIGHT, false },
		{ "live", TABLE_RIGHT, false }, { "freed own", TABLE_RIGHT, false },
		{ "of others", TABLE_RIGHT, false }, { "temporary", TABLE_RIGHT, false },
		{ "thread", TABLE_LEFT, true },
	};
	struct table *table = table_new(columns, 8);
	struct thread_sums total = { 0 }, rest = { 0 };
	size_t *order = memory_zeroed(threads->count + 1, sizeof(*order)), active = 0, rows;

	for (size_t i = 0; i <= threads->count; i++) {
		sums_add(&total, &threads->sums[i]);
		if (!is_idle(&threads->sums[i]))
			order[active++] = i;
	}
	sort_table = threads;
	sort_by_count = by_count;
	qsort(order, active, sizeof(*order), compare);
	rows = query_rows(multi->request->query.limit, 20, active);
	for (size_t i = 0; i < active; i++) {
		const struct thread_sums *sums = &threads->sums[order[i]];
		const struct trace_thread *thread =
			order[i] < threads->count ? &trace->threads[order[i]] : NULL;

		if (i >= rows) {
			sums_add(&rest, sums);
			continue;
		}
		cells(table, multi, sums, &total.made, TABLE_PLAIN);
		if (thread)
			table_cell(table, TABLE_CYAN, "%s%s%u", thread->name ? thread->name : "",
				   thread->name && *thread->name ? "  " : "", thread->tid);
		else
			table_cell(table, TABLE_DIM, "unknown");
	}
	if (rows < active) {
		cells(table, multi, &rest, &total.made, TABLE_DIM);
		table_cell(table, TABLE_DIM, "%zu more (-n 0 shows all)", active - rows);
	}
	cells(table, multi, &total, &total.made, TABLE_BOLD);
	table_cell(table, TABLE_BOLD, "total of %zu thread%s", active,
		   active == 1 ? "" : "s");
	table_print(table, multi->request->out, multi->request->width, multi->request->color);
	table_free(table);
	free(order);
}

static int show_one(struct multi *multi, const struct trace_set_member *member, struct error *err)
{
	struct thread_table threads = { .aggregator = { .take = take, .take_pairs = take_pairs },
					.count = member->trace->thread_count };
	struct aggregator *only = &threads.aggregator;
	struct filtered_pass pass;
	int status;

	threads.sums = memory_zeroed(threads.count + 1, sizeof(*threads.sums));
	status = filtered_pass_run(member, &multi->request->query, &only, 1, &pass, err);
	if (!status) {
		multi_trace_begin(multi, member->trace);
		if (multi->request->format == FORMAT_JSON) {
			print_json(multi, member->trace, &threads);
		} else if (multi->request->format == FORMAT_CSV) {
			print_csv(multi, member->trace, &threads);
		} else {
			multi_heading(multi, member->trace, pass.from_ns, pass.end_ns);
			print_text(multi, member->trace, &threads);
		}
		multi_trace_end(multi);
	}
	free(threads.sums);
	return status;
}

int view_threads(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct multi multi;
	int status = 0;

	multi_begin(&multi, request, set, "memprof.threads/1",
		    "trace,tid,name,allocated_count,allocated_bytes,live_count,live_bytes,"
		    "freed_own_count,freed_own_bytes,freed_others_count,freed_others_bytes,"
		    "temporary_count,temporary_bytes");
	for (size_t i = 0; !status && i < set->count; i++)
		status = show_one(&multi, &set->members[i], err);
	multi_end(&multi);
	return status;
}
