/*
 * memory: where the resident memory went, as one table that adds up to RSS, and
 * with --from, where its growth went. From readings of smaps that `memprof run`
 * puts into the trace; --mappings shows one of them as the kernel told it.
 */
#include "model/memory_account.h"
#include "trace/smaps.h"
#include "util/memory.h"
#include "view/memory_reading.h"
#include "view/multi.h"
#include "view/view_options.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool wants_mappings;

const struct option view_memory_options[] = {
	{ "mappings", 0, OPTION_FLAG, NULL, "every mapping, as the kernel tells it",
	  &wants_mappings, NULL, NULL },
	{ 0 },
};

/* ---- readings --------------------------------------------------------------------- */

static bool is_nearer(const struct trace *trace, size_t a, size_t b, uint64_t time_ns)
{
	uint64_t at = trace->smaps[a].time_ns, bt = trace->smaps[b].time_ns;

	return (at > time_ns ? at - time_ns : time_ns - at) <
	       (bt > time_ns ? bt - time_ns : time_ns - bt);
}

/* The reading nearest to @time_ns; SIZE_MAX when there is none. */
static size_t nearest_reading(const struct trace *trace, uint64_t time_ns)
{
	size_t best = SIZE_MAX, i;

	for (i = 0; i < trace->smaps_count; i++)
		if (!trace->smaps[i].part &&
		    (best == SIZE_MAX || is_nearer(trace, i, best, time_ns)))
			best = i;
	return best;
}

static uint64_t moment_ns(const struct trace *trace, const struct moment *moment)
{
	/* A peak is looked for by its pass; readings are too far apart to matter. */
	return moment->kind == MOMENT_TIME ? moment->time_ns : trace->info.duration_ns;
}

int memory_reading_map(const struct trace *trace, size_t reading, struct memory_map *map,
		       struct error *err)
{
	size_t bytes;
	char *text = trace_smaps_text(trace, reading, &bytes);
	int code;

	if (!text)
		return error_set(err, ERROR_FORMAT, trace->path, ERROR_NO_OFFSET,
				 "a reading of mappings is damaged");
	code = memory_map_parse(text, bytes, map, err);
	free(text);
	return code;
}

static bool is_libc(const struct trace *trace)
{
	const char *path = trace->info.allocator;
	const char *base = path ? strrchr(path, '/') : NULL;

	return !path || !*path || !strncmp(base ? base + 1 : path, "libc.so", 7);
}

int memory_reading_account(struct trace *trace, size_t reading, struct memory_account *account,
			   struct memory_map *map, struct error *err)
{
	struct moment moment = { .kind = MOMENT_TIME };
	struct aggregator *only;
	struct live_set set;
	int code = memory_reading_map(trace, reading, map, err);

	if (code)
		return code;
	live_set_init(&set, NULL);
	only = &set.aggregator;
	moment.time_ns = trace->smaps[reading].time_ns;
	code = pass_run(trace, &moment, 0, &only, 1, NULL, err);
	if (!code) {
		live_set_settle(&set);
		memory_account_make(map, &set, is_libc(trace), account);
		account->time_ns = moment.time_ns;
	}
	live_set_release(&set);
	if (code)
		memory_map_release(map);
	return code;
}

static int account_at(struct trace *trace, uint64_t time_ns, struct memory_account *account,
		      struct memory_map *map, struct error *err)
{
	size_t reading = nearest_reading(trace, time_ns);

	if (reading == SIZE_MAX)
		return error_set(err, ERROR_NOT_FOUND, trace->path, ERROR_NO_OFFSET,
				 "holds no reading of mappings: record with `memprof run`, which "
				 "takes them");
	return memory_reading_account(trace, reading, account, map, err);
}

/* ---- text --------------------------------------------------------------------------- */

static void cell_bytes(struct table *table, enum table_style style, double bytes, bool raw)
{
	char text[UNITS_BYTES];

	table_cell(table, style, "%s%s", bytes < 0 ? "-" : "", units_bytes(text, fabs(bytes), raw));
}

