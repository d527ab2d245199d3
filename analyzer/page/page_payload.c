/*
 * See page_payload.h. Sites and stacks come from the profile, times from the
 * facts. Stacks too small to be looked at one by one are put together, one for
 * each site, so that sites still add up; of the rest the most important ones get
 * a curve of their own.
 */
#include "page/page_payload.h"

#include "page/page_memory.h"
#include "page/page_names.h"
#include "util/memory.h"
#include "view/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STACKS_MOST 20000
#define STACK_SHARE 0.00005 /* of everything: what a stack must reach to be kept */
#define CURVES_MOST 600
#define CURVES_CHANGES 120000 /* and as many more curves as stay below this */
#define CURVES_EVER 4000
#define MODULES_MOST 400
#define MARKS_MOST 4000
#define SOURCES_MOST 60
#define SOURCE_LINES 4 /* before and after */

struct stack_row {
	uint32_t site, node;
	struct tally tally;
	double score; /* how much it matters over time */
	size_t changes;
};

struct writer {
	const struct page_part *part;
	struct profile *profile;
	struct json *json;
	struct page_names names;
	struct stack_row *rows;
	size_t row_count;
	struct hash_map row_of;    /* by site and node */
	uint32_t **rows_of_series; /* by member and series; UINT32_MAX = none */
	uint32_t *site_frames;
};

/* ---- small things ---- */

static uint64_t micros(uint64_t ns)
{
	return ns / 1000;
}

static void column_begin(struct writer *w, const char *name)
{
	json_array_begin(w->json, name);
}

static void column_end(struct writer *w)
{
	json_array_end(w->json);
}

/* ---- stacks ---- */

static bool is_worth_keeping(const struct profile *profile, const struct profile_stack *stack)
{
	const struct tally *all = stack->kind == TALLY_HEAP ? &profile->heap : &profile->mapped;

	for (unsigned m = 0; m < METRIC_COUNT; m++) {
		const struct number *part = &stack->tally.of[m], *whole = &all->of[m];

		if (part->bytes > whole->bytes * STACK_SHARE ||
		    part->count > whole->count * STACK_SHARE)
			return true;
	}
	return false;
}

/* Its callers are not kept: what is left is the site under a name that says so. */
static uint32_t collapsed_node(struct writer *w, uint32_t site)
{
	static const struct profile_frame frame = {.function = "(callers not kept)"};

	return page_child(&w->names, page_child(&w->names, 0, page_frame(&w->names, &frame)),
			  w->site_frames[site]);
}

static uint64_t row_key(uint32_t site, uint32_t node)
{
	return (uint64_t)site << 32 | node;
}

static uint32_t row_get(struct writer *w, uint32_t site, uint32_t node)
{
	uint32_t row = hash_map_get(&w->row_of, row_key(site, node));

	if (row != HASH_MAP_NONE)
		return row;
	row = (uint32_t)w->row_count;
	MEMORY_ROOM(w->rows, w->row_count);
	w->rows[w->row_count++] = (struct stack_row){.site = site, .node = node};
	hash_map_set(&w->row_of, row_key(site, node), row);
	return row;
}

static void collect_site(struct writer *w, uint32_t index)
{
	const struct profile_site *site = &w->profile->sites[index];

	w->site_frames[index] = page_frame(&w->names, &site->where);
	for (size_t s = 0; s < site->stack_count; s++) {
		const struct profile_stack *stack = &site->stacks[s];
		bool keep = w->profile->heap.of[METRIC_ALLOCATED].count < 1 ||
			    w->row_count < 2000 ||
			    (w->row_count < STACKS_MOST && is_worth_keeping(w->profile, stack));
		const struct profile_frame *frames;
		size_t count = profile_frames(w->profile, stack, &frames);
		uint32_t node =
		    keep && count ? page_path(&w->names, frames, count) : collapsed_node(w, index);
		uint32_t row = row_get(w, index, node);

		tally_add(&w->rows[row].tally, &stack->tally);
	}
}

