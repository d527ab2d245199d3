/*
 * See page_facts.h. A stack that changes is put on a list; when a moment passes,
 * what is on the list tells how it differs and the list is emptied. So the cost
 * of a moment is that of what changed, not of all stacks.
 */
#include "page/page_facts.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- the axis ---- */

#define EVEN_MOMENTS 240
#define MARKED_MOMENTS 64

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void axis_add(struct page_axis *axis, uint64_t ns)
{
	MEMORY_ROOM(axis->moments_ns, axis->moment_count);
	axis->moments_ns[axis->moment_count++] = ns;
}

static void axis_add_marks(struct page_axis *axis, const struct trace *trace, uint64_t shift_ns)
{
	size_t added = 0;

	for (size_t i = 0; i < trace->mark_count && added < MARKED_MOMENTS; i++) {
		uint64_t ns = shift_ns + trace->marks[i].time_ns;

		if (ns >= axis->length_ns || trace->marks[i].kind == TRACE_MARK_RATE)
			continue;
		axis_add(axis, ns);
		added++;
	}
}

void page_axis_init(struct page_axis *axis, struct trace *const *traces, const uint64_t *shifts_ns,
		    const uint64_t *ends_ns, size_t count)
{
	size_t kept = 0;

	*axis = (struct page_axis){0};
	for (size_t i = 0; i < count; i++)
		if (shifts_ns[i] + ends_ns[i] > axis->length_ns)
			axis->length_ns = shifts_ns[i] + ends_ns[i];
	if (!axis->length_ns)
		axis->length_ns = 1;
	for (uint64_t i = 0; i <= EVEN_MOMENTS; i++)
		axis_add(axis, (uint64_t)((double)axis->length_ns * (double)i / EVEN_MOMENTS));
	for (size_t i = 0; i < count; i++)
		axis_add_marks(axis, traces[i], shifts_ns[i]);
	qsort(axis->moments_ns, axis->moment_count, sizeof(*axis->moments_ns), compare_times);
	for (size_t i = 0; i < axis->moment_count; i++)
		if (!kept || axis->moments_ns[i] != axis->moments_ns[kept - 1])
			axis->moments_ns[kept++] = axis->moments_ns[i];
	axis->moment_count = kept;
}

void page_axis_release(struct page_axis *axis)
{
	free(axis->moments_ns);
	*axis = (struct page_axis){0};
}

/* ---- series of stacks ---- */

uint32_t page_facts_series(const struct page_facts *facts, enum tally_kind kind, uint32_t stack)
{
	if (stack >= facts->series_of_count[kind] || !facts->series_of[kind][stack])
		return UINT32_MAX;
	return facts->series_of[kind][stack] - 1;
}

static void series_make_room(struct page_facts *facts, enum tally_kind kind, uint32_t stack)
{
	size_t old = facts->series_of_count[kind], count = old ? old : 4096;

	if (stack < old)
		return;
	while (count <= stack)
		count *= 2;
	facts->series_of[kind] = memory_resize(facts->series_of[kind], count, sizeof(uint32_t));
	memset(facts->series_of[kind] + old, 0, (count - old) * sizeof(uint32_t));
	facts->series_of_count[kind] = count;
}

static struct page_series *series_get(struct page_facts *facts, enum tally_kind kind,
				      uint32_t stack)
{
	series_make_room(facts, kind, stack);
	if (!facts->series_of[kind][stack]) {
		MEMORY_ROOM(facts->series, facts->series_count);
		facts->series[facts->series_count++] =
		    (struct page_series){.stack = stack, .kind = kind};
		facts->series_of[kind][stack] = (uint32_t)facts->series_count;
	}
	return &facts->series[facts->series_of[kind][stack] - 1];
}

static void series_touch(struct page_facts *facts, struct page_series *series)
{
	if (series->is_dirty)
		return;
	series->is_dirty = true;
	MEMORY_ROOM(facts->dirty, facts->dirty_count);
	facts->dirty[facts->dirty_count++] = (uint32_t)(series - facts->series);
}

