/*
 * See slices.h, slice_builder.h. Whether a block outlives its slice is known when
 * it is freed, from the time of its birth, or at the slice's end, from the live
 * heap: so no table of blocks is needed beside the replay's own.
 */
#include "model/slice_builder.h"

#include "model/curves.h"
#include "model/histogram.h"
#include "model/slices.h"
#include "trace/index_file.h"
#include "util/memory.h"
#include "util/progress.h"

#include <stdlib.h>
#include <string.h>

#define SLICES_BY_COUNT 64           /* a slice has no more than this part of all events */
#define SINGLE_SHARE 4               /* slices are of no use when more than this part ... */
#define SINGLE_FREE ((uint64_t)1 << 20) /* ... of the events and so many are kept singly */
#define SUB_STEPS (SLICE_STEPS / CURVE_BUCKETS)

uint64_t slice_bucket_ns(const struct trace *trace)
{
	return (trace->info.duration_ns ? trace->info.duration_ns : 1) / CURVE_BUCKETS + 1;
}

/* ---- time ---- */

size_t slice_step_of(const struct trace *trace, uint64_t time_ns)
{
	uint64_t bucket_ns = slice_bucket_ns(trace), bucket = time_ns / bucket_ns, step;

	if (bucket >= CURVE_BUCKETS)
		return SLICE_STEPS - 1;
	step = time_ns % bucket_ns / (bucket_ns / SUB_STEPS);
	return bucket * SUB_STEPS + (step < SUB_STEPS ? step : SUB_STEPS - 1);
}

uint64_t slice_step_start(const struct trace *trace, size_t step)
{
	uint64_t bucket_ns = slice_bucket_ns(trace);

	return step / SUB_STEPS * bucket_ns + step % SUB_STEPS * (bucket_ns / SUB_STEPS);
}

/* ---- the builder ---- */

struct events {
	struct trace_event *items;
	size_t count, room;
};

struct pair_key {
	uint64_t stacks, threads, rest;
};

struct pair_slot {
	struct pair_key key;
	uint32_t pairs;              /* index + 1, 0 = empty */
};

struct builder {
	struct trace *trace;
	struct index_writer *writer;
	struct trace_part part;
	struct progress progress;
	uint64_t duration_ns, bucket_ns, early_ns;
	uint64_t seen, singles;
	bool is_hopeless;

	/* The present slice. */
	struct slice slice;
	struct events deaths, others, births;
	struct event_pairs *pairs;
	size_t pair_count, pair_room;
	struct pair_slot *slots;
	size_t slot_mask;
	uint64_t cell_start_ns, cell_end_ns; /* where bucket and earliness are the slice's */
	uint64_t *addresses;
	size_t address_count;

	struct slice *slices;
	size_t slice_count;

	struct slice_step *steps;
	size_t step;
	uint64_t step_end_ns;
	double live_count, live_bytes, mapped_bytes;
};

static void events_add(struct events *events, const struct trace_event *e)
{
	if (events->count == events->room) {
		events->room = events->room ? events->room * 2 : 1024;
		events->items = memory_resize(events->items, events->room, sizeof(*events->items));
	}
	events->items[events->count++] = *e;
}

/* ---- pairs ---- */

static uint64_t cell_of(const struct builder *builder, uint64_t time_ns)
{
	uint64_t bucket = time_ns / builder->bucket_ns;

	if (bucket >= CURVE_BUCKETS)
		bucket = CURVE_BUCKETS - 1;
	return 1 + bucket * 2 + (time_ns < builder->early_ns);
}

/* 0 for what is usual: the slice's own. */
static uint64_t cells_of(const struct builder *builder, const struct trace_event *e)
{
	if (e->birth_ns >= builder->cell_start_ns && e->time_ns < builder->cell_end_ns)
		return 0;
	return cell_of(builder, e->birth_ns) << 10 | cell_of(builder, e->time_ns);
}

/* See size_class of tallies.c and size_class_of: they differ at powers of two. */
static uint64_t size_key(uint64_t size)
{
	uint64_t bits = size ? 64 - (uint64_t)__builtin_clzll(size) : 0;

	return bits << 1 | !(size & (size - 1));
}

static uint64_t age_key(const struct builder *builder, uint64_t age_ns)
{
	return (uint64_t)age_class_of(age_ns) << 2 |
	       (uint64_t)(age_ns * 20 < builder->duration_ns) << 1 |
	       (age_ns * 4 >= builder->duration_ns);
}

