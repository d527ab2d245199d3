/*
 * The payload's times: the curve of the heap, readings of RSS, and what stacks
 * had live at a row of moments. Only stacks that matter have a row of their own;
 * the last row is all the others together.
 */
#include "page/page_writer.h"

#include "util/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CURVES_MOST 600
#define CURVES_CHANGES 120000 /* and as many more curves as stay below this */
#define CURVES_EVER 4000

/* ---- the curve ---- */

struct curve_point {
	uint64_t us;
	struct page_point at;
};

static void point_add(struct page_point *to, const struct page_point *point)
{
	for (unsigned c = 0; c < PAGE_COLUMNS; c++)
		to->heap[c] += point->heap[c];
	to->mapped_bytes += point->mapped_bytes;
}

/* A bin's highest point where it stands out, then its end. Of several traces
 * only the ends: their highest points lie at different times. */
static size_t curve_points(const struct page_writer *w, struct curve_point *points)
{
	size_t count = 0, members = w->part->set->count;

	points[count++] = (struct curve_point){0};
	for (size_t b = 0; b < PAGE_BINS; b++) {
		struct curve_point last = {.us =
					       micros((uint64_t)((double)w->part->axis->length_ns *
								 (double)(b + 1) / PAGE_BINS))};

		for (size_t m = 0; m < members; m++)
			point_add(&last.at, &w->part->facts[m]->bins[b].last);
		if (members == 1) {
			const struct page_bin *bin = &w->part->facts[0]->bins[b];

			if (bin->high_ns &&
			    bin->high.heap[PAGE_LIVE_BYTES] > last.at.heap[PAGE_LIVE_BYTES])
				points[count++] =
				    (struct curve_point){micros(bin->high_ns), bin->high};
		}
		points[count++] = last;
	}
	return count;
}

static void write_curve_column(struct page_writer *w, const char *name,
			       const struct curve_point *points, size_t count, unsigned column)
{
	double before = 0;

	column_begin(w, name);
	for (size_t i = 0; i < count; i++)
		column_step(w, &before, round(points[i].at.heap[column]));
	column_end(w);
}

static void write_timeline(struct page_writer *w)
{
	struct curve_point *points = memory_zeroed(2 * PAGE_BINS + 1, sizeof(*points));
	size_t count = curve_points(w, points);
	double before = 0;

	json_object_begin(w->json, "timeline");
	column_begin(w, "t");
	for (size_t i = 0; i < count; i++)
		json_unsigned(w->json, NULL, points[i].us - (i ? points[i - 1].us : 0));
	column_end(w);
	write_curve_column(w, "live_bytes", points, count, PAGE_LIVE_BYTES);
	write_curve_column(w, "live_count", points, count, PAGE_LIVE_COUNT);
	write_curve_column(w, "allocated_bytes", points, count, PAGE_MADE_BYTES);
	write_curve_column(w, "allocated_count", points, count, PAGE_MADE_COUNT);
	column_begin(w, "mapped_bytes");
	for (size_t i = 0; i < count; i++)
		column_step(w, &before, round(points[i].at.mapped_bytes));
	column_end(w);
	json_object_end(w->json);
	free(points);
}

static void write_readings(struct page_writer *w)
{
	const struct trace *trace = w->profile->traces[0].trace;

	if (w->part->set->count != 1 || !trace->reading_count)
		return;
	json_object_begin(w->json, "readings");
	column_begin(w, "t");
	for (size_t i = 0; i < trace->reading_count; i++)
		json_unsigned(w->json, NULL, micros(trace->readings[i].time_ns));
	column_end(w);
	column_begin(w, "resident");
	for (size_t i = 0; i < trace->reading_count; i++)
		json_unsigned(w->json, NULL, trace->readings[i].resident);
	column_end(w);
	column_begin(w, "shared");
	for (size_t i = 0; i < trace->reading_count; i++)
		json_unsigned(w->json, NULL, trace->readings[i].shared);
	column_end(w);
	json_object_end(w->json);
}

/* ---- moments ---- */

/* What a row is worth keeping a curve for: its part of the highest live bytes
 * and of everything allocated. */
static void score_rows(struct page_writer *w)
{
	double peak =
	    w->profile->heap.of[METRIC_PEAK].bytes + w->profile->mapped.of[METRIC_PEAK].bytes + 1;
	double made = w->profile->heap.of[METRIC_ALLOCATED].bytes +
		      w->profile->mapped.of[METRIC_ALLOCATED].bytes + 1;

	for (size_t i = 0; i < w->row_count; i++)
		w->rows[i].score = w->rows[i].tally.of[METRIC_ALLOCATED].bytes / made / 4;
	for (size_t m = 0; m < w->part->set->count; m++) {
		const struct page_facts *facts = w->part->facts[m];

		for (size_t s = 0; s < facts->series_count; s++) {
			uint32_t row = w->rows_of_series[m][s];

			if (row == UINT32_MAX)
				continue;
			w->rows[row].score += facts->series[s].highest / peak;
			w->rows[row].changes += facts->series[s].change_count;
		}
	}
}

