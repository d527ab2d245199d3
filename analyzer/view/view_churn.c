/*
 * churn: who spends the program's time in malloc: allocations that were not
 * kept, ranked by their number.
 */
#include "model/churn.h"
#include "model/moment.h"
#include "util/memory.h"
#include "view/common.h"
#include "view/view_options.h"

#include <stdlib.h>
#include <string.h>

#define AGE_DEFAULT_NS 1000000ull

static const char *age_text;

const struct option view_churn_options[] = {
	{ "age", 0, OPTION_STRING, "TIME", "short-lived is what lives for less (1ms)", &age_text,
	  NULL, NULL },
	{ 0 },
};

struct row {
	const struct profile_site *site;
	struct churn_sums sums;
};

struct churn_table {
	struct profile *profile;
	struct churn *churns;      /* by trace */
	uint64_t age_ns;
	struct row *rows;
	size_t count;
	struct churn_sums total;
	double seconds;            /* of the window that was looked at */
};

/* ---- gathering ---- */

static bool rows_by_bytes;

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	double vx = number_value(&x->sums.short_lived, !rows_by_bytes);
	double vy = number_value(&y->sums.short_lived, !rows_by_bytes);

	if (vx != vy)
		return vx > vy ? -1 : 1;
	vx = number_value(&x->sums.calls, !rows_by_bytes);
	vy = number_value(&y->sums.calls, !rows_by_bytes);
	if (vx != vy)
		return vx > vy ? -1 : 1;
	return strcmp(x->site->where.function ? x->site->where.function : "",
		      y->site->where.function ? y->site->where.function : "");
}

static void make_rows(struct churn_table *table)
{
	const struct profile *profile = table->profile;

	for (size_t i = 0; i < profile->site_count; i++) {
		struct row row = { .site = &profile->sites[i] };

		if (row.site->kind != TALLY_HEAP)
			continue;
		for (size_t c = 0; c < row.site->cell_count; c++)
			churn_add(&table->churns[row.site->cells[c].member],
				  row.site->cells[c].node, &row.sums);
		churn_sums_add(&table->total, &row.sums);
		MEMORY_ROOM(table->rows, table->count);
		table->rows[table->count++] = row;
	}
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows), compare);
}

static double window_seconds(const struct profile *profile, const struct event_filter *filters)
{
	double longest = 0;

	for (size_t i = 0; i < profile->trace_count; i++) {
		const struct profile_trace *pt = &profile->traces[i];
		uint64_t end = pt->when.kind == MOMENT_TIME ? pt->when.time_ns :
							      pt->trace->info.duration_ns;
		double seconds = end > filters[i].from_ns ?
					 (double)(end - filters[i].from_ns) / 1e9 : 0;

		longest = seconds > longest ? seconds : longest;
	}
	return longest;
}

static int build(struct churn_table *table, struct trace_set *set, const struct query *query,
		 struct error *err)
{
	struct event_filter *filters = memory_zeroed(set->count, sizeof(*filters));
	struct aggregator **each = memory_zeroed(set->count, sizeof(*each));
	struct aggregator *const **extra = memory_zeroed(set->count, sizeof(*extra));
	int status = 0;

	table->churns = memory_zeroed(set->count, sizeof(*table->churns));
	for (size_t i = 0; !status && i < set->count; i++) {
		status = event_filter_init(&filters[i], set->members[i].trace, query, err);
		churn_init(&table->churns[i], table->age_ns, &filters[i]);
		each[i] = &table->churns[i].aggregator;
		extra[i] = &each[i];
	}
	if (!status)
		status = profile_build_with(set, query, extra, 1, &table->profile, err);
	if (!status) {
		make_rows(table);
		table->seconds = window_seconds(table->profile, filters);
	}
	for (size_t i = 0; i < set->count; i++)
		event_filter_release(&filters[i]);
	free(filters);
	free(each);
	free(extra);
	return status;
}

/* ---- printing ---- */

