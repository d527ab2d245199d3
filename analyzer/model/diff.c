/*
 * See diff.h.
 */
#include "model/diff.h"

#include "model/significance.h"
#include "util/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const diff_status_names[] = { "new", "grown", "shrunk", "gone", "same", NULL };

/* ---- what was born or freed between two moments of one trace ---- */

struct between {
	struct aggregator aggregator;
	uint64_t after_ns;         /* the earlier moment */
	struct between_cell {
		double count, bytes; /* variances */
	} *cells[TALLY_KINDS];     /* by stack */
	size_t cell_counts[TALLY_KINDS];
	bool is_used;
};

static struct between_cell *between_cell(struct between *between, int kind, uint32_t stack)
{
	size_t count = between->cell_counts[kind];

	if (stack >= count) {
		size_t more = count ? count : 1024;

		while (more <= stack)
			more *= 2;
		between->cells[kind] = memory_resize(between->cells[kind], more,
						     sizeof(**between->cells));
		memset(between->cells[kind] + count, 0, (more - count) * sizeof(**between->cells));
		between->cell_counts[kind] = more;
	}
	return &between->cells[kind][stack];
}

static void between_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct between *between = (struct between *)self;
	struct number n;

	for (const struct trace_event *e = events; e < events + count; e++) {
		bool is_birth = e->kind == TRACE_EVENT_ALLOCATE || e->kind == TRACE_EVENT_MAP;
		int kind = e->kind <= TRACE_EVENT_FREE ? TALLY_HEAP : TALLY_MAPPED;
		struct between_cell *cell;
		double sign;

		if (e->rate <= 1 || e->time_ns <= between->after_ns ||
		    (e->flags & TRACE_EVENT_INHERITED))
			continue;
		/* Born and freed between: never seen. Born before, freed: seen. */
		sign = is_birth || e->birth_ns <= between->after_ns ? 1 : -1;
		number_of_sample(e->size, e->rate, &n);
		cell = between_cell(between, kind, e->stack);
		cell->count += sign * n.count_variance;
		cell->bytes += sign * n.bytes_variance;
	}
}

/* Where the earlier moment lies; the end of the trace for MOMENT_END. */
static uint64_t moment_ns(const struct profile_trace *pt)
{
	return pt->when.kind == MOMENT_TIME ? pt->when.time_ns : pt->totals.peak_ns;
}

static void between_apply(const struct between *between, uint32_t member,
			  const struct profile_site *site, struct number *delta)
{
	for (size_t i = 0; i < site->cell_count; i++) {
		const struct profile_cell *cell = &site->cells[i];

		if (cell->member != member || cell->node >= between->cell_counts[cell->kind])
			continue;
		delta->count_variance += between->cells[cell->kind][cell->node].count;
		delta->bytes_variance += between->cells[cell->kind][cell->node].bytes;
	}
}

/* ---- matching ---- */

struct item {
	char *key;                 /* the site's names, without its line */
	uint32_t line;
	const struct profile_site *site;
	bool is_later, is_taken;
};

struct matching {
	struct diff *diff;
	struct item *items;
	size_t count;
};

static char *stack_key(struct profile *profile, const struct profile_site *site)
{
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, &site->stacks[0], &frames), bytes = 2;
	char *key, *at;

	for (size_t i = 0; i < count; i++)
		bytes += strlen(frames[i].function ? frames[i].function :
						     path_base(frames[i].module)) + 24;
	key = at = memory_zeroed(bytes, 1);
	*at++ = site->kind == TALLY_HEAP ? 'h' : 'm';
	for (size_t i = 0; i < count; i++) {
		if (frames[i].function)
			at += sprintf(at, ";%s", frames[i].function);
		else
			at += sprintf(at, ";%s+%llx", path_base(frames[i].module),
				      (unsigned long long)frames[i].module_offset);
	}
	return key;
}