static struct page_writer *sort_writer;

static int compare_scores(const void *a, const void *b)
{
	const struct page_row *x = &sort_writer->rows[*(const uint32_t *)a];
	const struct page_row *y = &sort_writer->rows[*(const uint32_t *)b];

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The rows with a curve, most important first. */
static size_t choose_rows(struct page_writer *w, uint32_t *order)
{
	size_t chosen = 0, changes = 0;

	for (uint32_t i = 0; i < w->row_count; i++)
		order[i] = i;
	sort_writer = w;
	qsort(order, w->row_count, sizeof(*order), compare_scores);
	for (; chosen < w->row_count && chosen < CURVES_EVER; chosen++) {
		changes += w->rows[order[chosen]].changes;
		if (chosen >= CURVES_MOST && changes > CURVES_CHANGES)
			break;
	}
	return chosen;
}

/* The series of each row, as lists: first_of[row], next_of[member][series]. */
struct series_ref {
	uint32_t member, series, next;
};

struct series_lists {
	uint32_t *first; /* by row; UINT32_MAX ends */
	struct series_ref *refs;
	size_t count;
};

static void lists_init(struct series_lists *lists, const struct page_writer *w,
		       const uint32_t *place)
{
	lists->first = memory_zeroed(w->row_count + 1, sizeof(uint32_t));
	memset(lists->first, 0xff, (w->row_count + 1) * sizeof(uint32_t));
	lists->refs = NULL;
	lists->count = 0;
	for (uint32_t m = 0; m < w->part->set->count; m++) {
		for (uint32_t s = 0; s < w->part->facts[m]->series_count; s++) {
			uint32_t row = w->rows_of_series[m][s];
			uint32_t at = row == UINT32_MAX ? UINT32_MAX : place[row];

			if (at == UINT32_MAX) {
				if (w->part->facts[m]->series[s].kind != TALLY_HEAP ||
				    row == UINT32_MAX)
					continue;
				at = (uint32_t)w->row_count; /* all the others */
			}
			MEMORY_ROOM(lists->refs, lists->count);
			lists->refs[lists->count] = (struct series_ref){m, s, lists->first[at]};
			lists->first[at] = (uint32_t)lists->count++;
		}
	}
}

static void write_changes(struct page_writer *w, const struct series_lists *lists, uint32_t at,
			  unsigned column, double *sums)
{
	size_t moments = w->part->axis->moment_count;

	memset(sums, 0, moments * sizeof(*sums));
	for (uint32_t r = lists->first[at]; r != UINT32_MAX; r = lists->refs[r].next) {
		const struct page_series *series =
		    &w->part->facts[lists->refs[r].member]->series[lists->refs[r].series];

		for (size_t c = 0; c < series->change_count; c++)
			sums[series->changes[c].at] += series->changes[c].by[column];
	}
	json_array_begin(w->json, NULL);
	for (size_t e = 0; e < moments; e++) {
		if (sums[e] == 0)
			continue;
		json_unsigned(w->json, NULL, e);
		json_double(w->json, NULL, w->profile->exact ? sums[e] : round(sums[e]));
	}
	json_array_end(w->json);
}

static void write_moments(struct page_writer *w)
{
	static const char *const names[PAGE_COLUMNS] = {"live_bytes", "live_count",
							"allocated_bytes", "allocated_count"};
	uint32_t *order = memory_zeroed(w->row_count + 1, sizeof(*order));
	uint32_t *place = memory_zeroed(w->row_count + 1, sizeof(*place));
	double *sums = memory_zeroed(w->part->axis->moment_count, sizeof(*sums));
	struct series_lists lists;
	size_t chosen;

	score_rows(w);
	chosen = choose_rows(w, order);
	memset(place, 0xff, (w->row_count + 1) * sizeof(*place));
	for (uint32_t i = 0; i < chosen; i++)
		place[order[i]] = i;
	lists_init(&lists, w, place);
	json_object_begin(w->json, "moments");
	column_begin(w, "t");
	for (size_t e = 0; e < w->part->axis->moment_count; e++)
		json_double(w->json, NULL, (double)w->part->axis->moments_ns[e] / 1000);
	column_end(w);
	column_begin(w, "stack");
	for (size_t i = 0; i < chosen; i++)
		json_unsigned(w->json, NULL, order[i]);
	column_end(w);
	for (unsigned c = 0; c < PAGE_COLUMNS; c++) {
		column_begin(w, names[c]);
		for (uint32_t i = 0; i < chosen; i++)
			write_changes(w, &lists, i, c, sums);
		write_changes(w, &lists, (uint32_t)w->row_count, c, sums);
		column_end(w);
	}
	json_object_end(w->json);
	free(lists.first);
	free(lists.refs);
	free(order);
	free(place);
	free(sums);
}

void page_write_times(struct page_writer *w)
{
	write_timeline(w);
	write_readings(w);
	write_moments(w);
}