static void print_row(struct table *table, const struct view_request *request,
		      enum table_style style, const char *name, const char *words, double now,
		      double whole, const double *before)
{
	char share[UNITS_BYTES];

	table_row(table);
	cell_bytes(table, style, now, request->raw);
	table_cell(table, style, "%s", units_percent(share, now, whole));
	if (before)
		cell_bytes(table, style, *before, request->raw);
	if (before)
		cell_bytes(table, style, now - *before, request->raw);
	table_cell(table, style, "%s", name);
	table_cell(table, TABLE_DIM, "%s", words);
}

static void print_table(const struct view_request *request, const struct memory_account *now,
			const struct memory_account *before)
{
	static const struct table_column plain[] = {
		{ "resident", TABLE_RIGHT, false }, { "share", TABLE_RIGHT, false },
		{ "where", TABLE_LEFT, false },     { "", TABLE_LEFT, true },
	}, grown[] = {
		{ "resident", TABLE_RIGHT, false }, { "share", TABLE_RIGHT, false },
		{ "before", TABLE_RIGHT, false },   { "growth", TABLE_RIGHT, false },
		{ "where", TABLE_LEFT, false },     { "", TABLE_LEFT, true },
	};
	struct table *table = before ? table_new(grown, 6) : table_new(plain, 4);
	size_t i;

	for (i = 0; i < MEMORY_ROWS; i++)
		if (now->rows[i] > 0 || (before && before->rows[i] > 0))
			print_row(table, request, TABLE_PLAIN, memory_row_names[i],
				  memory_row_words[i], now->rows[i], now->resident,
				  before ? &before->rows[i] : NULL);
	print_row(table, request, TABLE_BOLD, "resident in all (RSS)", "", now->resident,
		  now->resident, before ? &before->resident : NULL);
	print_row(table, request, TABLE_PLAIN, "of it explained by call sites", "", now->explained,
		  now->resident, before ? &before->explained : NULL);
	table_print(table, request->out, request->width, request->color);
	table_free(table);
}

static void print_text(const struct multi *multi, const struct trace *trace,
		       const struct memory_account *now, const struct memory_account *before)
{
	char bytes[UNITS_BYTES];

	multi_heading(multi, trace, before ? before->time_ns : 0, now->time_ns);
	print_table(multi->request, now, before);
	if (now->untouched > 0.01 * now->resident)
		fprintf(multi->request->out,
			"\n%s of live blocks and mappings are not resident: never touched, or "
			"swapped out.\n", units_bytes(bytes, now->untouched, multi->request->raw));
}

static void print_mappings(const struct multi *multi, const struct memory_map *map)
{
	static const struct table_column columns[] = {
		{ "resident", TABLE_RIGHT, false }, { "size", TABLE_RIGHT, false },
		{ "changed", TABLE_RIGHT, false },  { "swapped", TABLE_RIGHT, false },
		{ "", TABLE_LEFT, false },          { "address", TABLE_LEFT, false },
		{ "category", TABLE_LEFT, false },  { "name", TABLE_LEFT, true },
	};
	const struct view_request *request = multi->request;
	struct table *table = table_new(columns, 8);
	size_t i;

	for (i = 0; i < map->count; i++) {
		const struct memory_mapping *m = &map->mappings[i];

		table_row(table);
		cell_bytes(table, TABLE_PLAIN, (double)m->resident, request->raw);
		cell_bytes(table, TABLE_PLAIN, (double)(m->end - m->start), request->raw);
		cell_bytes(table, TABLE_PLAIN, (double)(m->private_dirty + m->shared_dirty),
			   request->raw);
		cell_bytes(table, TABLE_PLAIN, (double)m->swapped, request->raw);
		table_cell(table, TABLE_PLAIN, "%s", m->permissions);
		table_cell(table, TABLE_PLAIN, "%" PRIx64, m->start);
		table_cell(table, TABLE_PLAIN, "%s", memory_category_names[m->category]);
		table_cell(table, TABLE_PLAIN, "%s", m->name);
	}
	fputc('\n', request->out);
	table_print(table, request->out, request->width, request->color);
	table_free(table);
}

/* ---- JSON and CSV ---------------------------------------------------------------------- */

static void json_account(struct json *json, const char *key, const struct memory_account *account)
{
	size_t i;

	json_object_begin(json, key);
	json_unsigned(json, "time_ns", account->time_ns);
	json_double(json, "resident", account->resident);
	json_double(json, "explained", account->explained);
	json_double(json, "untouched", account->untouched);
	json_double(json, "live_bytes", account->live_bytes);
	json_double(json, "mapped_bytes", account->mapped_bytes);
	json_row_begin(json, "rows");
	for (i = 0; i < MEMORY_ROWS; i++)
		json_double(json, memory_row_keys[i], account->rows[i]);
	json_object_end(json);
	json_object_end(json);
}

