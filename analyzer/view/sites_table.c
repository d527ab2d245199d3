/*
 * See sites_table.h.
 */
#include "view/sites_table.h"

#include "util/memory.h"
#include "view/common.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rows {
	const struct profile_site **sites;
	size_t count, shown;
	struct tally total, rest;
};

static struct rows rows_gather(const struct view_request *request, struct profile *profile,
			       const struct sites_table *shape)
{
	struct rows rows = { 0 };

	rows.sites = memory_zeroed(profile->site_count, sizeof(*rows.sites));
	for (size_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		if (site->kind != shape->kind || (shape->is_wanted && !shape->is_wanted(site)))
			continue;
		rows.sites[rows.count++] = site;
		tally_add(&rows.total, &site->tally);
	}
	rows.shown = query_rows(request->query.limit, 20, rows.count);
	if (rows.count - rows.shown == 1)
		rows.shown = rows.count; /* "1 more" takes the same line */
	for (size_t i = rows.shown; i < rows.count; i++)
		tally_add(&rows.rest, &rows.sites[i]->tally);
	return rows;
}

static void value_cell(struct table *table, const struct view_request *request,
		       const struct sites_column *column, const struct tally *tally,
		       const struct tally *total, enum table_style style)
{
	const struct number *n = &tally->of[column->metric];
	char text[UNITS_BYTES];

	if (column->is_share)
		units_percent(text, number_value(n, column->by_count),
			      number_value(&total->of[column->metric], column->by_count));
	else
		units_number(text, n, column->by_count, request->raw);
	table_cell(table, style, "%s", text);
}

static void value_cells(struct table *table, const struct view_request *request,
			const struct sites_table *shape, const struct tally *tally,
			const struct tally *total, enum table_style style)
{
	table_row(table);
	for (size_t c = 0; c < shape->column_count; c++)
		value_cell(table, request, &shape->columns[c], tally, total, style);
}

/* Within two standard errors of the difference: the order may be chance. */
static bool may_be_equal(const struct query *query, const struct profile_site *a,
			 const struct profile_site *b)
{
	const struct number *x = &a->tally.of[query->sort], *y = &b->tally.of[query->sort];
	double dx = number_error(x, query->by_count), dy = number_error(y, query->by_count);
	double difference = number_value(x, query->by_count) - number_value(y, query->by_count);

	return dx + dy > 0 && difference < 2 * sqrt(dx * dx + dy * dy);
}

static void freed_by_row(struct table *table, struct profile *profile,
			 const struct freed_by *freed_by, const struct profile_site *site)
{
	char *words = freed_by_words(freed_by, profile, site);

	if (words)
		table_line(table, TABLE_DIM, "%s", words);
	free(words);
}

static void site_row(struct table *table, const struct view_request *request,
		     struct profile *profile, const struct sites_table *shape,
		     const struct rows *rows, size_t index, bool *any_equal)
{
	const struct profile_site *site = rows->sites[index];
	size_t stacks = query_rows(request->query.stacks, shape->stacks, site->stack_count);
	bool is_equal = index + 1 < rows->count &&
			may_be_equal(&request->query, site, rows->sites[index + 1]);
	char *words = site_words(site);

	value_cells(table, request, shape, &site->tally, &rows->total, TABLE_PLAIN);
	table_cell(table, TABLE_CYAN, "%s%s", is_equal ? "≈ " : "", words);
	free(words);
	*any_equal |= is_equal;
	for (size_t s = 0; s < stacks; s++) {
		char text[UNITS_BYTES];

		if (site->stack_count > 1)
			table_line(table, TABLE_DIM, "    %s by this stack:",
				   units_number(text,
						&site->stacks[s].tally.of[request->query.sort],
						request->query.by_count, request->raw));
		table_stack(table, profile, &site->stacks[s], shape->frames);
	}
	if (stacks && shape->freed_by)
		freed_by_row(table, profile, shape->freed_by, site);
	if (stacks && stacks < site->stack_count)
		table_line(table, TABLE_DIM, "    %zu more stacks (--stacks 0 shows all)",
			   site->stack_count - stacks);
}

static struct table_column *columns_make(const struct sites_table *shape)
{
	struct table_column *columns = memory_zeroed(shape->column_count + 1, sizeof(*columns));

	for (size_t c = 0; c < shape->column_count; c++)
		columns[c] = (struct table_column){ shape->columns[c].title, TABLE_RIGHT, false };
	columns[shape->column_count] = (struct table_column){ "", TABLE_LEFT, true };
	return columns;
}

