/*
 * See curves.h. Each stack has a small cell; when time moves to another bucket,
 * what the stack gained or lost in the bucket before goes into its curve of
 * differences, which is made on first need. So a stack of temporary blocks never
 * gets one.
 *
 * Frees since the last allocation are kept in a list: at the end it holds just
 * what was given back after the run.
 */
#include "model/curves.h"

#include "model/slices.h"

#include <stdlib.h>
#include <string.h>

const unsigned birth_bounds[BORN_WINDOWS + 1] = { 0, 4, 10, 25, 30, 40 };

#define WINDOW_UNITS 40

struct cell {
	float *steps;            /* what each bucket added to live bytes; NULL = nothing yet */
	uint32_t bucket;         /* the one `step` belongs to */
	bool sampled;
	double step;
	double allocated_count, allocated_bytes, early_bytes;
	double freed_count, freed_young_count, freed_old_count, freed_old_bytes;
	double stayed_bytes[BORN_WINDOWS], stayed_count[BORN_WINDOWS];
	double given_back_bytes;
	double samples;
};

/* A free that may turn out to lie behind the end of the run. */
struct late_free {
	uint32_t stack;
	enum tally_kind kind;
	uint64_t birth_ns, time_ns, size, rate;
	uint64_t leaves_ns;      /* see leaves_ns() */
};

struct curves {
	struct aggregator aggregator;
	struct trace *trace;
	const struct event_filter *filter;
	uint64_t duration_ns;    /* of the trace, as known before the pass */
	uint64_t bucket_ns;
	uint64_t run_end_ns;     /* the last allocation */
	struct cell *cells[TALLY_KINDS];
	size_t room[TALLY_KINDS];
	struct late_free *late;
	size_t late_count, late_room;
	bool out_of_memory;
};

static struct cell *cell_of(struct curves *curves, uint32_t stack, enum tally_kind kind)
{
	size_t room = curves->room[kind];

	if (stack >= room) {
		struct cell *more;

		room = room ? room : 1024;
		while (room <= stack)
			room *= 2;
		more = realloc(curves->cells[kind], room * sizeof(*more));
		if (!more) {
			curves->out_of_memory = true;
			return NULL;
		}
		memset(more + curves->room[kind], 0, (room - curves->room[kind]) * sizeof(*more));
		curves->cells[kind] = more;
		curves->room[kind] = room;
	}
	return &curves->cells[kind][stack];
}

static uint32_t bucket_of(const struct curves *curves, uint64_t time_ns)
{
	uint64_t bucket = time_ns / curves->bucket_ns;

	return bucket < CURVE_BUCKETS ? (uint32_t)bucket : CURVE_BUCKETS - 1;
}

/* Puts the step of the bucket that is over into the curve. */
static void cell_close_bucket(struct curves *curves, struct cell *cell)
{
	if (cell->step == 0)
		return;
	if (!cell->steps)
		cell->steps = calloc(CURVE_BUCKETS, sizeof(*cell->steps));
	if (cell->steps)
		cell->steps[cell->bucket] += (float)cell->step;
	else
		curves->out_of_memory = true;
	cell->step = 0;
}

static void cell_step(struct curves *curves, struct cell *cell, uint64_t time_ns, double bytes)
{
	uint32_t bucket = bucket_of(curves, time_ns);

	if (bucket != cell->bucket) {
		cell_close_bucket(curves, cell);
		cell->bucket = bucket;
	}
	cell->step += bytes;
}

static bool is_young(const struct curves *curves, uint64_t age_ns)
{
	return age_ns * 20 < curves->duration_ns;
}

/*
 * When a block leaves the curve: when it is freed, but a temporary block at once. The
 * clock is not read for every event; the first of them behind a pause can seem to lie
 * before it, and a block of no duration to have lived through it.
 */
static uint64_t leaves_ns(const struct curves *curves, const struct trace_event *e)
{
	bool is_temporary = (e->flags & TRACE_EVENT_TEMPORARY) && !(e->flags & TRACE_EVENT_REALLOC);

	return is_temporary && is_young(curves, e->time_ns - e->birth_ns) ? e->birth_ns :
									    e->time_ns;
}

static void take_birth(struct curves *curves, const struct trace_event *e, enum tally_kind kind)
{
	struct cell *cell = cell_of(curves, e->stack, kind);
	struct number weight;

	if (!cell)
		return;
	number_of_sample(e->size, e->rate, &weight);
	cell->samples++;
	cell->sampled |= e->rate > 1;
	cell->allocated_count += weight.count;
	cell->allocated_bytes += weight.bytes;
	if (e->time_ns * 10 < curves->duration_ns)
		cell->early_bytes += weight.bytes;
	cell_step(curves, cell, e->time_ns, weight.bytes);
	curves->run_end_ns = e->time_ns;
	curves->late_count = 0;
}