static struct pair_key key_of(const struct builder *builder, const struct trace_event *e)
{
	struct pair_key key = { e->stack | (uint64_t)e->free_stack << 32,
				e->birth_thread | (uint64_t)e->thread << 32,
				e->scope | (uint64_t)e->flags << 16 | size_key(e->size) << 24 |
					(uint64_t)(e->kind == TRACE_EVENT_FREE) << 32 };

	key.rest |= cells_of(builder, e) << 40;
	if (e->kind == TRACE_EVENT_FREE)
		key.rest |= age_key(builder, e->time_ns - e->birth_ns) << 33;
	return key;
}

static size_t hash_of(const struct builder *builder, const struct pair_key *key)
{
	uint64_t hash = key->stacks * 0x9e3779b97f4a7c15ull ^ key->threads * 0xc2b2ae3d27d4eb4full ^
			key->rest * 0xff51afd7ed558ccdull;

	return (size_t)(hash ^ hash >> 29) & builder->slot_mask;
}

static bool same_key(const struct pair_key *a, const struct pair_key *b)
{
	return !((a->stacks ^ b->stacks) | (a->threads ^ b->threads) | (a->rest ^ b->rest));
}

static void grow_slots(struct builder *builder)
{
	struct pair_slot *old = builder->slots;
	size_t old_count = old ? builder->slot_mask + 1 : 0;

	builder->slot_mask = old_count ? old_count * 2 - 1 : 4095;
	builder->slots = memory_zeroed(builder->slot_mask + 1, sizeof(*builder->slots));
	for (size_t i = 0; i < old_count; i++) {
		size_t at = hash_of(builder, &old[i].key);

		if (!old[i].pairs)
			continue;
		while (builder->slots[at].pairs)
			at = (at + 1) & builder->slot_mask;
		builder->slots[at] = old[i];
	}
	free(old);
}

static struct event_pairs *pairs_new(struct builder *builder, const struct trace_event *e)
{
	struct event_pairs *pairs;

	if (builder->pair_count == builder->pair_room) {
		builder->pair_room = builder->pair_room ? builder->pair_room * 2 : 1024;
		builder->pairs = memory_resize(builder->pairs, builder->pair_room,
					       sizeof(*builder->pairs));
	}
	pairs = &builder->pairs[builder->pair_count++];
	memset(pairs, 0, sizeof(*pairs));
	pairs->death = *e;
	pairs->is_realloc = e->kind == TRACE_EVENT_ALLOCATE;
	return pairs;
}

static void pairs_add(struct builder *builder, const struct trace_event *e)
{
	struct pair_key key = key_of(builder, e);
	struct event_pairs *pairs;
	size_t at;

	if (builder->pair_count * 2 > builder->slot_mask || !builder->slots)
		grow_slots(builder);
	at = hash_of(builder, &key);
	while (builder->slots[at].pairs && !same_key(&builder->slots[at].key, &key))
		at = (at + 1) & builder->slot_mask;
	if (builder->slots[at].pairs) {
		pairs = &builder->pairs[builder->slots[at].pairs - 1];
	} else {
		pairs = pairs_new(builder, e);
		builder->slots[at] = (struct pair_slot){ key, (uint32_t)builder->pair_count };
	}
	pairs->count++;
	pairs->bytes += e->size;
	pairs->slack += glibc_usable_bytes(e->size) - e->size;
}

/* ---- steps ---- */

static void next_step(struct builder *builder)
{
	struct slice_step *step = &builder->steps[builder->step];

	step->live_count = builder->live_count;
	step->live_bytes = builder->live_bytes;
	step->mapped_bytes = builder->mapped_bytes;
	if (builder->step + 1 < SLICE_STEPS)
		builder->step++;
	builder->step_end_ns = builder->step + 1 < SLICE_STEPS ?
				       slice_step_start(builder->trace, builder->step + 1) :
				       UINT64_MAX;
}

static void steps_init(struct builder *builder)
{
	builder->steps = memory_zeroed(SLICE_STEPS, sizeof(*builder->steps));
	for (size_t i = 0; i < SLICE_STEPS; i++)
		builder->steps[i].highest_bytes = -1;
	builder->step_end_ns = slice_step_start(builder->trace, 1);
}

static void steps_end(struct builder *builder)
{
	while (builder->step + 1 < SLICE_STEPS)
		next_step(builder);
	next_step(builder);
}

