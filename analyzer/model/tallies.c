/*
 * See tallies.h. Two ideas make it one pass with a few additions per event.
 *
 * Cells are found by the number of the stack: one array look-up. Only where a
 * second dimension is asked for, a hash table stands in between.
 *
 * The composition of the peak is never copied. `epoch` counts the peaks so far.
 * A cell notes what it had live when it is changed for the first time after a
 * peak; a cell that was not changed since still has it:
 *
 *	                     epoch 7 (peak)         now, epoch still 7
 *	cell A   live 100 ------|-- free 40 -->  live 60   saved 100   epoch 7
 *	cell B   live  30 ------|------------->  live 30   (saved 5)   epoch 3
 *	at the peak: A had saved (its epoch is current), B has live (it is not).
 */
#include "model/tallies.h"

#include "model/slices.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

struct cell {
	double live_count, live_bytes;
	double made_count, made_bytes;
	double saved_count, saved_bytes;
	uint64_t epoch;
	double temporary_count, temporary_bytes;
	double unknown_count, unknown_bytes;
	uint32_t stack, dimension;
};

/* Variances, kept apart: an exact trace never touches them. */
struct cell_errors {
	struct cell_error {
		double count, bytes;
	} live, made, saved, temporary, unknown;
};

/* Heap or mappings. */
struct side {
	struct cell *cells;
	struct cell_errors *errors; /* NULL as long as all is exact */
	size_t count, room;
	uint32_t *by_stack;         /* cell + 1 by stack */
	size_t by_stack_count;
	uint32_t *buckets;          /* cell + 1 by (stack, dimension) */
	size_t bucket_count;
	double whole_count, whole_bytes, peak_count, peak_bytes;
	double whole_count_variance, whole_bytes_variance;
	double peak_count_variance, peak_bytes_variance;
	uint64_t epoch, peak_ns, peak_events;
};

struct tallies {
	struct aggregator aggregator;
	struct trace *trace;
	enum tally_dimension dimension;
	const struct event_filter *filter;
	struct side sides[TALLY_KINDS];
	struct number inherited, unknown;
	uint64_t seen, samples, sampled;
	size_t next_mark;           /* first of trace->marks not passed yet */
	uint64_t stop_mark_ns;      /* of the next STOP; UINT64_MAX = none */
	uint64_t known_from_ns;     /* blocks born before a STOP are unknown */
};

/* ---- cells ---- */

static struct cell *side_add(struct side *side, uint32_t stack, uint32_t dimension)
{
	struct cell *cell;

	if (side->count == side->room) {
		side->room = side->room ? side->room * 2 : 1024;
		side->cells = memory_resize(side->cells, side->room, sizeof(*side->cells));
		if (side->errors)
			side->errors =
				memory_resize(side->errors, side->room, sizeof(*side->errors));
	}
	if (side->errors)
		memset(&side->errors[side->count], 0, sizeof(*side->errors));
	cell = &side->cells[side->count++];
	*cell = (struct cell){ .stack = stack, .dimension = dimension };
	return cell;
}

static struct cell *side_stack(struct side *side, uint32_t stack)
{
	if (stack >= side->by_stack_count) {
		size_t count = side->by_stack_count ? side->by_stack_count : 4096;

		while (count <= stack)
			count *= 2;
		side->by_stack = memory_resize(side->by_stack, count, sizeof(*side->by_stack));
		memset(side->by_stack + side->by_stack_count, 0,
		       (count - side->by_stack_count) * sizeof(*side->by_stack));
		side->by_stack_count = count;
	}
	if (!side->by_stack[stack]) {
		side_add(side, stack, 0);
		side->by_stack[stack] = (uint32_t)side->count;
	}
	return &side->cells[side->by_stack[stack] - 1];
}

static size_t bucket_of(const struct side *side, uint32_t stack, uint32_t dimension)
{
	uint64_t key = ((uint64_t)dimension << 32 | stack) * 0x9e3779b97f4a7c15ull;

	return (size_t)(key >> 20) & (side->bucket_count - 1);
}

static void side_rehash(struct side *side)
{
	side->bucket_count = side->bucket_count ? side->bucket_count * 2 : 4096;
	free(side->buckets);
	side->buckets = memory_zeroed(side->bucket_count, sizeof(*side->buckets));
	for (size_t i = 0; i < side->count; i++) {
		size_t at = bucket_of(side, side->cells[i].stack, side->cells[i].dimension);

		while (side->buckets[at])
			at = (at + 1) & (side->bucket_count - 1);
		side->buckets[at] = (uint32_t)i + 1;
	}
}

static struct cell *side_pair(struct side *side, uint32_t stack, uint32_t dimension)
{
	size_t at;

