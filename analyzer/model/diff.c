/*
 * See diff.h.
 */
#include "model/diff.h"

#include "model/significance.h"
#include "model/site_match.h"
#include "util/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const diff_status_names[] = { "new", "grown", "shrunk", "gone", "same", NULL };

/* ---- matching ---- */

static void sides_add(struct match_site *sides, struct profile *profile)
{
	for (size_t i = 0; i < profile->site_count; i++)
		sides[i] = (struct match_site){ profile, &profile->sites[i] };
}

static void match(struct diff *diff)
{
	size_t before_count = diff->baseline->site_count, after_count = diff->later->site_count;
	struct match_site *before = memory_zeroed(before_count + 1, sizeof(*before));
	struct match_site *after = memory_zeroed(after_count + 1, sizeof(*after));
	struct match_pair *pairs;

	sides_add(before, diff->baseline);
	sides_add(after, diff->later);
	diff->count = site_match(before, before_count, after, after_count, diff->one_trace, &pairs);
	diff->rows = memory_zeroed(diff->count + 1, sizeof(*diff->rows));
	for (size_t i = 0; i < diff->count; i++) {
		struct diff_row *row = &diff->rows[i];

		row->is_moved = pairs[i].is_moved;
		row->baseline = pairs[i].before == MATCH_NONE ? NULL : before[pairs[i].before].site;
		row->later = pairs[i].after == MATCH_NONE ? NULL : after[pairs[i].after].site;
	}
	free(pairs);
	free(before);
	free(after);
}

/* ---- values ---- */

static bool has_any(const struct number *n)
{
	return n->count > 0 || n->bytes > 0;
}

static enum diff_status status_of(const struct diff_row *row)
{
	double growth = row->delta.bytes ? row->delta.bytes : row->delta.count;

	if (!has_any(&row->before))
		return DIFF_NEW;
	if (!has_any(&row->after))
		return DIFF_GONE;
	return growth > 0 ? DIFF_GROWN : growth < 0 ? DIFF_SHRUNK : DIFF_SAME;
}

static void row_values(struct diff_row *row, const struct diff *diff,
		       const struct difference *difference)
{
	struct number uncertain;

	if (row->baseline)
		row->before = row->baseline->tally.of[difference->metric];
	if (row->later)
		row->after = row->later->tally.of[difference->metric];
	number_divide(&row->before, diff->divisors[0]);
	number_divide(&row->after, diff->divisors[1]);
	difference_of(difference, row->baseline, row->later, &row->before, &row->after,
		      &row->delta, &uncertain);
	row->p = difference_p(&row->delta, &uncertain, diff->by_count);
}

static void values(struct diff *diff, const struct difference *difference)
{
	size_t kept = 0;

	for (size_t i = 0; i < diff->count; i++) {
		struct diff_row *row = &diff->rows[i];
		const struct profile_site *site = row->later ? row->later : row->baseline;

		row_values(row, diff, difference);
		number_add(&diff->before[site->kind], &row->before);
		number_add(&diff->after[site->kind], &row->after);
		number_add(&diff->delta[site->kind], &row->delta);
		if (!has_any(&row->before) && !has_any(&row->after))
			continue;
		row->status = status_of(row);
		diff->rows[kept++] = *row;
	}
	diff->count = kept;
}

static bool sort_by_count;

static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	double dx = number_value(&x->delta, sort_by_count);
	double dy = number_value(&y->delta, sort_by_count);
	const struct profile_site *sx = x->later ? x->later : x->baseline;
	const struct profile_site *sy = y->later ? y->later : y->baseline;
	int order;

	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (x->after.bytes != y->after.bytes)
		return x->after.bytes > y->after.bytes ? -1 : 1;
	order = strcmp(sx->where.function ? sx->where.function : "",
		       sy->where.function ? sy->where.function : "");
	return order ? order : sx->where.line < sy->where.line ? -1 :
							       sx->where.line > sy->where.line;
}

static void mark_significant(struct diff *diff, double level)
{
	double *p = memory_zeroed(diff->count, sizeof(*p));
	bool *marks = memory_zeroed(diff->count, sizeof(*marks));

	for (size_t i = 0; i < diff->count; i++)
		p[i] = diff->rows[i].p;
	significance_mark(p, diff->count, level, marks);
	for (size_t i = 0; i < diff->count; i++)
		diff->rows[i].is_significant = marks[i] && diff->rows[i].status != DIFF_SAME;
	free(p);
	free(marks);
}

/* ---- the whole ---- */

static int ends_build(struct difference_end ends[2], const struct query *query, struct error *err)
{
	int status = profile_build(ends[0].set, query, &ends[0].profile, err);

	return status ? status : profile_build(ends[1].set, query, &ends[1].profile, err);
}

static void compare(struct diff *diff, const struct difference *difference, double level)
{
	diff->exact = diff->baseline->exact && diff->later->exact;
	diff->one_trace = difference->one_trace;
	match(diff);
	values(diff, difference);
	mark_significant(diff, level);
	sort_by_count = diff->by_count;
	if (diff->count)
		qsort(diff->rows, diff->count, sizeof(*diff->rows), compare_rows);
}

int diff_build(struct trace_set *baseline, struct trace_set *later, const struct query *query,
	       const struct normalize *normalize, double level, struct diff *diff,
	       struct error *err)
{
	struct difference_end ends[2] = { { .set = baseline }, { .set = later } };
	struct difference difference = { 0 };
	int status = ends_build(ends, query, err);

	*diff = (struct diff){ .by_count = query->by_count };
	if (!status)
		status = difference_init(&difference, ends, 2, normalize, query, err);
	diff->baseline = ends[0].profile;
	diff->later = ends[1].profile;
	for (int i = 0; i < 2; i++)
		diff->divisors[i] = ends[i].divisor;
	if (!status) {
		diff->gap = difference_gap(ends, 2);
		compare(diff, &difference, level);
	}
	difference_release(&difference);
	if (status)
		diff_release(diff);
	return status;
}

void diff_release(struct diff *diff)
{
	profile_free(diff->baseline);
	profile_free(diff->later);
	free(diff->rows);
	*diff = (struct diff){ 0 };
}