static char *site_key(struct profile *profile, const struct profile_site *site)
{
	const struct profile_frame *where = &site->where;
	char kind = site->kind == TALLY_HEAP ? 'h' : 'm';

	if (site->label && profile->query->by != BY_MODULE)
		return memory_format("%c;%s", kind, site->label);
	if (profile->query->by == BY_STACK)
		return stack_key(profile, site);
	if (where->function)
		return memory_format("%c;%s;%s;%s", kind, where->function, path_base(where->file),
				     path_base(where->module));
	if (where->file)
		return memory_format("%c;;%s", kind, path_base(where->file));
	return memory_format("%c;%s+%llx", kind, path_base(where->module),
			     (unsigned long long)where->module_offset);
}

static void add_items(struct matching *matching, struct profile *profile, bool is_later)
{
	for (size_t i = 0; i < profile->site_count; i++) {
		MEMORY_ROOM(matching->items, matching->count);
		matching->items[matching->count++] = (struct item){
			.key = site_key(profile, &profile->sites[i]),
			.line = profile->query->by == BY_STACK ? 0 : profile->sites[i].where.line,
			.site = &profile->sites[i], .is_later = is_later,
		};
	}
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (!order)
		order = x->line < y->line ? -1 : x->line > y->line;
	return order ? order : x->is_later - y->is_later;
}

static void add_row(struct matching *matching, struct item *before, struct item *after)
{
	struct diff *diff = matching->diff;

	MEMORY_ROOM(diff->rows, diff->count);
	diff->rows[diff->count++] = (struct diff_row){ .baseline = before ? before->site : NULL,
						       .later = after ? after->site : NULL };
	if (before)
		before->is_taken = true;
	if (after)
		after->is_taken = true;
}

/* The next item from @at on of the side, not matched yet. */
static struct item *next_free(struct item *at, const struct item *end, bool is_later)
{
	while (at < end && (at->is_taken || at->is_later != is_later))
		at++;
	return at < end ? at : NULL;
}

static const struct trace_module *module_of(const struct profile *profile, const char *path)
{
	for (size_t t = 0; t < profile->trace_count; t++) {
		const struct trace *trace = profile->traces[t].trace;

		for (size_t i = 0; i < trace->module_count; i++)
			if (!strcmp(trace->modules[i].path, path))
				return &trace->modules[i];
	}
	return NULL;
}

/* May lines have moved? Not when both sides run the very same file. */
static bool is_rebuilt(const struct diff *diff, const struct item *before,
		       const struct item *after)
{
	const struct trace_module *a, *b;

	if (diff->one_trace || !before->site->where.module || !after->site->where.module)
		return false;
	a = module_of(diff->baseline, before->site->where.module);
	b = module_of(diff->later, after->site->where.module);
	return a && b && (a->build_id_bytes != b->build_id_bytes ||
			  memcmp(a->build_id, b->build_id, a->build_id_bytes));
}

static void match_by_line(struct matching *matching, struct item *from, struct item *end)
{
	for (struct item *at = from; at + 1 < end; at++)
		if (!at->is_later && at[1].is_later && at->line == at[1].line &&
		    !at->is_taken && !at[1].is_taken)
			add_row(matching, at, at + 1);
}

static void match_in_order(struct matching *matching, struct item *from, struct item *end)
{
	struct item *before = next_free(from, end, false), *after = next_free(from, end, true);

	while (before && after && is_rebuilt(matching->diff, before, after)) {
		add_row(matching, before, after);
		before = next_free(before, end, false);
		after = next_free(after, end, true);
	}
}

/* The sites of one name. */
static void match_group(struct matching *matching, struct item *from, struct item *end)
{
	size_t before = 0, after = 0;

	for (struct item *at = from; at < end; at++) {
		before += !at->is_later;
		after += at->is_later;
	}
	if (before == after)
		match_in_order(matching, from, end);
	match_by_line(matching, from, end);
	match_in_order(matching, from, end);
	for (struct item *at = from; at < end; at++)
		if (!at->is_taken)
			add_row(matching, at->is_later ? NULL : at, at->is_later ? at : NULL);
}