static const char *by_title(const struct query *query)
{
	static const char *const titles[] = {
		[BY_SITE] = "call site", [BY_FUNCTION] = "function", [BY_LINE] = "line",
		[BY_STACK] = "call site of the stack", [BY_MODULE] = "module",
		[BY_THREAD] = "thread", [BY_SCOPE] = "scope", [BY_SIZE] = "size in bytes",
		[BY_PROCESS] = "process",
	};

	return titles[query->by];
}

/* What @count rows are. */
static const char *by_noun(const struct query *query, size_t count)
{
	static const char *const one_and_more[][2] = {
		[BY_SITE] = { "site", "sites" },          [BY_LINE] = { "line", "lines" },
		[BY_FUNCTION] = { "function", "functions" }, [BY_STACK] = { "stack", "stacks" },
		[BY_MODULE] = { "module", "modules" },    [BY_THREAD] = { "thread", "threads" },
		[BY_SCOPE] = { "scope", "scopes" },       [BY_SIZE] = { "size", "sizes" },
		[BY_PROCESS] = { "process", "processes" },
	};

	return one_and_more[query->by][count != 1];
}

static void notes_print(const struct view_request *request, const struct profile *profile,
			bool any_equal)
{
	char text[UNITS_BYTES];
	double rate = 0;

	if (profile->exact)
		return;
	for (size_t i = 0; i < profile->trace_count; i++)
		rate = fmax(rate, (double)profile->traces[i].trace->info.rate_bytes);
	fputc('\n', request->out);
	if (any_equal)
		fputs("≈ may be no larger than the one below it (within two standard errors).\n",
		      request->out);
	fprintf(request->out,
		"A site not listed may have allocated up to %s (3 x the rate) unseen.\n",
		units_bytes(text, 3 * rate, false));
}

size_t sites_table_print(const struct view_request *request, struct profile *profile,
			 const struct sites_table *shape)
{
	struct rows rows = rows_gather(request, profile, shape);
	struct table_column *columns = columns_make(shape);
	struct table *table;
	bool any_equal = false;
	size_t count = rows.count;

	columns[shape->column_count].title = by_title(&request->query);
	table = table_new(columns, shape->column_count + 1);
	for (size_t i = 0; i < rows.shown; i++)
		site_row(table, request, profile, shape, &rows, i, &any_equal);
	if (rows.shown < rows.count) {
		value_cells(table, request, shape, &rows.rest, &rows.total, TABLE_DIM);
		table_cell(table, TABLE_DIM, "%zu more (-n 0 shows all)", rows.count - rows.shown);
	}
	value_cells(table, request, shape, &rows.total, &rows.total, TABLE_BOLD);
	table_cell(table, TABLE_BOLD, "total of %zu %s", rows.count,
		   by_noun(&request->query, rows.count));
	table_print(table, request->out, request->width, request->color);
	table_free(table);
	free(columns);
	free(rows.sites);
	if (count)
		notes_print(request, profile, any_equal);
	return count;
}

/* ---- CSV ---- */

static void csv_header(FILE *out, const struct query *query)
{
	fputs("kind", out);
	if (query->by >= BY_MODULE)
		fprintf(out, ",%s", query_by_names[query->by]);
	fputs(",function,file,line,module,module_offset", out);
	for (int m = 0; m < METRIC_COUNT; m++)
		fprintf(out, ",%s_count,%s_bytes,%s_count_error,%s_bytes_error", metric_names[m],
			metric_names[m], metric_names[m], metric_names[m]);
	fputc('\n', out);
}

static void csv_site(FILE *out, const struct query *query, const struct profile_site *site)
{
	const struct profile_frame *where = &site->where;

	csv_text(out, site->kind == TALLY_HEAP ? "malloc" : "mmap", true);
	if (query->by >= BY_MODULE)
		csv_text(out, site->label, false);
	csv_text(out, where->function, false);
	csv_text(out, where->file, false);
	fputc(',', out);
	if (where->line)
		fprintf(out, "%u", where->line);
	csv_text(out, where->module, false);
	fputc(',', out);
	if (where->module_offset)
		fprintf(out, "%" PRIu64, where->module_offset);
	for (int m = 0; m < METRIC_COUNT; m++) {
		csv_double(out, site->tally.of[m].count);
		csv_double(out, site->tally.of[m].bytes);
		csv_double(out, number_count_error(&site->tally.of[m]));
		csv_double(out, number_bytes_error(&site->tally.of[m]));
	}
	fputc('\n', out);
}

void sites_csv(const struct view_request *request, struct profile *profile)
{
	size_t rows = query_rows(request->query.limit, profile->site_count, profile->site_count);

	csv_header(request->out, &request->query);
	for (size_t i = 0; i < rows; i++)
		csv_site(request->out, &request->query, &profile->sites[i]);
}