static void series_tell(struct page_series *series, uint32_t moment)
{
	struct page_change change = {.at = moment};
	bool differs = false;

	series->is_dirty = false;
	for (unsigned c = 0; c < PAGE_COLUMNS; c++) {
		change.by[c] = series->now[c] - series->told[c];
		differs |= change.by[c] != 0;
	}
	if (!differs)
		return;
	memcpy(series->told, series->now, sizeof(series->told));
	if (series->now[PAGE_LIVE_BYTES] > series->highest)
		series->highest = series->now[PAGE_LIVE_BYTES];
	MEMORY_ROOM(series->changes, series->change_count);
	series->changes[series->change_count++] = change;
}

/* ---- time passes ---- */

static void pass_moments(struct page_facts *facts, uint64_t axis_ns)
{
	const struct page_axis *axis = facts->axis;

	while (facts->moment < axis->moment_count && axis->moments_ns[facts->moment] < axis_ns) {
		for (size_t i = 0; i < facts->dirty_count; i++)
			series_tell(&facts->series[facts->dirty[i]], (uint32_t)facts->moment);
		facts->dirty_count = 0;
		facts->moment++;
	}
}

static uint64_t bin_end(const struct page_facts *facts, size_t bin)
{
	return (uint64_t)((double)facts->axis->length_ns * (double)(bin + 1) / PAGE_BINS);
}

static void pass_bins(struct page_facts *facts, uint64_t axis_ns)
{
	while (facts->bin < PAGE_BINS && bin_end(facts, facts->bin) < axis_ns) {
		facts->bins[facts->bin].last = facts->now;
		facts->bin++;
		if (facts->bin < PAGE_BINS)
			facts->bins[facts->bin].high = facts->now;
	}
}

/* Recording was stopped: what was live is not known any more. */
static void forget_live(struct page_facts *facts)
{
	for (size_t i = 0; i < facts->series_count; i++) {
		struct page_series *series = &facts->series[i];

		if (!series->now[PAGE_LIVE_BYTES] && !series->now[PAGE_LIVE_COUNT])
			continue;
		series->now[PAGE_LIVE_BYTES] = series->now[PAGE_LIVE_COUNT] = 0;
		series_touch(facts, series);
	}
	facts->now.heap[PAGE_LIVE_BYTES] = facts->now.heap[PAGE_LIVE_COUNT] = 0;
	facts->now.mapped_bytes = 0;
	for (size_t i = 0; i < facts->thread_count; i++)
		facts->threads[i].live_bytes = 0;
}

static void find_stop(struct page_facts *facts)
{
	const struct trace *trace = facts->trace;

	facts->stop_ns = UINT64_MAX;
	while (facts->next_mark < trace->mark_count) {
		const struct trace_marker *mark = &trace->marks[facts->next_mark++];

		if (mark->kind == TRACE_MARK_STOP) {
			facts->stop_ns = mark->time_ns;
			return;
		}
	}
}

static void pass_time(struct page_facts *facts, uint64_t time_ns)
{
	while (time_ns >= facts->stop_ns) {
		pass_moments(facts, facts->shift_ns + facts->stop_ns);
		pass_bins(facts, facts->shift_ns + facts->stop_ns);
		forget_live(facts);
		facts->known_from_ns = facts->stop_ns;
		find_stop(facts);
	}
	pass_moments(facts, facts->shift_ns + time_ns);
	pass_bins(facts, facts->shift_ns + time_ns);
}

/* ---- one event ---- */

static struct page_thread *thread_at(struct page_facts *facts, uint32_t thread)
{
	static struct page_thread nobody;

	while (thread >= facts->thread_count && thread < 1u << 20) {
		MEMORY_ROOM(facts->threads, facts->thread_count);
		facts->threads[facts->thread_count++] = (struct page_thread){0};
	}
	return thread < facts->thread_count ? &facts->threads[thread] : &nobody;
}

static void series_move(struct page_facts *facts, const struct trace_event *e, enum tally_kind kind,
			const struct number *n, double sign)
{
	struct page_series *series = series_get(facts, kind, e->stack);

	series_touch(facts, series);
	series->now[PAGE_LIVE_BYTES] += sign * n->bytes;
	series->now[PAGE_LIVE_COUNT] += sign * n->count;
	if (sign > 0) {
		series->now[PAGE_MADE_BYTES] += n->bytes;
		series->now[PAGE_MADE_COUNT] += n->count;
	}
}