/* Which row each series belongs to: by its names, as equal stacks were merged. */
static void match_series(struct writer *w)
{
	for (size_t m = 0; m < w->part->set->count; m++) {
		size_t count = w->part->facts[m]->series_count;

		w->rows_of_series[m] = memory_zeroed(count + 1, sizeof(uint32_t));
		memset(w->rows_of_series[m], 0xff, (count + 1) * sizeof(uint32_t));
	}
	for (uint32_t i = 0; i < w->profile->site_count; i++) {
		const struct profile_site *site = &w->profile->sites[i];

		for (size_t c = 0; c < site->cell_count; c++) {
			const struct profile_cell *cell = &site->cells[c];
			uint32_t series =
			    page_facts_series(w->part->facts[cell->member], cell->kind, cell->node);
			const struct profile_frame *frames;
			size_t count =
			    profile_node_frames(w->profile, cell->member, cell->node, &frames);
			uint32_t row = HASH_MAP_NONE;

			if (series == UINT32_MAX)
				continue;
			if (count)
				row = hash_map_get(&w->row_of,
						   row_key(i, page_path(&w->names, frames, count)));
			if (row == HASH_MAP_NONE)
				row = row_get(w, i, collapsed_node(w, i));
			w->rows_of_series[cell->member][series] = row;
		}
	}
}

static void collect(struct writer *w)
{
	w->site_frames = memory_zeroed(w->profile->site_count + 1, sizeof(*w->site_frames));
	w->rows_of_series = memory_zeroed(w->part->set->count, sizeof(*w->rows_of_series));
	for (uint32_t i = 0; i < w->profile->site_count; i++)
		collect_site(w, i);
	match_series(w);
}

/* ---- trace and totals ---- */

static void write_number(struct writer *w, const char *key, const struct number *number)
{
	json_number(w->json, key, number);
}

static void write_totals(struct writer *w, const char *key, const struct tally *tally)
{
	json_object_begin(w->json, key);
	for (unsigned m = 0; m < METRIC_COUNT; m++)
		write_number(w, metric_names[m], &tally->of[m]);
	json_object_end(w->json);
}

static const struct trace_info *first_info(const struct writer *w)
{
	return &w->profile->traces[0].trace->info;
}

static void write_command(struct writer *w)
{
	char **word = first_info(w)->command;

	json_array_begin(w->json, "command");
	for (; word && *word; word++)
		json_string(w->json, NULL, *word);
	json_array_end(w->json);
}

static uint64_t dropped_events(const struct trace *trace)
{
	uint64_t events = 0;

	for (size_t i = 0; i < trace->loss_count; i++)
		if (trace->losses[i].cause != TRACE_LOSS_STOPPED)
			events += trace->losses[i].events;
	return events;
}

static void write_warnings(struct writer *w)
{
	json_array_begin(w->json, "warnings");
	for (size_t i = 0; i < w->profile->trace_count; i++) {
		const struct trace *trace = w->profile->traces[i].trace;
		uint64_t dropped = dropped_events(trace);
		char text[512];

		if (!trace->info.complete && !trace->info.running) {
			snprintf(text, sizeof(text),
				 "The trace of %s %" PRIu64
				 " was cut short: the program did not end in order, or part of the "
				 "file is damaged.",
				 path_base(trace->info.exe), trace->info.pid);
			json_string(w->json, NULL, text);
		}
		if (dropped) {
			snprintf(text, sizeof(text),
				 "%" PRIu64 " events are missing from the trace of %s %" PRIu64
				 ": memprof-report info says why.",
				 dropped, path_base(trace->info.exe), trace->info.pid);
			json_string(w->json, NULL, text);
		}
	}
	if (w->profile->filtered)
		json_string(
		    w->json, NULL,
		    "Filters of the command line took stacks away: totals are of what is shown.");
	json_array_end(w->json);
}