/* +1: a free in the run; -1: takes it back. */
static void count_free(struct curves *curves, struct cell *cell, const struct late_free *f,
		       double sign)
{
	uint64_t age_ns = f->time_ns - f->birth_ns;
	struct number weight;

	number_of_sample(f->size, f->rate, &weight);
	cell->freed_count += sign * weight.count;
	if (is_young(curves, age_ns))
		cell->freed_young_count += sign * weight.count;
	if (age_ns * 4 >= curves->duration_ns) {
		cell->freed_old_count += sign * weight.count;
		cell->freed_old_bytes += sign * weight.bytes;
	}
	cell_step(curves, cell, f->leaves_ns, -sign * weight.bytes);
}

static bool late_add(struct curves *curves, const struct late_free *f)
{
	if (curves->late_count == curves->late_room) {
		size_t room = curves->late_room ? 2 * curves->late_room : 256;
		struct late_free *more = realloc(curves->late, room * sizeof(*more));

		if (!more)
			return false;
		curves->late = more;
		curves->late_room = room;
	}
	curves->late[curves->late_count++] = *f;
	return true;
}

static void take_death(struct curves *curves, const struct trace_event *e, enum tally_kind kind)
{
	struct late_free f = { e->stack, kind, e->birth_ns, e->time_ns, e->size, e->rate,
			       leaves_ns(curves, e) };
	struct cell *cell;

	if (e->flags & TRACE_EVENT_INHERITED)
		return;
	cell = cell_of(curves, e->stack, kind);
	if (!cell || !late_add(curves, &f))
		curves->out_of_memory = true;
	else
		count_free(curves, cell, &f, +1);
}

static void curves_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct curves *curves = (struct curves *)self;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct trace_event *e = &events[i];

		if (curves->filter && !event_filter_passes(curves->filter, e))
			continue;
		switch (e->kind) {
		case TRACE_EVENT_ALLOCATE: take_birth(curves, e, TALLY_HEAP); break;
		case TRACE_EVENT_MAP: take_birth(curves, e, TALLY_MAPPED); break;
		case TRACE_EVENT_FREE: take_death(curves, e, TALLY_HEAP); break;
		case TRACE_EVENT_UNMAP: take_death(curves, e, TALLY_MAPPED); break;
		}
	}
}

static void take_pairs(struct curves *curves, const struct event_pairs *pairs)
{
	const struct trace_event *e = &pairs->death;
	struct cell *cell = cell_of(curves, e->stack, TALLY_HEAP);
	uint64_t age_ns = e->time_ns - e->birth_ns;
	double count = (double)pairs->count, bytes = (double)pairs->bytes;

	if (!cell)
		return;
	cell->samples += count;
	cell->allocated_count += count;
	cell->allocated_bytes += bytes;
	cell->freed_count += count;
	if (e->birth_ns * 10 < curves->duration_ns)
		cell->early_bytes += bytes;
	if (is_young(curves, age_ns))
		cell->freed_young_count += count;
	if (age_ns * 4 >= curves->duration_ns) {
		cell->freed_old_count += count;
		cell->freed_old_bytes += bytes;
	}
	cell_step(curves, cell, e->birth_ns, bytes);
	cell_step(curves, cell, leaves_ns(curves, e), -bytes);
}

/* A slice in which something is born is not the end of the run: pass.c replays the
 * last of them. */
static void curves_take_pairs(struct aggregator *self, const struct event_pairs *pairs,
			      size_t count)
{
	struct curves *curves = (struct curves *)self;

	for (size_t i = 0; i < count; i++) {
		if (pairs[i].is_realloc ||
		    (curves->filter && !event_filter_passes(curves->filter, &pairs[i].death)))
			continue;
		curves->late_count = 0;
		take_pairs(curves, &pairs[i]);
	}
}

/* Which birth is the last that counts is known of all births alone. */
static bool can_take_pairs(const struct event_filter *filter)
{
	return event_filter_knows_pairs(filter) &&
	       (!filter || (!filter->threads && !filter->stacks));
}

/* ---- the end of the run --------------------------------------------------------- */

static enum birth_window window_of(const struct curves *curves, uint64_t birth_ns)
{
	enum birth_window window = BORN_FIRST_TENTH;

	while (window < BORN_YOUNG &&
	       birth_ns >= curves->run_end_ns / WINDOW_UNITS * birth_bounds[window + 1])
		window++;
	return window;
}