static void json_mappings(struct json *json, const struct memory_map *map)
{
	size_t i;

	json_array_begin(json, "mappings");
	for (i = 0; i < map->count; i++) {
		const struct memory_mapping *m = &map->mappings[i];

		json_row_begin(json, NULL);
		json_unsigned(json, "start", m->start);
		json_unsigned(json, "end", m->end);
		json_string(json, "permissions", m->permissions);
		json_string(json, "name", m->name);
		json_string(json, "category", memory_category_names[m->category]);
		json_unsigned(json, "resident", m->resident);
		json_unsigned(json, "proportional", m->proportional);
		json_unsigned(json, "anonymous", m->anonymous);
		json_unsigned(json, "swapped", m->swapped);
		json_object_end(json);
	}
	json_array_end(json);
}

static void csv_account(FILE *out, const struct trace *trace, const struct memory_account *account)
{
	size_t i;

	for (i = 0; i < MEMORY_ROWS; i++) {
		csv_text(out, trace->path, true);
		csv_double(out, (double)account->time_ns);
		csv_text(out, memory_row_keys[i], false);
		csv_double(out, account->rows[i]);
		fputc('\n', out);
	}
}

static void print_account(struct multi *multi, const struct trace *trace,
			  const struct memory_account *now, const struct memory_account *before,
			  const struct memory_map *map)
{
	const struct view_request *request = multi->request;

	if (request->format == FORMAT_JSON) {
		json_account(&multi->json, "now", now);
		if (before)
			json_account(&multi->json, "before", before);
		if (wants_mappings)
			json_mappings(&multi->json, map);
	} else if (request->format == FORMAT_CSV) {
		if (before)
			csv_account(request->out, trace, before);
		csv_account(request->out, trace, now);
	} else {
		print_text(multi, trace, now, before);
		if (wants_mappings)
			print_mappings(multi, map);
	}
}

/* ---- the view ---------------------------------------------------------------------------- */

static int account_before(struct trace *trace, const char *from, struct memory_account *before,
			  struct error *err)
{
	struct memory_map map;
	struct moment moment;
	int code = moment_parse(trace, from, &moment, err);

	if (!code)
		code = account_at(trace, moment_ns(trace, &moment), before, &map, err);
	if (!code)
		memory_map_release(&map);
	return code;
}

static int show_one(struct multi *multi, const struct trace_set_member *member, struct error *err)
{
	const struct query *query = &multi->request->query;
	struct trace *trace = member->trace;
	struct memory_account now, before;
	struct moment to = member->when;
	struct memory_map map;
	int code = query->to ? moment_parse(trace, query->to, &to, err) : 0;

	if (!code && query->from)
		code = account_before(trace, query->from, &before, err);
	if (!code)
		code = account_at(trace, moment_ns(trace, &to), &now, &map, err);
	if (code)
		return code;
	multi_trace_begin(multi, trace);
	print_account(multi, trace, &now, query->from ? &before : NULL, &map);
	multi_trace_end(multi);
	memory_map_release(&map);
	return 0;
}

/* In a process tree those without a reading were too short to have one. */
static bool is_passed_over(const struct trace_set *set, const struct trace *trace)
{
	return set->count > 1 && !trace->smaps_count;
}

int view_memory(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct multi multi;
	size_t shown = 0, i;
	int status = 0;

	for (i = 0; i < set->count; i++)
		shown += !is_passed_over(set, set->members[i].trace);
	if (!shown)
		return error_set(err, ERROR_NOT_FOUND, set->name, ERROR_NO_OFFSET,
				 "no trace holds a reading of mappings: record with `memprof "
				 "run`, which takes them");
	multi_begin(&multi, request, set, "memprof.memory/1", "trace,time_ns,row,resident");
	for (i = 0; !status && i < set->count; i++)
		if (!is_passed_over(set, set->members[i].trace))
			status = show_one(&multi, &set->members[i], err);
	multi_end(&multi);
	return status;
}