static void match(struct diff *diff)
{
	struct matching matching = { .diff = diff };

	add_items(&matching, diff->baseline, false);
	add_items(&matching, diff->later, true);
	if (matching.count)
		qsort(matching.items, matching.count, sizeof(*matching.items), compare_items);
	for (size_t i = 0, end; i < matching.count; i = end) {
		for (end = i + 1; end < matching.count &&
				  !strcmp(matching.items[i].key, matching.items[end].key);)
			end++;
		match_group(&matching, &matching.items[i], &matching.items[end]);
	}
	for (size_t i = 0; i < matching.count; i++)
		free(matching.items[i].key);
	free(matching.items);
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

static void row_values(struct diff_row *row, enum metric metric, bool one_trace)
{
	if (row->baseline)
		row->before = row->baseline->tally.of[metric];
	if (row->later)
		row->after = row->later->tally.of[metric];
	row->delta = row->after;
	row->delta.count -= row->before.count;
	row->delta.bytes -= row->before.bytes;
	row->delta.count_variance += row->before.count_variance;
	row->delta.bytes_variance += row->before.bytes_variance;
	if (one_trace)
		row->delta.count_variance = row->delta.bytes_variance = 0;
}

static void values(struct diff *diff, const struct between *between, enum metric metric)
{
	size_t kept = 0;

	for (size_t i = 0; i < diff->count; i++) {
		struct diff_row *row = &diff->rows[i];
		const struct profile_site *site = row->later ? row->later : row->baseline;

		row_values(row, metric, between->is_used);
		if (between->is_used && row->later)
			between_apply(between, 0, row->later, &row->delta);
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

static void mark_significant(struct diff *diff, bool by_count, double level)
{
	double *p = memory_zeroed(diff->count, sizeof(*p));
	bool *marks = memory_zeroed(diff->count, sizeof(*marks));

	for (size_t i = 0; i < diff->count; i++)
		p[i] = significance_p(number_value(&diff->rows[i].delta, by_count),
				      number_error(&diff->rows[i].delta, by_count));
	significance_mark(p, diff->count, level, marks);
	for (size_t i = 0; i < diff->count; i++)
		diff->rows[i].is_significant = marks[i] && diff->rows[i].status != DIFF_SAME;
	free(p);
	free(marks);
}

/* ---- the whole ---- */

static bool is_one_trace(const struct trace_set *baseline, const struct trace_set *later)
{
	return baseline->count == 1 && later->count == 1 &&
	       !strcmp(baseline->members[0].trace->path, later->members[0].trace->path);
}

static int build_profiles(struct diff *diff, struct trace_set *baseline, struct trace_set *later,
			  const struct query *query, struct between *between, struct error *err)
{
	struct aggregator *only = &between->aggregator;
	struct aggregator *const *extra[] = { &only };
	int status = profile_build(baseline, query, &diff->baseline, err);

	if (status)
		return status;
	between->is_used = diff->one_trace && query->sort == METRIC_LIVE &&
			   diff->baseline->traces[0].when.kind != MOMENT_END;
	if (!between->is_used)
		return profile_build(later, query, &diff->later, err);
	between->after_ns = moment_ns(&diff->baseline->traces[0]);
	return profile_build_with(later, query, extra, 1, &diff->later, err);
}

int diff_build(struct trace_set *baseline, struct trace_set *later, const struct query *query,
	       double level, struct diff *diff, struct error *err)
{
	struct between between = { .aggregator.take = between_take };
	int status;

	*diff = (struct diff){ .one_trace = is_one_trace(baseline, later) };
	status = build_profiles(diff, baseline, later, query, &between, err);
	if (!status) {
		diff->exact = diff->baseline->exact && diff->later->exact;
		match(diff);
		values(diff, &between, query->sort);
		mark_significant(diff, query->by_count, level);
		sort_by_count = query->by_count;
		if (diff->count)
			qsort(diff->rows, diff->count, sizeof(*diff->rows), compare_rows);
	}
	free(between.cells[TALLY_HEAP]);
	free(between.cells[TALLY_MAPPED]);
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
