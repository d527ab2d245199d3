/*
 * A diff: two sides and what changed, as JSON, CSV or a table. See diff_view.h.
 */
#include "view/diff_view.h"

#include "view/common.h"

#include <stdlib.h>

struct diff_view {
	const struct diff_choice *choice;
	const struct view_request *request;
	const struct trace_set *baseline, *later;
	struct diff *diff;
};

static const struct profile_site *site_of(const struct diff_row *row)
{
	return row->later ? row->later : row->baseline;
}

static bool is_listed(const struct diff_view *view, const struct diff_row *row)
{
	return !view->choice->only_significant || row->is_significant;
}

/* ---- JSON ---- */

static void json_triple(struct json *json, const struct number *before, const struct number *after,
			const struct number *delta)
{
	json_number(json, "baseline", before);
	json_number(json, "later", after);
	json_number(json, "delta", delta);
}

static void json_row(struct json *json, const struct diff_view *view, const struct diff_row *row)
{
	const struct profile_site *site = site_of(row);
	struct profile *profile = row->later ? view->diff->later : view->diff->baseline;
	size_t stacks = query_rows(view->request->query.stacks, 1, site->stack_count);

	json_object_begin(json, NULL);
	json_string(json, "status", diff_status_names[row->status]);
	json_which(json, site, profile->query->by);
	json_triple(json, &row->before, &row->after, &row->delta);
	json_bool(json, "significant", row->is_significant);
	json_bool(json, "moved", row->is_moved);
	json_site_stacks(json, profile, site, stacks);
	json_object_end(json);
}

static void print_json(const struct diff_view *view)
{
	struct diff *diff = view->diff;
	struct json json;

	json_init(&json, view->request->out);
	json_object_begin(&json, NULL);
	json_string(&json, "schema", "memprof.diff/1");
	json_side(&json, "baseline", view->baseline, diff->baseline);
	json_side(&json, "later", view->later, diff->later);
	json_string(&json, "metric", metric_names[view->request->query.sort]);
	if (view->choice->normalize.kind != NORMALIZE_NOT) {
		json_object_begin(&json, "normalized");
		json_string(&json, "per", normalize_unit(&view->choice->normalize));
		json_double(&json, "baseline", diff->divisors[0]);
		json_double(&json, "later", diff->divisors[1]);
		json_object_end(&json);
	}
	json_double(&json, "level", view->choice->level);
	json_bool(&json, "recording_was_off", diff->gap != NULL);
	json_object_begin(&json, "totals");
	json_triple(&json, &diff->before[TALLY_HEAP], &diff->after[TALLY_HEAP],
		    &diff->delta[TALLY_HEAP]);
	json_object_end(&json);
	json_object_begin(&json, "mapped");
	json_triple(&json, &diff->before[TALLY_MAPPED], &diff->after[TALLY_MAPPED],
		    &diff->delta[TALLY_MAPPED]);
	json_object_end(&json);
	json_array_begin(&json, "sites");
	for (size_t i = 0; i < diff->count; i++)
		if (is_listed(view, &diff->rows[i]))
			json_row(&json, view, &diff->rows[i]);
	json_array_end(&json);
	json_object_end(&json);
	json_end(&json);
}

/* ---- CSV ---- */

static void print_csv(const struct diff_view *view)
{
	FILE *out = view->request->out;

	fputs("status,kind,site,function,file,line,module,baseline_bytes,baseline_count,"
	      "later_bytes,later_count,delta_bytes,delta_count,delta_bytes_error,significant\n",
	      out);
	for (size_t i = 0; i < view->diff->count; i++) {
		const struct diff_row *row = &view->diff->rows[i];

		if (!is_listed(view, row))
			continue;
		csv_text(out, diff_status_names[row->status], true);
		csv_site(out, site_of(row));
		csv_double(out, row->before.bytes);
		csv_double(out, row->before.count);
		csv_double(out, row->after.bytes);
		csv_double(out, row->after.count);
		csv_delta(out, &row->delta, row->is_significant);
		fputc('\n', out);
	}
}

/* ---- text ---- */

static const enum table_style status_style[] = {
	[DIFF_NEW] = TABLE_RED,      [DIFF_GROWN] = TABLE_RED, [DIFF_SHRUNK] = TABLE_GREEN,
	[DIFF_GONE] = TABLE_GREEN,   [DIFF_SAME] = TABLE_DIM,
};

static void value_cells(struct table *table, const struct view_request *request,
			const struct number *before, const struct number *after,
			const struct number *delta, enum table_style style)
{
	char text[UNITS_BYTES + 8];
	bool by_count = request->query.by_count;

	table_row(table);
	table_cell(table, style, "%s", signed_number(text, delta, by_count, request->raw));
	table_cell(table, TABLE_PLAIN, "%s", signed_number(text, delta, !by_count, request->raw));
	table_cell(table, TABLE_PLAIN, "%s", units_number(text, before, by_count, request->raw));
	table_cell(table, TABLE_PLAIN, "%s", units_number(text, after, by_count, request->raw));
}