static void print_json(const struct view_request *request, const struct trace_set *set,
		       const struct churn_table *table)
{
	size_t rows = query_rows(request->query.limit, table->count, table->count);
	struct json json;

	json_init(&json, request->out);
	json_object_begin(&json, NULL);
	json_string(&json, "schema", "memprof.churn/1");
	json_traces(&json, set, table->profile);
	json_unsigned(&json, "age_ns", table->age_ns);
	json_double(&json, "seconds", table->seconds);
	json_object_begin(&json, "totals");
	json_number(&json, "allocated", &table->total.calls);
	json_number(&json, "short_lived", &table->total.short_lived);
	json_number(&json, "temporary", &table->total.temporary);
	json_number(&json, "reallocated", &table->total.reallocated);
	json_object_end(&json);
	json_array_begin(&json, "sites");
	for (size_t i = 0; i < rows; i++) {
		const struct row *row = &table->rows[i];

		json_object_begin(&json, NULL);
		if (row->site->label)
			json_string(&json, query_by_names[request->query.by], row->site->label);
		json_place(&json, &row->site->where);
		json_number(&json, "allocated", &row->sums.calls);
		json_number(&json, "short_lived", &row->sums.short_lived);
		json_number(&json, "temporary", &row->sums.temporary);
		json_number(&json, "reallocated", &row->sums.reallocated);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	json_end(&json);
}

static void print_csv(const struct view_request *request, const struct churn_table *table)
{
	FILE *out = request->out;

	fputs("site,function,file,line,module,calls,bytes,short_lived_count,short_lived_bytes,"
	      "temporary_count,temporary_bytes,reallocated_count\n", out);
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i];

		csv_text(out, row->site->label, true);
		csv_text(out, row->site->where.function, false);
		csv_text(out, row->site->where.file, false);
		csv_double(out, row->site->where.line);
		csv_text(out, row->site->where.module, false);
		csv_double(out, row->sums.calls.count);
		csv_double(out, row->sums.calls.bytes);
		csv_double(out, row->sums.short_lived.count);
		csv_double(out, row->sums.short_lived.bytes);
		csv_double(out, row->sums.temporary.count);
		csv_double(out, row->sums.temporary.bytes);
		csv_double(out, row->sums.reallocated.count);
		fputc('\n', out);
	}
}

static void cells(struct table *out, const struct view_request *request,
		  const struct churn_table *table, const struct churn_sums *sums,
		  enum table_style style)
{
	char text[UNITS_BYTES];
	double rate = table->seconds > 0 ? sums->short_lived.count / table->seconds : 0;

	table_row(out);
	table_cell(out, style, "%s", units_number(text, &sums->short_lived, true, request->raw));
	table_cell(out, style, "%s",
		   units_percent(text, sums->short_lived.count, table->total.calls.count));
	table_cell(out, style, "%s",
		   units_count(text, (double)(uint64_t)(rate + 0.5), request->raw));
	table_cell(out, style, "%s", units_number(text, &sums->temporary, true, request->raw));
	table_cell(out, style, "%s", units_number(text, &sums->reallocated, true, request->raw));
	table_cell(out, style, "%s", units_number(text, &sums->calls, true, request->raw));
	table_cell(out, style, "%s",
		   units_bytes(text,
			       sums->calls.count > 0
				   ? (double)(uint64_t)(sums->calls.bytes / sums->calls.count + 0.5)
				   : 0,
			       request->raw));
}

static void print_text(const struct view_request *request, const struct trace_set *set,
		       const struct churn_table *table)
{
	static const struct table_column columns[] = {
		{ "short-lived", TABLE_RIGHT, false }, { "of calls", TABLE_RIGHT, false },
		{ "per s", TABLE_RIGHT, false },       { "temporary", TABLE_RIGHT, false },
		{ "realloc", TABLE_RIGHT, false },     { "calls", TABLE_RIGHT, false },
		{ "mean", TABLE_RIGHT, false },        { "call site", TABLE_LEFT, true },
	};
	struct table *out = table_new(columns, 8);
	size_t rows = query_rows(request->query.limit, 20, table->count);
	struct churn_sums rest = { 0 };
	char text[UNITS_BYTES];

	print_heading(request, set, table->profile);
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i];
		size_t stacks = query_rows(request->query.stacks, 0, row->site->stack_count);
		char *words;

		if (i >= rows) {
			churn_sums_add(&rest, &row->sums);
			continue;
		}
		words = site_words(row->site);
		cells(out, request, table, &row->sums, TABLE_PLAIN);
		table_cell(out, TABLE_CYAN, "%s", words);
		free(words);
		for (size_t s = 0; s < stacks; s++)
			table_stack(out, table->profile, &row->site->stacks[s], 32);
	}
	if (rows < table->count) {
		cells(out, request, table, &rest, TABLE_DIM);
		table_cell(out, TABLE_DIM, "%zu more (-n 0 shows all)", table->count - rows);
	}
	cells(out, request, table, &table->total, TABLE_BOLD);
	table_cell(out, TABLE_BOLD, "total of %zu site%s", table->count,
		   table->count == 1 ? "" : "s");
	table_print(out, request->out, request->width, request->color);
	table_free(out);
	fprintf(request->out,
		"\nshort-lived: freed in less than %s, or temporary: freed by the same\n"
		"thread before its next allocation. mean: bytes of a call.\n",
		units_duration(text, table->age_ns));
}

int view_churn(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct churn_table table = { .age_ns = AGE_DEFAULT_NS };
	int status;

	if (age_text && duration_parse(age_text, &table.age_ns))
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "--age needs a time such as 1ms or 10s, not \"%s\"", age_text);
	rows_by_bytes = request->query.sort_given && !request->query.by_count;
	status = build(&table, set, &request->query, err);
	if (!status && request->format == FORMAT_JSON)
		print_json(request, set, &table);
	else if (!status && request->format == FORMAT_CSV)
		print_csv(request, &table);
	else if (!status)
		print_text(request, set, &table);
	for (size_t i = 0; i < set->count; i++)
		churn_release(&table.churns[i]);
	free(table.churns);
	free(table.rows);
	profile_free(table.profile);
	return status;
}