static inline void live_moved(struct builder *builder)
{
	struct slice_step *step = &builder->steps[builder->step];

	if (builder->live_bytes > step->highest_bytes)
		step->highest_bytes = builder->live_bytes;
	if (builder->live_bytes > builder->slice.highest_bytes)
		builder->slice.highest_bytes = builder->live_bytes;
}

/* ---- events ---- */

static inline void take_birth(struct builder *builder, const struct trace_event *e)
{
	struct slice_step *step = &builder->steps[builder->step];

	step->made_count++;
	step->made_bytes += (double)e->size;
	builder->live_count++;
	builder->live_bytes += (double)e->size;
	live_moved(builder);
	if (e->flags & TRACE_EVENT_REALLOC)
		pairs_add(builder, e);
}

static inline void take_death(struct builder *builder, const struct trace_event *e)
{
	struct slice_step *step = &builder->steps[builder->step];

	step->freed_count++;
	step->freed_bytes += (double)e->size;
	builder->live_count--;
	builder->live_bytes -= (double)e->size;
	live_moved(builder);
	if (e->birth_ns > builder->slice.before_ns || !builder->slice_count)
		pairs_add(builder, e);
	else
		events_add(&builder->deaths, e);
}

static void take_other(struct builder *builder, const struct trace_event *e)
{
	events_add(&builder->others, e);
	if (e->kind == TRACE_EVENT_MAP)
		builder->mapped_bytes += (double)e->size;
	else if (e->kind == TRACE_EVENT_UNMAP)
		builder->mapped_bytes -= (double)e->size;
}

static bool is_worth_it(const struct builder *builder)
{
	uint64_t singles = builder->singles + builder->deaths.count + builder->others.count;

	return singles < SINGLE_FREE + builder->seen / SINGLE_SHARE;
}

static int take(void *context, const struct trace_event *events, size_t count)
{
	struct builder *builder = context;

	for (const struct trace_event *e = events; e < events + count; e++) {
		while (e->time_ns >= builder->step_end_ns)
			next_step(builder);
		if (e->rate != 1)
			builder->is_hopeless = true;
		builder->slice.births += e->kind == TRACE_EVENT_ALLOCATE ||
					 e->kind == TRACE_EVENT_MAP;
		if (e->kind == TRACE_EVENT_ALLOCATE)
			take_birth(builder, e);
		else if (e->kind == TRACE_EVENT_FREE && !(e->flags & TRACE_EVENT_INHERITED))
			take_death(builder, e);
		else
			take_other(builder, e);
	}
	if (count)
		builder->slice.last_ns = events[count - 1].time_ns;
	builder->seen += count;
	progress_add(&builder->progress, count);
	if (builder->seen - builder->slice.first_event >
	    builder->trace->info.events / SLICES_BY_COUNT)
		builder->part.next_cut_ns = 0;
	builder->is_hopeless |= !is_worth_it(builder);
	return builder->is_hopeless;
}

/* ---- slices ---- */

static uint8_t *put(void *at, const void *items, size_t bytes)
{
	if (bytes)
		memcpy(at, items, bytes);
	return (uint8_t *)at + bytes;
}

/* Where the bucket and the earliness of @first_ns begin and end: the slice should
 * end there, too. */
static void find_cell(struct builder *builder, uint64_t first_ns)
{
	uint64_t bucket = first_ns / builder->bucket_ns;
	uint64_t start = bucket * builder->bucket_ns, end = start + builder->bucket_ns;

	if (bucket >= CURVE_BUCKETS - 1) {
		start = (CURVE_BUCKETS - 1) * builder->bucket_ns;
		end = UINT64_MAX;
	}
	if (first_ns < builder->early_ns && builder->early_ns < end)
		end = builder->early_ns;
	if (first_ns >= builder->early_ns && builder->early_ns > start)
		start = builder->early_ns;
	builder->cell_start_ns = start;
	builder->cell_end_ns = builder->part.next_cut_ns = end;
}

static void slice_begin(struct builder *builder, const struct trace_cut *cut)
{
	builder->slice = (struct slice){ .first_event = builder->seen,
					 .highest_bytes = builder->live_bytes };
	builder->deaths.count = builder->others.count = builder->births.count = 0;
	builder->pair_count = 0;
	if (builder->slots)
		memset(builder->slots, 0, (builder->slot_mask + 1) * sizeof(*builder->slots));
	find_cell(builder, cut ? cut->next_ns : 0);
	if (!cut)
		return;
	builder->slice.before_ns = builder->slice.last_ns = cut->time_ns;
	builder->slice.stats = cut->stats;
	free(builder->addresses);
	builder->address_count = cut->thread_count;
	builder->addresses = memory_zeroed(cut->thread_count + 1, sizeof(uint64_t));
	put(builder->addresses, cut->last_addresses, cut->thread_count * sizeof(uint64_t));
}