	if (side->count * 2 >= side->bucket_count)
		side_rehash(side);
	at = bucket_of(side, stack, dimension);
	for (; side->buckets[at]; at = (at + 1) & (side->bucket_count - 1)) {
		struct cell *cell = &side->cells[side->buckets[at] - 1];

		if (cell->stack == stack && cell->dimension == dimension)
			return cell;
	}
	side_add(side, stack, dimension);
	side->buckets[at] = (uint32_t)side->count;
	return &side->cells[side->count - 1];
}

static uint32_t size_class(uint64_t size)
{
	return size ? 64 - (uint32_t)__builtin_clzll(size) : 0;
}

static struct cell *cell_of(struct tallies *tallies, struct side *side,
			    const struct trace_event *e, bool is_birth)
{
	switch (tallies->dimension) {
	case DIMENSION_NONE:
		return side_stack(side, e->stack);
	case DIMENSION_THREAD:
		return side_pair(side, e->stack, is_birth ? e->thread : e->birth_thread);
	case DIMENSION_SCOPE:
		return side_pair(side, e->stack, e->scope);
	case DIMENSION_SIZE:
		return side_pair(side, e->stack, size_class(e->size));
	}
	return side_stack(side, e->stack);
}

/* ---- one event ---- */

static struct cell_errors *errors_of(struct side *side, const struct cell *cell)
{
	if (!side->errors)
		side->errors = memory_zeroed(side->room, sizeof(*side->errors));
	return &side->errors[cell - side->cells];
}

/* Before a cell's live numbers change: keep what they were at the peak. */
static inline void cell_touch(struct side *side, struct cell *cell)
{
	if (cell->epoch == side->epoch)
		return;
	cell->epoch = side->epoch;
	cell->saved_count = cell->live_count;
	cell->saved_bytes = cell->live_bytes;
	if (side->errors) {
		struct cell_errors *errors = errors_of(side, cell);

		errors->saved = errors->live;
	}
}

static inline void error_move(struct cell_error *error, const struct number *n, double sign)
{
	error->count += sign * n->count_variance;
	error->bytes += sign * n->bytes_variance;
}

static inline void side_check_peak(struct tallies *tallies, struct side *side, uint64_t time_ns)
{
	if (side->whole_bytes <= side->peak_bytes)
		return;
	side->peak_bytes = side->whole_bytes;
	side->peak_count = side->whole_count;
	side->peak_count_variance = side->whole_count_variance;
	side->peak_bytes_variance = side->whole_bytes_variance;
	side->peak_ns = time_ns;
	side->peak_events = tallies->seen;
	side->epoch++;
}

static inline void take_birth(struct tallies *tallies, struct side *side,
			      const struct trace_event *e)
{
	struct number n = { .count = 1, .bytes = (double)e->size };
	struct cell *cell;

	if (__builtin_expect(e->rate > 1, 0)) {
		number_of_sample(e->size, e->rate, &n);
		side->whole_count_variance += n.count_variance;
		side->whole_bytes_variance += n.bytes_variance;
	}
	side->whole_count += n.count;
	side->whole_bytes += n.bytes;
	if (!tallies->filter || event_filter_passes(tallies->filter, e)) {
		cell = cell_of(tallies, side, e, true);
		cell_touch(side, cell);
		cell->live_count += n.count;
		cell->live_bytes += n.bytes;
		cell->made_count += n.count;
		cell->made_bytes += n.bytes;
		tallies->samples++;
		if (__builtin_expect(e->rate > 1, 0)) {
			struct cell_errors *errors = errors_of(side, cell);

			error_move(&errors->live, &n, 1);
			error_move(&errors->made, &n, 1);
			tallies->sampled++;
		}
	}
	side_check_peak(tallies, side, e->time_ns);
}

static inline void take_death(struct tallies *tallies, struct side *side,
			      const struct trace_event *e)
{
	struct number n = { .count = 1, .bytes = (double)e->size };
	struct cell *cell;

	if (__builtin_expect(e->rate > 1, 0))
		number_of_sample(e->size, e->rate, &n);
	if (__builtin_expect(e->flags & TRACE_EVENT_INHERITED, 0)) {
		number_add(&tallies->inherited, &n);
		return;
	}
	if (__builtin_expect(e->birth_ns < tallies->known_from_ns, 0))
		return;
	side->whole_count -= n.count;
	side->whole_bytes -= n.bytes;
	if (__builtin_expect(e->rate > 1, 0)) {
		side->whole_count_variance -= n.count_variance;
		side->whole_bytes_variance -= n.bytes_variance;
	}
	if (tallies->filter && !event_filter_passes(tallies->filter, e)) {
		if (side == &tallies->sides[TALLY_HEAP] && e->birth_ns < tallies->filter->from_ns &&
		    e->time_ns >= tallies->filter->from_ns)
			number_add(&tallies->inherited, &n);
		return;
	}
	cell = cell_of(tallies, side, e, false);
	cell_touch(side, cell);
	cell->live_count -= n.count;
	cell->live_bytes -= n.bytes;
	if (e->flags & TRACE_EVENT_TEMPORARY) {
		cell->temporary_count += n.count;
		cell->temporary_bytes += n.bytes;
	}
	if (__builtin_expect(e->rate > 1, 0)) {
		struct cell_errors *errors = errors_of(side, cell);

		error_move(&errors->live, &n, -1);
		if (e->flags & TRACE_EVENT_TEMPORARY)
			error_move(&errors->temporary, &n, 1);
	}
}

