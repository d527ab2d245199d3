/*
 * See series.h. The sites of each moment are matched with the rows so far, each
 * of which stands for its site at the last moment that had one.
 */
#include "model/series.h"

#include "model/significance.h"
#include "model/site_match.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

const char *const series_trend_names[] = { "rises", "flattens", "falls", "steady", NULL };

/* ---- rows ---- */

static struct series_row *row_add(struct series *series)
{
	struct series_row *row;

	MEMORY_ROOM(series->rows, series->row_count);
	row = &series->rows[series->row_count++];
	*row = (struct series_row){
		.sites = memory_zeroed(series->count, sizeof(*row->sites)),
		.values = memory_zeroed(series->count, sizeof(*row->values)),
	};
	return row;
}

static void row_set(struct series_row *row, size_t moment, const struct match_site *at)
{
	row->site = row->sites[moment] = at->site;
	row->profile = at->profile;
}

static void take_moment(struct series *series, size_t moment)
{
	struct profile *profile = series->ends[moment].profile;
	struct match_site *rows = memory_zeroed(series->row_count + 1, sizeof(*rows));
	struct match_site *sites = memory_zeroed(profile->site_count + 1, sizeof(*sites));
	struct match_pair *pairs;
	size_t count;

	for (size_t i = 0; i < series->row_count; i++)
		rows[i] = (struct match_site){ series->rows[i].profile, series->rows[i].site };
	for (size_t i = 0; i < profile->site_count; i++)
		sites[i] = (struct match_site){ profile, &profile->sites[i] };
	count = site_match(rows, series->row_count, sites, profile->site_count, series->one_trace,
			   &pairs);
	for (size_t i = 0; i < count; i++) {
		struct series_row *row;

		if (pairs[i].after == MATCH_NONE)
			continue;
		row = pairs[i].before == MATCH_NONE ? row_add(series) :
						      &series->rows[pairs[i].before];
		row_set(row, moment, &sites[pairs[i].after]);
		row->is_moved |= pairs[i].is_moved;
	}
	free(pairs);
	free(rows);
	free(sites);
}

static bool has_any(const struct series *series, const struct series_row *row)
{
	for (size_t i = 0; i < series->count; i++)
		if (row->values[i].count > 0 || row->values[i].bytes > 0)
			return true;
	return false;
}

static void row_values(struct series *series, struct series_row *row,
		       const struct difference *difference)
{
	size_t last = series->count - 1;
	struct number uncertain;

	for (size_t i = 0; i < series->count; i++) {
		if (row->sites[i])
			row->values[i] = row->sites[i]->tally.of[difference->metric];
		number_divide(&row->values[i], series->ends[i].divisor);
	}
	difference_of(difference, row->sites[0], row->sites[last], &row->values[0],
		      &row->values[last], &row->delta, &uncertain);
	row->p = difference_p(&row->delta, &uncertain, series->by_count);
}

static void row_release(struct series_row *row)
{
	free(row->sites);
	free(row->values);
}

static void values(struct series *series, const struct difference *difference)
{
	size_t kept = 0;

	for (int kind = 0; kind < TALLY_KINDS; kind++)
		series->totals[kind].values = memory_zeroed(series->count, sizeof(struct number));
	for (size_t r = 0; r < series->row_count; r++) {
		struct series_row *row = &series->rows[r];
		struct series_row *total = &series->totals[row->site->kind];

		row_values(series, row, difference);
		for (size_t i = 0; i < series->count; i++)
			number_add(&total->values[i], &row->values[i]);
		number_add(&total->delta, &row->delta);
		if (has_any(series, row))
			series->rows[kept++] = *row;
		else
			row_release(row);
	}
	series->row_count = kept;
}

/* ---- words ---- */

/* By time where all moments are of one trace, in its order; else each step is one. */
static void find_places(struct series *series)
{
	bool by_time = series->one_trace;

	series->places = memory_zeroed(series->count, sizeof(*series->places));
	for (size_t i = 1; by_time && i < series->count; i++)
		by_time = series->ends[i].profile->traces[0].end_ns >
			  series->ends[i - 1].profile->traces[0].end_ns;
	for (size_t i = 0; i < series->count; i++)
		series->places[i] = by_time ? (double)series->ends[i].profile->traces[0].end_ns :
					      (double)i;
}