static void write_trace(struct writer *w)
{
	const struct trace_info *info = first_info(w);
	uint64_t events = 0, modules = 0, unresolved = 0;

	for (size_t i = 0; i < w->profile->trace_count; i++) {
		events += w->profile->traces[i].trace->info.events;
		modules += w->profile->traces[i].modules_used;
		unresolved += w->profile->traces[i].unresolved_frames;
	}
	json_object_begin(w->json, "trace");
	json_string(w->json, "path",
		    w->part->set->name ? w->part->set->name : w->profile->traces[0].trace->path);
	json_unsigned(w->json, "pid", info->pid);
	json_string(w->json, "exe", info->exe);
	write_command(w);
	json_unsigned(w->json, "start_unix_ns", info->start_unix_ns);
	json_unsigned(w->json, "duration_ns", w->part->axis->length_ns);
	json_unsigned(w->json, "rate_bytes", info->rate_bytes);
	json_bool(w->json, "exact", w->profile->exact);
	json_bool(w->json, "complete", w->profile->complete);
	json_bool(w->json, "running", info->running);
	json_unsigned(w->json, "events", events);
	json_unsigned(w->json, "modules", modules);
	json_unsigned(w->json, "unresolved_frames", unresolved);
	write_warnings(w);
	json_object_end(w->json);
}

static void write_verdict(struct writer *w)
{
	json_string(w->json, "verdict", program_verdict_names[w->part->judgement->program]);
	json_array_begin(w->json, "sentences");
	for (unsigned i = 0; i < 2; i++)
		if (w->part->sentences[i] && *w->part->sentences[i])
			json_string(w->json, NULL, w->part->sentences[i]);
	json_array_end(w->json);
}

/* ---- metrics as columns ---- */

static void write_metric_columns(struct writer *w, size_t count,
				 const struct tally *(*tally_of)(const struct writer *, size_t))
{
	for (unsigned m = 0; m < METRIC_COUNT; m++) {
		for (unsigned by_count = 0; by_count < 2; by_count++) {
			char name[64];

			snprintf(name, sizeof(name), "%s_%s", metric_names[m],
				 by_count ? "count" : "bytes");
			column_begin(w, name);
			for (size_t i = 0; i < count; i++)
				json_double(w->json, NULL,
					    number_value(&tally_of(w, i)->of[m], by_count));
			column_end(w);
			if (w->profile->exact)
				continue;
			strncat(name, "_error", sizeof(name) - strlen(name) - 1);
			column_begin(w, name);
			for (size_t i = 0; i < count; i++)
				json_double(w->json, NULL,
					    round(number_error(&tally_of(w, i)->of[m], by_count)));
			column_end(w);
		}
	}
}

static const struct tally *site_tally(const struct writer *w, size_t i)
{
	return &w->profile->sites[i].tally;
}

static const struct tally *row_tally(const struct writer *w, size_t i)
{
	return &w->rows[i].tally;
}

static void write_sites(struct writer *w)
{
	size_t count = w->profile->site_count;

	json_object_begin(w->json, "sites");
	column_begin(w, "kind");
	for (size_t i = 0; i < count; i++)
		json_unsigned(w->json, NULL, w->profile->sites[i].kind == TALLY_MAPPED);
	column_end(w);
	column_begin(w, "frame");
	for (size_t i = 0; i < count; i++)
		json_unsigned(w->json, NULL, w->site_frames[i]);
	column_end(w);
	column_begin(w, "verdict");
	for (size_t i = 0; i < count; i++)
		json_unsigned(
		    w->json, NULL,
		    w->part->judgement->sites[i] == VERDICT_UNKNOWN
			? 0
			: page_string(&w->names, verdict_names[w->part->judgement->sites[i]]));
	column_end(w);
	write_metric_columns(w, count, site_tally);
	json_object_end(w->json);
}

static void write_stacks(struct writer *w)
{
	json_object_begin(w->json, "stacks");
	column_begin(w, "site");
	for (size_t i = 0; i < w->row_count; i++)
		json_unsigned(w->json, NULL, w->rows[i].site);
	column_end(w);
	column_begin(w, "node");
	for (size_t i = 0; i < w->row_count; i++)
		json_unsigned(w->json, NULL, w->rows[i].node);
	column_end(w);
	write_metric_columns(w, w->row_count, row_tally);
	json_object_end(w->json);
}

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
static size_t curve_points(const struct writer *w, struct curve_point *points)
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

static void write_curve_column(struct writer *w, const char *name, const struct curve_point *points,
			       size_t count, unsigned column)
{
	column_begin(w, name);
	for (size_t i = 0; i < count; i++)
		json_double(w->json, NULL, round(points[i].at.heap[column]));
	column_end(w);
}

