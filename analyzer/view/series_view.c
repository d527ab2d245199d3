/*
 * A series: a column for each moment, the last against the first, and a word on
 * how it went on. See diff_view.h.
 */
#include "view/diff_view.h"

#include "util/memory.h"
#include "view/common.h"

#include <stdlib.h>

static bool is_listed(const struct diff_choice *choice, const struct series_row *row)
{
	return !choice->only_significant || row->is_significant;
}

/* ---- JSON ---- */

static void json_values(struct json *json, const struct series *series,
			const struct series_row *row)
{
	json_string(json, "trend", series_trend_names[row->trend]);
	json_bool(json, "significant", row->is_significant);
	json_number(json, "delta", &row->delta);
	json_array_begin(json, "values");
	for (size_t i = 0; i < series->count; i++)
		json_number(json, NULL, &row->values[i]);
	json_array_end(json);
}

static void json_row(struct json *json, const struct diff_choice *choice,
		     const struct series *series, const struct series_row *row)
{
	const struct query *query = &choice->request->query;
	size_t stacks = query_rows(query->stacks, 1, row->site->stack_count);

	json_object_begin(json, NULL);
	json_which(json, row->site, query->by);
	json_values(json, series, row);
	json_bool(json, "moved", row->is_moved);
	json_site_stacks(json, row->profile, row->site, stacks);
	json_object_end(json);
}

static void json_moment(struct json *json, const struct difference_end *end)
{
	const struct profile_trace *pt = &end->profile->traces[0];

	json_object_begin(json, NULL);
	json_string(json, "when", pt->when.words);
	json_unsigned(json, "time_ns", pt->end_ns);
	json_double(json, "divisor", end->divisor);
	json_side(json, "trace", end->set, end->profile);
	json_object_end(json);
}

static void json_total(struct json *json, const char *key, const struct series *series,
		       enum tally_kind kind)
{
	json_object_begin(json, key);
	json_values(json, series, &series->totals[kind]);
	json_object_end(json);
}

static void print_json(const struct diff_choice *choice, const struct series *series)
{
	struct json json;

	json_init(&json, choice->request->out);
	json_object_begin(&json, NULL);
	json_string(&json, "schema", "memprof.series/1");
	json_array_begin(&json, "moments");
	for (size_t i = 0; i < series->count; i++)
		json_moment(&json, &series->ends[i]);
	json_array_end(&json);
	json_string(&json, "metric", metric_names[choice->request->query.sort]);
	if (choice->normalize.kind != NORMALIZE_NOT)
		json_string(&json, "per", normalize_unit(&choice->normalize));
	json_double(&json, "level", choice->level);
	json_bool(&json, "recording_was_off", series->gap != NULL);
	json_total(&json, "totals", series, TALLY_HEAP);
	json_total(&json, "mapped", series, TALLY_MAPPED);
	json_array_begin(&json, "sites");
	for (size_t i = 0; i < series->row_count; i++)
		if (is_listed(choice, &series->rows[i]))
			json_row(&json, choice, series, &series->rows[i]);
	json_array_end(&json);
	json_object_end(&json);
	json_end(&json);
}

/* ---- CSV ---- */

static void print_csv(const struct diff_choice *choice, const struct series *series)
{
	FILE *out = choice->request->out;

	fputs("trend,kind,site,function,file,line,module,delta_bytes,delta_count,"
	      "delta_bytes_error,significant", out);
	for (size_t i = 1; i <= series->count; i++)
		fprintf(out, ",bytes_%zu,count_%zu", i, i);
	fputc('\n', out);
	for (size_t r = 0; r < series->row_count; r++) {
		const struct series_row *row = &series->rows[r];

		if (!is_listed(choice, row))
			continue;
		csv_text(out, series_trend_names[row->trend], true);
		csv_site(out, row->site);
		csv_delta(out, &row->delta, row->is_significant);
		for (size_t i = 0; i < series->count; i++) {
			csv_double(out, row->values[i].bytes);
			csv_double(out, row->values[i].count);
		}
		fputc('\n', out);
	}
}

/* ---- text ---- */

static const enum table_style trend_style[] = {
	[SERIES_RISES] = TABLE_RED,   [SERIES_FLATTENS] = TABLE_YELLOW,
	[SERIES_FALLS] = TABLE_GREEN, [SERIES_STEADY] = TABLE_DIM,
};

struct series_view {
	const struct diff_choice *choice;
	struct series *series;
	struct table *table;
};

static bool is_noise(const struct series *series, const struct series_row *row)
{
	return !series->exact && !row->is_significant &&
	       number_value(&row->delta, series->by_count) != 0;
}

static void value_cells(const struct series_view *view, const struct series_row *row,
			enum table_style style)
{
	const struct view_request *request = view->choice->request;
	bool by_count = request->query.by_count;
	char text[UNITS_BYTES + 8];

	table_row(view->table);
	table_cell(view->table, style, "%s",
		   signed_number(text, &row->delta, by_count, request->raw));
	for (size_t i = 0; i < view->series->count; i++) {
		if (by_count)
			units_count(text, row->values[i].count, request->raw);
		else
			units_bytes(text, row->values[i].bytes, request->raw);
		table_cell(view->table, TABLE_PLAIN, "%s", text);
	}
}