static void count_stayed(struct curves *curves, uint32_t stack, enum tally_kind kind,
			 uint64_t birth_ns, uint64_t size, uint64_t rate, bool given_back)
{
	struct cell *cell = cell_of(curves, stack, kind);
	enum birth_window window = window_of(curves, birth_ns);
	struct number weight;

	if (!cell)
		return;
	number_of_sample(size, rate, &weight);
	cell->stayed_bytes[window] += weight.bytes;
	cell->stayed_count[window] += weight.count;
	if (given_back)
		cell->given_back_bytes += weight.bytes;
}

static int take_live_block(void *context, const struct trace_event *e)
{
	struct curves *curves = context;

	if (!curves->filter || event_filter_passes(curves->filter, e))
		count_stayed(curves, e->stack,
			     e->kind == TRACE_EVENT_MAP ? TALLY_MAPPED : TALLY_HEAP, e->time_ns,
			     e->size, e->rate, false);
	return 0;
}

static void take_back_late_frees(struct curves *curves)
{
	size_t i;

	for (i = 0; i < curves->late_count; i++) {
		const struct late_free *f = &curves->late[i];
		struct cell *cell = &curves->cells[f->kind][f->stack];

		count_free(curves, cell, f, -1);
		count_stayed(curves, f->stack, f->kind, f->birth_ns, f->size, f->rate, true);
	}
}

static void curves_end(struct aggregator *self, uint64_t end_ns)
{
	struct curves *curves = (struct curves *)self;
	size_t kind, i;

	(void)end_ns;
	take_back_late_frees(curves);
	trace_live_blocks(curves->trace, take_live_block, curves);
	for (kind = 0; kind < TALLY_KINDS; kind++)
		for (i = 0; i < curves->room[kind]; i++)
			cell_close_bucket(curves, &curves->cells[kind][i]);
}

/* ---- the aggregator ---------------------------------------------------------------- */

struct curves *curves_new(struct trace *trace, const struct event_filter *filter)
{
	struct curves *curves = calloc(1, sizeof(*curves));

	if (!curves)
		return NULL;
	curves->aggregator.take = curves_take;
	curves->aggregator.end = curves_end;
	if (can_take_pairs(filter))
		curves->aggregator.take_pairs = curves_take_pairs;
	curves->aggregator.from_ns = event_filter_from_ns(filter);
	curves->trace = trace;
	curves->filter = filter;
	curves->duration_ns = trace->info.duration_ns ? trace->info.duration_ns : 1;
	curves->bucket_ns = curves->duration_ns / CURVE_BUCKETS + 1;
	return curves;
}

void curves_free(struct curves *curves)
{
	size_t kind, i;

	if (!curves)
		return;
	for (kind = 0; kind < TALLY_KINDS; kind++) {
		for (i = 0; i < curves->room[kind]; i++)
			free(curves->cells[kind][i].steps);
		free(curves->cells[kind]);
	}
	free(curves->late);
	free(curves);
}

struct aggregator *curves_aggregator(struct curves *curves)
{
	return &curves->aggregator;
}

static void add_live(const struct cell *cell, struct curve *curve)
{
	double live = 0;
	size_t i;

	for (i = 0; cell->steps && i < CURVE_BUCKETS; i++) {
		live += (double)cell->steps[i];
		curve->live[i] += live;
	}
}

static void add_cell(const struct cell *cell, struct curve *curve)
{
	size_t i;

	add_live(cell, curve);
	curve->allocated_count += cell->allocated_count;
	curve->allocated_bytes += cell->allocated_bytes;
	curve->freed_count += cell->freed_count;
	curve->freed_young_count += cell->freed_young_count;
	curve->freed_old_count += cell->freed_old_count;
	curve->freed_old_bytes += cell->freed_old_bytes;
	curve->early_bytes += cell->early_bytes;
	curve->given_back_bytes += cell->given_back_bytes;
	for (i = 0; i < BORN_WINDOWS; i++) {
		curve->stayed_bytes[i] += cell->stayed_bytes[i];
		curve->stayed_count[i] += cell->stayed_count[i];
	}
	curve->samples += cell->samples;
	curve->sampled |= cell->sampled;
}

void curves_add(const struct curves *curves, uint32_t stack, enum tally_kind kind,
		struct curve *curve)
{
	if (stack < curves->room[kind])
		add_cell(&curves->cells[kind][stack], curve);
}

void curves_add_all(const struct curves *curves, enum tally_kind kind, struct curve *curve)
{
	size_t i;

	for (i = 0; i < curves->room[kind]; i++)
		add_cell(&curves->cells[kind][i], curve);
}