static void write_timeline(struct writer *w)
{
	struct curve_point *points = memory_zeroed(2 * PAGE_BINS + 1, sizeof(*points));
	size_t count = curve_points(w, points);

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
		json_double(w->json, NULL, round(points[i].at.mapped_bytes));
	column_end(w);
	json_object_end(w->json);
	free(points);
}

static void write_readings(struct writer *w)
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
static void score_rows(struct writer *w)
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

static struct writer *sort_writer;

static int compare_scores(const void *a, const void *b)
{
	const struct stack_row *x = &sort_writer->rows[*(const uint32_t *)a];
	const struct stack_row *y = &sort_writer->rows[*(const uint32_t *)b];

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The rows with a curve, most important first. */
static size_t choose_rows(struct writer *w, uint32_t *order)
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

static void lists_init(struct series_lists *lists, const struct writer *w, const uint32_t *place)
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

static void write_changes(struct writer *w, const struct series_lists *lists, uint32_t at,
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

static void write_moments(struct writer *w)
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

/* ---- marks ---- */

struct page_mark {
	uint64_t us;
	const char *kind, *name, *detail;
	uint64_t value;
};

struct mark_list {
	struct page_mark *marks;
	size_t count;
};

static const char *const mark_kinds[] = {
    [TRACE_MARK_SNAPSHOT] = "snapshot", [TRACE_MARK_EVENT] = "event", [TRACE_MARK_RESET] = "reset",
    [TRACE_MARK_START] = "start",       [TRACE_MARK_STOP] = "stop",   [TRACE_MARK_RATE] = "rate",
};

static void mark_add(struct mark_list *list, uint64_t ns, const char *kind, const char *name,
		     const char *detail, uint64_t value)
{
	if (list->count >= MARKS_MOST)
		return;
	MEMORY_ROOM(list->marks, list->count);
	list->marks[list->count++] = (struct page_mark){micros(ns), kind, name, detail, value};
}

static void marks_of_trace(struct mark_list *list, const struct trace *trace, uint64_t shift_ns)
{
	for (size_t i = 0; i < trace->mark_count; i++) {
		const struct trace_marker *mark = &trace->marks[i];

		if (mark->kind < sizeof(mark_kinds) / sizeof(*mark_kinds) && mark_kinds[mark->kind])
			mark_add(list, shift_ns + mark->time_ns, mark_kinds[mark->kind], mark->name,
				 mark->detail, mark->value);
	}
	for (size_t i = 1; i < trace->thread_count; i++)
		mark_add(list, shift_ns + trace->threads[i].first_ns, "thread",
			 trace->threads[i].name, "", trace->threads[i].tid);
	for (size_t i = 0; i < trace->module_count; i++)
		if (trace->modules[i].first_ns > 0)
			mark_add(list, shift_ns + trace->modules[i].first_ns, "module",
				 trace->modules[i].path, "", 0);
}

static int compare_marks(const void *a, const void *b)
{
	const struct page_mark *x = a, *y = b;

	return x->us < y->us ? -1 : x->us > y->us;
}

static void write_marks(struct writer *w)
{
	struct mark_list list = {0};

	for (size_t m = 0; m < w->part->set->count; m++)
		marks_of_trace(&list, w->part->set->members[m].trace, w->part->facts[m]->shift_ns);
	if (list.count)
		qsort(list.marks, list.count, sizeof(*list.marks), compare_marks);
	json_object_begin(w->json, "marks");
	column_begin(w, "t");
	for (size_t i = 0; i < list.count; i++)
		json_unsigned(w->json, NULL, list.marks[i].us);
	column_end(w);
	column_begin(w, "kind");
	for (size_t i = 0; i < list.count; i++)
		json_string(w->json, NULL, list.marks[i].kind);
	column_end(w);
	column_begin(w, "name");
	for (size_t i = 0; i < list.count; i++)
		json_string(w->json, NULL, list.marks[i].name ? list.marks[i].name : "");
	column_end(w);
	column_begin(w, "detail");
	for (size_t i = 0; i < list.count; i++)
		json_string(w->json, NULL, list.marks[i].detail ? list.marks[i].detail : "");
	column_end(w);
	column_begin(w, "value");
	for (size_t i = 0; i < list.count; i++)
		json_unsigned(w->json, NULL, list.marks[i].value);
	column_end(w);
	json_object_end(w->json);
	free(list.marks);
}

/* ---- sizes, lifetimes, threads, modules, processes ---- */

#define FACT_COLUMN(w, name, rows, field)                                                          \
	do {                                                                                       \
		column_begin(w, name);                                                             \
		for (size_t i = 0; i < (rows); i++) {                                              \
			double sum = 0;                                                            \
			for (size_t m = 0; m < (w)->part->set->count; m++)                         \
				sum += (w)->part->facts[m]->field;                                 \
			json_double((w)->json, NULL, round(sum));                                  \
		}                                                                                  \
		column_end(w);                                                                     \
	} while (0)

/* Classes in which nothing ever was are left out at both ends by the page. */
static void write_sizes(struct writer *w)
{
	json_object_begin(w->json, "sizes");
	column_begin(w, "from");
	for (unsigned i = 0; i < SIZE_CLASSES; i++)
		json_unsigned(w->json, NULL, i ? size_class_limits[i - 1] + 1 : 0);
	column_end(w);
	column_begin(w, "to");
	for (unsigned i = 0; i < SIZE_CLASSES; i++)
		json_unsigned(w->json, NULL, size_class_limits[i]);
	column_end(w);
	FACT_COLUMN(w, "allocated_count", SIZE_CLASSES, sizes.classes[i].made.count);
	FACT_COLUMN(w, "allocated_bytes", SIZE_CLASSES, sizes.classes[i].made.bytes);
	FACT_COLUMN(w, "live_count", SIZE_CLASSES, sizes.classes[i].live.count);
	FACT_COLUMN(w, "live_bytes", SIZE_CLASSES, sizes.classes[i].live.bytes);
	json_object_end(w->json);
}

static void write_lifetimes(struct writer *w)
{
	json_object_begin(w->json, "lifetimes");
	column_begin(w, "from");
	for (unsigned i = 0; i < AGE_CLASSES; i++)
		json_unsigned(w->json, NULL, i ? micros(age_class_limits_ns[i - 1]) : 0);
	column_end(w);
	column_begin(w, "to"); /* the last has no end: -1 */
	for (unsigned i = 0; i < AGE_CLASSES; i++)
		json_double(w->json, NULL,
			    i + 1 == AGE_CLASSES ? -1 : (double)micros(age_class_limits_ns[i]));
	column_end(w);
	FACT_COLUMN(w, "count", AGE_CLASSES, lifetimes.freed[i].count);
	FACT_COLUMN(w, "bytes", AGE_CLASSES, lifetimes.freed[i].bytes);
	FACT_COLUMN(w, "live_count", AGE_CLASSES, lifetimes.living[i].count);
	FACT_COLUMN(w, "live_bytes", AGE_CLASSES, lifetimes.living[i].bytes);
	json_object_end(w->json);
}

struct thread_row {
	const struct trace_thread *thread;
	struct page_thread numbers;
	uint64_t shift_ns;
};

static int compare_threads(const void *a, const void *b)
{
	const struct thread_row *x = a, *y = b;

	if (x->numbers.made_count != y->numbers.made_count)
		return x->numbers.made_count > y->numbers.made_count ? -1 : 1;
	return x->thread->tid < y->thread->tid ? -1 : x->thread->tid > y->thread->tid;
}

static size_t thread_rows(const struct writer *w, struct thread_row **rows)
{
	size_t count = 0;

	*rows = NULL;
	for (size_t m = 0; m < w->part->set->count; m++) {
		const struct trace *trace = w->part->set->members[m].trace;
		const struct page_facts *facts = w->part->facts[m];

		for (size_t t = 0; t < trace->thread_count; t++) {
			MEMORY_ROOM(*rows, count);
			(*rows)[count++] = (struct thread_row){
			    &trace->threads[t],
			    t < facts->thread_count ? facts->threads[t] : (struct page_thread){0},
			    facts->shift_ns};
		}
	}
	if (count)
		qsort(*rows, count, sizeof(**rows), compare_threads);
	return count < 1000 ? count : 1000;
}

#define ROW_COLUMN(w, name, rows, count, value)                                                    \
	do {                                                                                       \
		column_begin(w, name);                                                             \
		for (size_t i = 0; i < (count); i++)                                               \
			json_double((w)->json, NULL, (double)(value));                             \
		column_end(w);                                                                     \
	} while (0)

static void write_threads(struct writer *w)
{
	struct thread_row *rows;
	size_t count = thread_rows(w, &rows);

	json_object_begin(w->json, "threads");
	ROW_COLUMN(w, "tid", rows, count, rows[i].thread->tid);
	column_begin(w, "name");
	for (size_t i = 0; i < count; i++)
		json_string(w->json, NULL, rows[i].thread->name ? rows[i].thread->name : "");
	column_end(w);
	ROW_COLUMN(w, "first", rows, count, micros(rows[i].shift_ns + rows[i].thread->first_ns));
	ROW_COLUMN(w, "last", rows, count, micros(rows[i].shift_ns + rows[i].thread->last_ns));
	ROW_COLUMN(w, "allocated_count", rows, count, round(rows[i].numbers.made_count));
	ROW_COLUMN(w, "allocated_bytes", rows, count, round(rows[i].numbers.made_bytes));
	ROW_COLUMN(w, "freed_count", rows, count, round(rows[i].numbers.freed_count));
	ROW_COLUMN(w, "live_bytes", rows, count, round(rows[i].numbers.live_bytes));
	json_object_end(w->json);
	free(rows);
}

static void write_modules(struct writer *w)
{
	const struct trace *trace = w->profile->traces[0].trace;
	size_t count = trace->module_count < MODULES_MOST ? trace->module_count : MODULES_MOST;

	json_object_begin(w->json, "modules");
	column_begin(w, "path");
	for (size_t i = 0; i < count; i++)
		json_string(w->json, NULL, trace->modules[i].path);
	column_end(w);
	column_begin(w, "build_id");
	for (size_t i = 0; i < count; i++) {
		char hex[2 * sizeof(trace->modules[i].build_id) + 1] = "";

		for (unsigned b = 0; b < trace->modules[i].build_id_bytes; b++)
			snprintf(hex + 2 * b, 3, "%02x", trace->modules[i].build_id[b]);
		json_string(w->json, NULL, hex);
	}
	column_end(w);
	json_object_end(w->json);
}

static void write_processes(struct writer *w)
{
	if (w->part->set->count < 2)
		return;
	json_array_begin(w->json, "processes");
	for (size_t m = 0; m < w->profile->trace_count; m++) {
		const struct profile_trace *pt = &w->profile->traces[m];
		const struct trace_info *info = &pt->trace->info;
		uint64_t first = micros(w->part->facts[m]->shift_ns);

		json_object_begin(w->json, NULL);
		json_unsigned(w->json, "pid", info->pid);
		json_unsigned(w->json, "ppid", info->ppid);
		json_string(w->json, "exe", info->exe);
		json_unsigned(w->json, "first", first);
		json_unsigned(w->json, "last", first + micros(info->duration_ns));
		json_double(w->json, "live_bytes", pt->totals.heap.of[METRIC_LIVE].bytes);
		json_double(w->json, "peak_bytes", pt->totals.heap.of[METRIC_PEAK].bytes);
		json_double(w->json, "allocated_bytes", pt->totals.heap.of[METRIC_ALLOCATED].bytes);
		json_double(w->json, "allocated_count", pt->totals.heap.of[METRIC_ALLOCATED].count);
		json_object_end(w->json);
	}
	json_array_end(w->json);
}

/* ---- sources ---- */

/* Writes the lines around @line; false when there is no such file or line. */
static bool write_source(struct writer *w, const char *path, uint32_t line)
{
	FILE *file = fopen(path, "re");
	uint32_t first = line > SOURCE_LINES ? line - SOURCE_LINES : 1, at = 0;
	char *text = NULL;
	size_t room = 0;
	ssize_t length;
	bool is_begun = false;

	while (file && at < line + SOURCE_LINES && (length = getline(&text, &room, file)) >= 0) {
		if (++at < first)
			continue;
		if (!is_begun) {
			json_object_begin(w->json, NULL);
			json_unsigned(w->json, "file", page_string(&w->names, path));
			json_unsigned(w->json, "first", first);
			json_array_begin(w->json, "lines");
			is_begun = true;
		}
		text[strcspn(text, "\r\n")] = '\0';
		if (length > 400)
			text[400] = '\0';
		json_string(w->json, NULL, text);
	}
	if (is_begun) {
		json_array_end(w->json);
		json_object_end(w->json);
	}
	free(text);
	if (file)
		fclose(file);
	return is_begun;
}

static double site_weight(const struct writer *w, const struct profile_site *site)
{
	const struct tally *all =
	    site->kind == TALLY_HEAP ? &w->profile->heap : &w->profile->mapped;
	double weight = 0;

	for (unsigned m = 0; m < METRIC_COUNT; m++)
		if (all->of[m].bytes > 0)
			weight += site->tally.of[m].bytes / all->of[m].bytes;
	return weight;
}

static int compare_sites(const void *a, const void *b)
{
	const struct profile_site *x = &sort_writer->profile->sites[*(const uint32_t *)a];
	const struct profile_site *y = &sort_writer->profile->sites[*(const uint32_t *)b];
	double p = site_weight(sort_writer, x), q = site_weight(sort_writer, y);

	if (p != q)
		return p > q ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void write_sources(struct writer *w)
{
	uint32_t *order = memory_zeroed(w->profile->site_count + 1, sizeof(*order));
	size_t written = 0;

	for (uint32_t i = 0; i < w->profile->site_count; i++)
		order[i] = i;
	sort_writer = w;
	qsort(order, w->profile->site_count, sizeof(*order), compare_sites);
	json_array_begin(w->json, "sources");
	for (size_t i = 0;
	     i < w->profile->site_count && i < 4 * SOURCES_MOST && written < SOURCES_MOST; i++) {
		const struct profile_frame *where = &w->profile->sites[order[i]].where;

		if (where->file && *where->file == '/' && where->line)
			written += write_source(w, where->file, where->line);
	}
	json_array_end(w->json);
	free(order);
}

/* ---- all of it ---- */

static void release(struct writer *w)
{
	for (size_t m = 0; m < w->part->set->count; m++)
		free(w->rows_of_series[m]);
	free(w->rows_of_series);
	free(w->rows);
	free(w->site_frames);
	hash_map_release(&w->row_of);
	page_names_release(&w->names);
}

/* Names last: everything before may add to them. */
static void write_part(struct json *json, const struct page_part *part)
{
	struct writer w = {.part = part, .profile = part->judgement->profile, .json = json};

	page_names_init(&w.names);
	collect(&w);
	json_object_begin(json, NULL);
	write_trace(&w);
	write_totals(&w, "totals", &w.profile->heap);
	write_totals(&w, "mapped", &w.profile->mapped);
	if (part->set->count == 1)
		json_unsigned(json, "peak_us", micros(w.profile->traces[0].totals.peak_ns));
	write_verdict(&w);
	write_sites(&w);
	write_stacks(&w);
	write_timeline(&w);
	write_readings(&w);
	write_moments(&w);
	write_marks(&w);
	write_sizes(&w);
	write_lifetimes(&w);
	write_threads(&w);
	write_modules(&w);
	write_processes(&w);
	if (part->set->count == 1)
		page_memory_write(json, part->set->members[0].trace);
	write_sources(&w);
	page_names_write(&w.names, json);
	json_object_end(json);
	release(&w);
}

void page_payload_write(FILE *out, const char *tool, const struct page_part *parts, size_t count)
{
	struct json json;

	json_init(&json, out);
	json.is_compact = true;
	json_object_begin(&json, NULL);
	json_string(&json, "schema", "memprof.page/1");
	json_string(&json, "tool", tool);
	json_array_begin(&json, "traces");
	for (size_t i = 0; i < count; i++)
		write_part(&json, &parts[i]);
	json_array_end(&json);
	json_object_end(&json);
}