static int add_birth(void *context, const struct trace_event *allocation)
{
	struct builder *builder = context;

	events_add(&builder->births, allocation);
	return 0;
}

static int compare_births(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void find_births(struct builder *builder)
{
	uint64_t since_ns = builder->slice_count ? builder->slice.before_ns + 1 : 0;

	trace_live_heap(builder->trace, since_ns, add_birth, builder);
	if (builder->births.count)
		qsort(builder->births.items, builder->births.count,
		      sizeof(*builder->births.items), compare_births);
	builder->singles += builder->births.count + builder->deaths.count + builder->others.count;
}

static void slice_end(struct builder *builder)
{
	struct slice *slice = &builder->slice;
	size_t event = sizeof(struct trace_event), bytes;
	uint8_t *block, *at;

	find_births(builder);
	slice->events = builder->seen - slice->first_event;
	slice->address_count = builder->address_count;
	slice->death_count = builder->deaths.count;
	slice->other_count = builder->others.count;
	slice->birth_count = builder->births.count;
	slice->pair_count = builder->pair_count;
	bytes = slice_content_bytes(slice);
	block = memory_zeroed(bytes + 1, 1);
	at = put(block, builder->addresses, slice->address_count * sizeof(uint64_t));
	at = put(at, builder->deaths.items, slice->death_count * event);
	at = put(at, builder->others.items, slice->other_count * event);
	at = put(at, builder->births.items, slice->birth_count * event);
	put(at, builder->pairs, slice->pair_count * sizeof(struct event_pairs));
	builder->is_hopeless |= !index_writer_block(builder->writer, block, bytes);
	free(block);
	MEMORY_ROOM(builder->slices, builder->slice_count);
	builder->slices[builder->slice_count++] = *slice;
}

static void at_cut(void *context, const struct trace_cut *cut)
{
	struct builder *builder = context;

	if (builder->is_hopeless)
		return;
	slice_end(builder);
	slice_begin(builder, cut);
}

/* ---- the whole ---- */

static void write_tables(struct builder *builder, const struct trace_replay_stats *stats)
{
	size_t bytes = builder->is_hopeless ? 0 : builder->slice_count * sizeof(struct slice);
	uint8_t *table = memory_zeroed(sizeof(*stats) + bytes, 1);

	put(put(table, stats, sizeof(*stats)), builder->slices, bytes);
	index_writer_block(builder->writer, builder->steps,
			   builder->is_hopeless ? 0 : SLICE_STEPS * sizeof(*builder->steps));
	index_writer_block(builder->writer, table, sizeof(*stats) + bytes);
	free(table);
}

static void builder_release(struct builder *builder)
{
	free(builder->deaths.items);
	free(builder->others.items);
	free(builder->births.items);
	free(builder->pairs);
	free(builder->slots);
	free(builder->addresses);
	free(builder->slices);
	free(builder->steps);
}

void slices_build(struct trace *trace, struct index_writer *writer)
{
	struct builder builder = { .trace = trace, .writer = writer };
	struct trace_replay_stats stats = { 0 };
	struct error err;

	builder.duration_ns = trace->info.duration_ns ? trace->info.duration_ns : 1;
	builder.bucket_ns = slice_bucket_ns(trace);
	builder.early_ns = (builder.duration_ns + 9) / 10;
	builder.is_hopeless = builder.bucket_ns < SUB_STEPS;
	builder.part = (struct trace_part){ .end_ns = UINT64_MAX, .next_cut_ns = UINT64_MAX,
					    .cut = at_cut };
	steps_init(&builder);
	slice_begin(&builder, NULL);
	progress_begin(&builder.progress, "events");
	if (!builder.is_hopeless)
		trace_replay_part(trace, &builder.part, take, &builder, &stats, &err);
	progress_end(&builder.progress);
	builder.is_hopeless |= builder.part.is_unordered;
	if (!builder.is_hopeless)
		slice_end(&builder);
	steps_end(&builder);
	write_tables(&builder, &stats);
	trace_index_end(trace, writer, true);
	builder_release(&builder);
}