static void take_pairs(struct tallies *tallies, const struct event_pairs *pairs)
{
	const struct trace_event *e = &pairs->death;
	double count = (double)pairs->count, bytes = (double)pairs->bytes;
	struct cell *cell;

	tallies->seen += 2 * pairs->count;
	if (tallies->filter && !event_filter_passes(tallies->filter, e))
		return;
	tallies->samples += pairs->count;
	cell = cell_of(tallies, &tallies->sides[TALLY_HEAP], e, false);
	cell->made_count += count;
	cell->made_bytes += bytes;
	if (e->flags & TRACE_EVENT_TEMPORARY) {
		cell->temporary_count += count;
		cell->temporary_bytes += bytes;
	}
}

static void tallies_take_pairs(struct aggregator *self, const struct event_pairs *pairs,
			       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!pairs[i].is_realloc)
			take_pairs((struct tallies *)self, &pairs[i]);
}

/* ---- stops ---- */

static void find_stop(struct tallies *tallies)
{
	const struct trace *trace = tallies->trace;

	tallies->stop_mark_ns = UINT64_MAX;
	for (; tallies->next_mark < trace->mark_count; tallies->next_mark++) {
		if (trace->marks[tallies->next_mark].kind != TRACE_MARK_STOP)
			continue;
		tallies->stop_mark_ns = trace->marks[tallies->next_mark++].time_ns;
		return;
	}
}

static void side_forget(struct tallies *tallies, struct side *side, bool is_heap)
{
	for (size_t i = 0; i < side->count; i++) {
		struct cell *cell = &side->cells[i];

		cell_touch(side, cell);
		cell->unknown_count += cell->live_count;
		cell->unknown_bytes += cell->live_bytes;
		if (is_heap) {
			tallies->unknown.count += cell->live_count;
			tallies->unknown.bytes += cell->live_bytes;
		}
		cell->live_count = cell->live_bytes = 0;
		if (side->errors) {
			struct cell_errors *errors = errors_of(side, cell);

			errors->unknown.count += errors->live.count;
			errors->unknown.bytes += errors->live.bytes;
			if (is_heap) {
				tallies->unknown.count_variance += errors->live.count;
				tallies->unknown.bytes_variance += errors->live.bytes;
			}
			errors->live = (struct cell_error){ 0 };
		}
	}
	side->whole_count = side->whole_bytes = 0;
	side->whole_count_variance = side->whole_bytes_variance = 0;
}

/* Recording was stopped: what is live now is neither live nor leaked any more. */
static void tallies_stop(struct tallies *tallies)
{
	side_forget(tallies, &tallies->sides[TALLY_HEAP], true);
	side_forget(tallies, &tallies->sides[TALLY_MAPPED], false);
	tallies->known_from_ns = tallies->stop_mark_ns;
	find_stop(tallies);
}

static void tallies_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct tallies *tallies = (struct tallies *)self;
	struct side *heap = &tallies->sides[TALLY_HEAP];
	struct side *mapped = &tallies->sides[TALLY_MAPPED];

	for (const struct trace_event *e = events; e < events + count; e++) {
		while (__builtin_expect(e->time_ns >= tallies->stop_mark_ns, 0))
			tallies_stop(tallies);
		tallies->seen++;
		if (e->kind == TRACE_EVENT_ALLOCATE)
			take_birth(tallies, heap, e);
		else if (e->kind == TRACE_EVENT_FREE)
			take_death(tallies, heap, e);
		else if (e->kind == TRACE_EVENT_MAP)
			take_birth(tallies, mapped, e);
		else if (e->kind == TRACE_EVENT_UNMAP)
			take_death(tallies, mapped, e);
	}
}

static void tallies_end(struct aggregator *self, uint64_t end_ns)
{
	struct tallies *tallies = (struct tallies *)self;

	while (end_ns >= tallies->stop_mark_ns)
		tallies_stop(tallies);
}

/* ---- making and reading ---- */