static void row_cells(struct table *table, const struct diff_view *view,
		      const struct diff_row *row)
{
	const struct profile_site *site = site_of(row);
	struct profile *profile = row->later ? view->diff->later : view->diff->baseline;
	bool is_noise = !view->diff->exact && !row->is_significant;
	char *words = matched_words(site, row->is_moved);

	value_cells(table, view->request, &row->before, &row->after, &row->delta,
		    is_noise ? TABLE_DIM : status_style[row->status]);
	table_cell(table, is_noise ? TABLE_DIM : status_style[row->status], "%s",
		   is_noise ? "noise?" : diff_status_names[row->status]);
	table_cell(table, is_noise ? TABLE_DIM : TABLE_CYAN, "%s", words);
	free(words);
	table_site_stacks(table, view->choice, profile, site);
}

struct rows {
	struct number before, after, delta;
	size_t count;
};

static void rows_add(struct rows *rows, const struct diff_row *row)
{
	number_add(&rows->before, &row->before);
	number_add(&rows->after, &row->after);
	number_add(&rows->delta, &row->delta);
	rows->count++;
}

/* Growth from above, then shrinkage from below: what changed most on both ends. */
static void print_rows(struct table *table, const struct diff_view *view, enum tally_kind kind)
{
	const struct diff *diff = view->diff;
	struct rows same = { 0 }, rest = { 0 }, noise = { 0 };
	size_t changed = 0, shown = 0, limit;

	for (size_t i = 0; i < diff->count; i++)
		changed += site_of(&diff->rows[i])->kind == kind &&
			   diff->rows[i].status != DIFF_SAME && is_listed(view, &diff->rows[i]);
	limit = query_rows(view->request->query.limit, 20, changed);
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_row *row = &diff->rows[i];

		if (site_of(row)->kind != kind)
			continue;
		if (row->status == DIFF_SAME)
			rows_add(&same, row);
		else if (!is_listed(view, row))
			rows_add(&noise, row);
		else if (shown++ < limit)
			row_cells(table, view, row);
		else
			rows_add(&rest, row);
	}
	if (rest.count) {
		value_cells(table, view->request, &rest.before, &rest.after, &rest.delta,
			    TABLE_DIM);
		table_cell(table, TABLE_DIM, "%s", "");
		table_cell(table, TABLE_DIM, "%zu more changed (-n 0 shows all)", rest.count);
	}
	if (noise.count) {
		value_cells(table, view->request, &noise.before, &noise.after, &noise.delta,
			    TABLE_DIM);
		table_cell(table, TABLE_DIM, "noise?");
		table_cell(table, TABLE_DIM, "%zu that may be noise", noise.count);
	}
	if (same.count) {
		value_cells(table, view->request, &same.before, &same.after, &same.delta,
			    TABLE_DIM);
		table_cell(table, TABLE_DIM, "same");
		table_cell(table, TABLE_DIM, "%zu unchanged", same.count);
	}
	value_cells(table, view->request, &diff->before[kind], &diff->after[kind],
		    &diff->delta[kind], TABLE_BOLD);
	table_cell(table, TABLE_BOLD, "%s", "");
	table_cell(table, TABLE_BOLD, "total");
}

static void print_table(const struct diff_view *view, enum tally_kind kind)
{
	bool by_count = view->request->query.by_count;
	const struct table_column columns[] = {
		{ by_count ? "blocks" : "growth", TABLE_RIGHT, false },
		{ by_count ? "growth" : "blocks", TABLE_RIGHT, false },
		{ "baseline", TABLE_RIGHT, false }, { "later", TABLE_RIGHT, false },
		{ "", TABLE_LEFT, false },          { "call site", TABLE_LEFT, true },
	};
	struct table *table = table_new(columns, 6);

	print_rows(table, view, kind);
	table_print(table, view->request->out, view->request->width, view->request->color);
	table_free(table);
}

static void print_text(const struct diff_view *view)
{
	const struct diff *diff = view->diff;

	print_end(view->choice, "baseline ", view->baseline, diff->baseline, diff->divisors[0]);
	print_end(view->choice, "later    ", view->later, diff->later, diff->divisors[1]);
	print_terms(view->choice, diff->exact,
		    diff->baseline->complete && diff->later->complete, diff->gap);
	print_title(view->choice, TALLY_HEAP);
	print_table(view, TALLY_HEAP);
	if (diff->delta[TALLY_MAPPED].bytes == 0 && diff->delta[TALLY_MAPPED].count == 0)
		return;
	print_title(view->choice, TALLY_MAPPED);
	print_table(view, TALLY_MAPPED);
}

void diff_view_print(const struct diff_choice *choice, const struct trace_set *baseline,
		     const struct trace_set *later, struct diff *diff)
{
	const struct diff_view view = { choice, choice->request, baseline, later, diff };

	if (choice->request->format == FORMAT_JSON)
		print_json(&view);
	else if (choice->request->format == FORMAT_CSV)
		print_csv(&view);
	else
		print_text(&view);
}