static void row_cells(const struct series_view *view, const struct series_row *row)
{
	bool noise = is_noise(view->series, row);
	char *words = matched_words(row->site, row->is_moved);

	value_cells(view, row, trend_style[row->trend]);
	table_cell(view->table, trend_style[row->trend], "%s",
		   noise ? "noise?" : series_trend_names[row->trend]);
	table_cell(view->table, noise ? TABLE_DIM : TABLE_CYAN, "%s", words);
	free(words);
	table_site_stacks(view->table, view->choice, row->profile, row->site);
}

/* Rows that are summed up in one. */
struct rest {
	struct series_row row;
	size_t count;
};

static struct rest rest_new(const struct series *series)
{
	return (struct rest){ .row.values = memory_zeroed(series->count, sizeof(struct number)) };
}

static void rest_add(struct rest *rest, const struct series *series, const struct series_row *row)
{
	for (size_t i = 0; i < series->count; i++)
		number_add(&rest->row.values[i], &row->values[i]);
	number_add(&rest->row.delta, &row->delta);
	rest->count++;
}

static void rest_print(const struct series_view *view, struct rest *rest, const char *trend,
		       const char *words)
{
	if (rest->count) {
		value_cells(view, &rest->row, TABLE_DIM);
		table_cell(view->table, TABLE_DIM, "%s", trend);
		table_cell(view->table, TABLE_DIM, "%zu %s", rest->count, words);
	}
	free(rest->row.values);
}

/* Of what is listed, without those that are summed up in any case. */
static size_t listed_count(const struct series_view *view, enum tally_kind kind)
{
	const struct series *series = view->series;
	size_t count = 0;

	for (size_t i = 0; i < series->row_count; i++) {
		const struct series_row *row = &series->rows[i];

		count += row->site->kind == kind && is_listed(view->choice, row) &&
			 (row->trend != SERIES_STEADY || is_noise(series, row));
	}
	return count;
}

static void print_rows(const struct series_view *view, enum tally_kind kind)
{
	struct series *series = view->series;
	struct rest steady = rest_new(series), more = rest_new(series), noise = rest_new(series);
	size_t shown = 0, limit = query_rows(view->choice->request->query.limit, 20,
					     listed_count(view, kind));

	for (size_t i = 0; i < series->row_count; i++) {
		const struct series_row *row = &series->rows[i];

		if (row->site->kind != kind)
			continue;
		if (row->trend == SERIES_STEADY && !is_noise(series, row))
			rest_add(&steady, series, row);
		else if (!is_listed(view->choice, row))
			rest_add(&noise, series, row);
		else if (shown++ < limit)
			row_cells(view, row);
		else
			rest_add(&more, series, row);
	}
	rest_print(view, &more, "", "more changed (-n 0 shows all)");
	rest_print(view, &noise, "noise?", "that may be noise");
	rest_print(view, &steady, "steady", "the same at the end as at first");
	value_cells(view, &series->totals[kind], TABLE_BOLD);
	table_cell(view->table, TABLE_BOLD, "%s",
		   is_noise(series, &series->totals[kind]) ?
			   "noise?" : series_trend_names[series->totals[kind].trend]);
	table_cell(view->table, TABLE_BOLD, "total");
}

static void print_table(const struct diff_choice *choice, struct series *series,
			enum tally_kind kind)
{
	struct table_column *columns = memory_zeroed(series->count + 3, sizeof(*columns));
	char (*titles)[24] = memory_zeroed(series->count, sizeof(*titles));
	struct series_view view = { .choice = choice, .series = series };
	size_t count = 0;

	columns[count++] = (struct table_column){ "last-first", TABLE_RIGHT, false };
	for (size_t i = 0; i < series->count; i++) {
		snprintf(titles[i], sizeof(titles[i]), "%zu", i + 1);
		columns[count++] = (struct table_column){ titles[i], TABLE_RIGHT, false };
	}
	columns[count++] = (struct table_column){ "", TABLE_LEFT, false };
	columns[count++] = (struct table_column){ "call site", TABLE_LEFT, true };
	view.table = table_new(columns, count);
	print_rows(&view, kind);
	table_print(view.table, choice->request->out, choice->request->width,
		    choice->request->color);
	table_free(view.table);
	free(titles);
	free(columns);
}

static bool has_mapped(const struct series *series)
{
	for (size_t i = 0; i < series->row_count; i++)
		if (series->rows[i].site->kind == TALLY_MAPPED &&
		    (series->rows[i].delta.bytes != 0 || series->rows[i].delta.count != 0))
			return true;
	return false;
}

static void print_text(const struct diff_choice *choice, struct series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct difference_end *end = &series->ends[i];
		char number[24];

		snprintf(number, sizeof(number), "%zu ", i + 1);
		print_end(choice, number, end->set, end->profile, end->divisor);
	}
	print_terms(choice, series->exact, series->complete, series->gap);
	print_title(choice, TALLY_HEAP);
	print_table(choice, series, TALLY_HEAP);
	if (!has_mapped(series))
		return;
	print_title(choice, TALLY_MAPPED);
	print_table(choice, series, TALLY_MAPPED);
}

void series_view_print(const struct diff_choice *choice, struct series *series)
{
	if (choice->request->format == FORMAT_JSON)
		print_json(choice, series);
	else if (choice->request->format == FORMAT_CSV)
		print_csv(choice, series);
	else
		print_text(choice, series);
}