struct tallies *tallies_new(struct trace *trace, enum tally_dimension dimension,
			    const struct event_filter *filter)
{
	struct tallies *tallies = memory_zeroed(1, sizeof(*tallies));

	tallies->aggregator.take = tallies_take;
	tallies->aggregator.end = tallies_end;
	tallies->trace = trace;
	tallies->dimension = dimension;
	tallies->filter = filter && filter->active ? filter : NULL;
	if (event_filter_knows_pairs(filter))
		tallies->aggregator.take_pairs = tallies_take_pairs;
	tallies->aggregator.from_ns = event_filter_from_ns(filter);
	find_stop(tallies);
	return tallies;
}

void tallies_free(struct tallies *tallies)
{
	if (!tallies)
		return;
	for (int k = 0; k < TALLY_KINDS; k++) {
		free(tallies->sides[k].cells);
		free(tallies->sides[k].errors);
		free(tallies->sides[k].by_stack);
		free(tallies->sides[k].buckets);
	}
	free(tallies);
}

struct aggregator *tallies_aggregator(struct tallies *tallies)
{
	return &tallies->aggregator;
}

size_t tallies_count(const struct tallies *tallies)
{
	return tallies->sides[TALLY_HEAP].count + tallies->sides[TALLY_MAPPED].count;
}

static struct number number_from(double count, double bytes, const struct cell_error *error)
{
	struct number n = { .count = count, .bytes = bytes };

	if (error) {
		n.count_variance = error->count;
		n.bytes_variance = error->bytes;
	}
	return n;
}

/* Parts of a mapping go one by one: it counts as long as a byte of it is left. */
static void settle_mapped(struct tally *tally)
{
	struct number *live = &tally->of[METRIC_LIVE];

	if (live->bytes <= 0)
		live->count = 0;
	else if (live->count < 1)
		live->count = 1;
}

/* Sums of fractions taken apart again leave crumbs; one sample counts 1 or more. */
static void settle_sampled(struct number *n)
{
	if (n->count < 0.5)
		*n = (struct number){ 0 };
}

void tallies_cell(const struct tallies *tallies, size_t index, struct tallies_cell *out)
{
	bool is_heap = index < tallies->sides[TALLY_HEAP].count;
	const struct side *side = &tallies->sides[is_heap ? TALLY_HEAP : TALLY_MAPPED];
	size_t at = is_heap ? index : index - tallies->sides[TALLY_HEAP].count;
	const struct cell *cell = &side->cells[at];
	const struct cell_errors *e = side->errors ? &side->errors[at] : NULL;
	struct number unknown = number_from(cell->unknown_count, cell->unknown_bytes,
					    e ? &e->unknown : NULL);
	bool is_saved = cell->epoch == side->epoch;
	struct tally *tally = &out->tally;

	*out = (struct tallies_cell){ .stack = cell->stack, .dimension = cell->dimension,
				      .kind = is_heap ? TALLY_HEAP : TALLY_MAPPED };
	tally->of[METRIC_ALLOCATED] =
		number_from(cell->made_count, cell->made_bytes, e ? &e->made : NULL);
	tally->of[METRIC_LIVE] =
		number_from(cell->live_count, cell->live_bytes, e ? &e->live : NULL);
	tally->of[METRIC_TEMPORARY] = number_from(cell->temporary_count, cell->temporary_bytes,
						  e ? &e->temporary : NULL);
	tally->of[METRIC_PEAK] = is_saved ? number_from(cell->saved_count, cell->saved_bytes,
							e ? &e->saved : NULL) :
					    tally->of[METRIC_LIVE];
	if (!is_heap) {
		settle_mapped(tally);
		if (tally->of[METRIC_PEAK].bytes <= 0)
			tally->of[METRIC_PEAK].count = 0;
	}
	if (e) {
		settle_sampled(&tally->of[METRIC_LIVE]);
		settle_sampled(&tally->of[METRIC_PEAK]);
	}
	tally->of[METRIC_FREED] = tally->of[METRIC_ALLOCATED];
	number_remove(&tally->of[METRIC_FREED], &tally->of[METRIC_LIVE]);
	number_remove(&tally->of[METRIC_FREED], &unknown);
}

void tallies_totals(const struct tallies *tallies, struct tallies_totals *totals)
{
	const struct side *heap = &tallies->sides[TALLY_HEAP];
	struct tallies_cell cell;

	*totals = (struct tallies_totals){
		.inherited = tallies->inherited,
		.unknown = tallies->unknown,
		.peak_ns = heap->peak_ns,
		.peak_events = heap->peak_events,
		.peak_whole = { heap->peak_count, heap->peak_bytes, heap->peak_count_variance,
				heap->peak_bytes_variance },
		.samples = tallies->samples,
		.sampled = tallies->sampled,
	};
	for (size_t i = 0; i < tallies_count(tallies); i++) {
		tallies_cell(tallies, i, &cell);
		tally_add(cell.kind == TALLY_HEAP ? &totals->heap : &totals->mapped, &cell.tally);
	}
}