static enum series_trend trend_of(const struct series *series, const struct series_row *row)
{
	size_t last = series->count - 1;
	const double *at = series->places;
	double delta = number_value(&row->delta, series->by_count);
	double step = number_value(&row->values[last], series->by_count) -
		      number_value(&row->values[last - 1], series->by_count);

	if (!row->is_significant || delta == 0)
		return SERIES_STEADY;
	if (delta < 0)
		return SERIES_FALLS;
	return step / (at[last] - at[last - 1]) < SERIES_FLAT * delta / (at[last] - at[0]) ?
		       SERIES_FLATTENS : SERIES_RISES;
}

static void judge(struct series *series, double level)
{
	double *p = memory_zeroed(series->row_count + 1, sizeof(*p));
	bool *marks = memory_zeroed(series->row_count + 1, sizeof(*marks));

	for (size_t i = 0; i < series->row_count; i++)
		p[i] = series->rows[i].p;
	significance_mark(p, series->row_count, level, marks);
	for (size_t i = 0; i < series->row_count; i++) {
		series->rows[i].is_significant =
			marks[i] && number_value(&series->rows[i].delta, series->by_count) != 0;
		series->rows[i].trend = trend_of(series, &series->rows[i]);
	}
	for (int kind = 0; kind < TALLY_KINDS; kind++) {
		struct series_row *total = &series->totals[kind];

		total->p = significance_p(number_value(&total->delta, series->by_count),
					  number_error(&total->delta, series->by_count), 0);
		total->is_significant = total->p <= level;
		total->trend = trend_of(series, total);
	}
	free(p);
	free(marks);
}

/* ---- the whole ---- */

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct series_row *x = a, *y = b;
	const struct series *series = context;
	double dx = number_value(&x->delta, series->by_count);
	double dy = number_value(&y->delta, series->by_count);
	const struct number *ax = &x->values[series->count - 1];
	const struct number *ay = &y->values[series->count - 1];
	const struct profile_frame *wx = &x->site->where, *wy = &y->site->where;
	int order;

	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (ax->bytes != ay->bytes)
		return ax->bytes > ay->bytes ? -1 : 1;
	order = strcmp(wx->function ? wx->function : "", wy->function ? wy->function : "");
	return order ? order : wx->line < wy->line ? -1 : wx->line > wy->line;
}

static int ends_build(struct series *series, struct trace_set *sets, const struct query *query,
		      struct error *err)
{
	int status = 0;

	series->exact = series->complete = true;
	for (size_t i = 0; !status && i < series->count; i++) {
		series->ends[i].set = &sets[i];
		status = profile_build(&sets[i], query, &series->ends[i].profile, err);
		if (status)
			break;
		series->exact &= series->ends[i].profile->exact;
		series->complete &= series->ends[i].profile->complete;
	}
	return status;
}

static bool is_one_trace(const struct series *series)
{
	for (size_t i = 0; i < series->count; i++)
		if (series->ends[i].set->count != 1 ||
		    strcmp(series->ends[i].set->members[0].trace->path,
			   series->ends[0].set->members[0].trace->path))
			return false;
	return true;
}

int series_build(struct trace_set *sets, size_t count, const struct query *query,
		 const struct normalize *normalize, double level, struct series *series,
		 struct error *err)
{
	struct difference difference = { 0 };
	int status;

	*series = (struct series){ .count = count, .by_count = query->by_count,
				   .ends = memory_zeroed(count, sizeof(*series->ends)) };
	status = ends_build(series, sets, query, err);
	if (!status)
		status = difference_init(&difference, series->ends, count, normalize, query, err);
	if (!status) {
		series->one_trace = is_one_trace(series);
		series->gap = difference_gap(series->ends, count);
		for (size_t i = 0; i < count; i++)
			take_moment(series, i);
		values(series, &difference);
		find_places(series);
		judge(series, level);
		if (series->row_count)
			qsort_r(series->rows, series->row_count, sizeof(*series->rows),
				compare_rows, series);
	}
	difference_release(&difference);
	if (status)
		series_release(series);
	return status;
}

void series_release(struct series *series)
{
	for (size_t i = 0; i < series->row_count; i++)
		row_release(&series->rows[i]);
	for (int kind = 0; kind < TALLY_KINDS; kind++)
		free(series->totals[kind].values);
	for (size_t i = 0; series->ends && i < series->count; i++)
		profile_free(series->ends[i].profile);
	free(series->ends);
	free(series->rows);
	free(series->places);
	*series = (struct series){ 0 };
}