static void curve_move(struct page_facts *facts, const struct trace_event *e, enum tally_kind kind,
		       const struct number *n, double sign)
{
	struct page_bin *bin = &facts->bins[facts->bin < PAGE_BINS ? facts->bin : PAGE_BINS - 1];

	if (kind == TALLY_MAPPED) {
		facts->now.mapped_bytes += sign * n->bytes;
		return;
	}
	facts->now.heap[PAGE_LIVE_BYTES] += sign * n->bytes;
	facts->now.heap[PAGE_LIVE_COUNT] += sign * n->count;
	if (sign < 0)
		return;
	facts->now.heap[PAGE_MADE_BYTES] += n->bytes;
	facts->now.heap[PAGE_MADE_COUNT] += n->count;
	if (facts->now.heap[PAGE_LIVE_BYTES] > bin->high.heap[PAGE_LIVE_BYTES]) {
		bin->high = facts->now;
		bin->high_ns = facts->shift_ns + e->time_ns;
	}
}

static void take_birth(struct page_facts *facts, const struct trace_event *e, enum tally_kind kind,
		       const struct number *n)
{
	struct page_thread *thread = thread_at(facts, e->thread);

	series_move(facts, e, kind, n, 1);
	curve_move(facts, e, kind, n, 1);
	if (kind == TALLY_MAPPED)
		return;
	thread->made_count += n->count;
	thread->made_bytes += n->bytes;
	thread->live_bytes += n->bytes;
}

static void take_death(struct page_facts *facts, const struct trace_event *e, enum tally_kind kind,
		       const struct number *n)
{
	series_move(facts, e, kind, n, -1);
	curve_move(facts, e, kind, n, -1);
	if (kind == TALLY_MAPPED)
		return;
	thread_at(facts, e->birth_thread)->live_bytes -= n->bytes;
	thread_at(facts, e->thread)->freed_count += n->count;
}

static void take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct page_facts *facts = (struct page_facts *)self;

	for (const struct trace_event *e = events; e < events + count; e++) {
		bool is_heap = e->kind == TRACE_EVENT_ALLOCATE || e->kind == TRACE_EVENT_FREE;
		bool is_birth = e->kind == TRACE_EVENT_ALLOCATE || e->kind == TRACE_EVENT_MAP;
		enum tally_kind kind = is_heap ? TALLY_HEAP : TALLY_MAPPED;
		struct number n;

		pass_time(facts, e->time_ns);
		if (e->flags & TRACE_EVENT_INHERITED)
			continue;
		if (!is_birth && e->birth_ns < facts->known_from_ns)
			continue;
		number_of_sample(e->size, e->rate, &n);
		if (is_birth)
			take_birth(facts, e, kind, &n);
		else
			take_death(facts, e, kind, &n);
	}
}

static void end(struct aggregator *self, uint64_t end_ns)
{
	struct page_facts *facts = (struct page_facts *)self;

	if (end_ns >= facts->stop_ns)
		pass_time(facts, end_ns);
	pass_moments(facts, UINT64_MAX);
	pass_bins(facts, UINT64_MAX);
}

struct page_facts *page_facts_new(struct trace *trace, const struct page_axis *axis,
				  uint64_t shift_ns)
{
	struct page_facts *facts = memory_zeroed(1, sizeof(*facts));

	facts->aggregator = (struct aggregator){.take = take, .end = end};
	facts->trace = trace;
	facts->axis = axis;
	facts->shift_ns = shift_ns;
	sizes_init(&facts->sizes);
	lifetimes_init(&facts->lifetimes, trace->info.duration_ns);
	find_stop(facts);
	return facts;
}

void page_facts_free(struct page_facts *facts)
{
	if (!facts)
		return;
	for (size_t i = 0; i < facts->series_count; i++)
		free(facts->series[i].changes);
	free(facts->series);
	for (unsigned kind = 0; kind < TALLY_KINDS; kind++)
		free(facts->series_of[kind]);
	free(facts->dirty);
	free(facts->threads);
	lifetimes_release(&facts->lifetimes);
	free(facts);
}
