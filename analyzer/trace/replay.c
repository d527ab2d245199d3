/*
 * Replays the merged events against the live heap: matches every free with its
 * allocation and hands complete events on.
 *
 * Order. Within a lane records are in true order. Across lanes time stamps can
 * be wrong by the clocks' skew, and a realloc is stamped after its old block
 * has long been free for others. Per address the truth is known: allocations
 * and frees take turns. So a free of an address where nothing is live waits up
 * to EARLY_FREE_NS for the allocation; an allocation where a block is live
 * waits up to EARLY_ALLOCATION_NS for the free. What waits in vain: the free is
 * of a block that recording has not seen born; the live block's free is lost.
 */
#include "trace/lanes.h"
#include "trace/trace.h"
#include "trace/waiting.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

#define OUT_ROOM 1024
#define PREFETCH_AHEAD 24
#define EARLY_FREE_NS 100000
#define EARLY_ALLOCATION_NS 20000000
#define MREMAP_KEEPS_OLD 4 /* MREMAP_DONTUNMAP */
#define PAGE 4096u

#define unlikely(x) __builtin_expect(!!(x), 0)

struct replay {
	struct reader *reader;
	struct trace_event out[OUT_ROOM];
	size_t out_count;
	trace_take_events take;
	void *context;
	int result;                  /* of take, once it isn't 0 */
	struct trace_replay_stats stats;

	uint64_t now, now_ns;        /* of the newest event; `now` in units since the start */
	uint64_t base, ns_per_unit;  /* of the clock */
	uint64_t *last_address;      /* by thread: its newest allocation, if not freed */
	size_t threads;

	bool can_wait;               /* several lanes */
	uint64_t early_free, early_allocation; /* units */
	struct waiting frees, allocations;

	size_t next_mark;            /* in trace.marks */
	uint64_t next_stop_ns;       /* the next mark of a stop or start */
	bool is_stopped;             /* what is allocated now comes from a thread that has
				      * not noticed yet: its free may never be seen */

	struct trace_part *part;     /* what is wanted of the trace */
	uint64_t watch_ns;           /* from here on something is to be done between events */
	bool is_over;                /* the part's end is reached */

	/* What live_maps' callbacks need to know. */
	struct raw_event map_event;
	uint8_t map_flags;
};

/* ---- handing out ---- */

static void flush(struct replay *replay)
{
	struct trace *trace = &replay->reader->trace;

	trace->nodes = replay->reader->stacks.nodes;
	trace->node_count = replay->reader->stacks.node_count;
	if (replay->out_count && !replay->result)
		replay->result = replay->take(replay->context, replay->out, replay->out_count);
	replay->out_count = 0;
}

static inline struct trace_event *new_event(struct replay *replay)
{
	if (unlikely(replay->out_count == OUT_ROOM))
		flush(replay);
	return &replay->out[replay->out_count++];
}

/* Births are kept as units since the start. */
static inline uint64_t birth_ns(const struct replay *replay, uint64_t birth)
{
	return (uint64_t)((unsigned __int128)birth * replay->ns_per_unit >> 32);
}

static inline const struct stack_origin *maker_of(const struct replay *replay, uint32_t origin)
{
	return &replay->reader->stacks.origins[origin];
}

static inline void give_allocation(struct replay *replay, const struct raw_event *raw)
{
	const struct stack_origin *maker = maker_of(replay, raw->origin);
	struct trace_event *event = new_event(replay);

	event->kind = TRACE_EVENT_ALLOCATE;
	event->flags = raw->flags & TRACE_EVENT_REALLOC;
	event->scope = maker->scope;
	event->thread = event->birth_thread = maker->thread;
	event->stack = maker->stack;
	event->free_stack = 0;
	event->time_ns = event->birth_ns = replay->now_ns;
	event->address = raw->address;
	event->size = raw->size;
	event->rate = maker->rate;
	replay->stats.allocations++;
	replay->stats.reallocations += (raw->flags & TRACE_EVENT_REALLOC) != 0;
}

/* The end of @block by @origin. */
static inline struct trace_event *give_free(struct replay *replay, const struct live_block *block,
					    uint32_t origin, uint8_t flags)
{
	const struct stack_origin *maker = maker_of(replay, block->origin);
	struct trace_event *event = new_event(replay);

	event->kind = TRACE_EVENT_FREE;
	event->flags = flags;
	event->scope = maker->scope;
	event->birth_thread = maker->thread;
	event->stack = maker->stack;
	event->birth_ns = birth_ns(replay, block->time);
	event->address = block->address;
	event->size = block->size;
	event->rate = maker->rate;
	event->time_ns = replay->now_ns;
	event->thread = maker_of(replay, origin)->thread;
	event->free_stack = maker_of(replay, origin)->stack;
	return event;
}

static void give_inherited(struct replay *replay, const struct raw_event *raw)
{
	const struct stack_origin *maker = maker_of(replay, raw->origin);
	struct trace_event *event = new_event(replay);

	*event = (struct trace_event){
		.kind = TRACE_EVENT_FREE,
		.flags = TRACE_EVENT_INHERITED | (raw->flags & TRACE_EVENT_REALLOC),
		.thread = maker->thread,
		.birth_thread = maker->thread,
		.free_stack = maker->stack,
		.time_ns = replay->now_ns,
		.address = raw->address,
		.rate = maker->rate,
	};
	replay->stats.frees++;
	replay->stats.inherited_frees++;
}

/* ---- blocks ---- */

static void replace(struct replay *replay, const struct raw_event *raw)
{
	struct live_block block;

	if (!live_heap_remove(&replay->reader->heap, raw->address, &block))
		return;
	give_free(replay, &block, raw->origin, TRACE_EVENT_REPLACED);
	replay->stats.replaced++;
}

/* Whether @raw frees the newest allocation of its thread. When sampled, what
 * lies between isn't recorded: the library has looked itself. */
static inline uint8_t temporary_flag(struct replay *replay, const struct raw_event *raw,
				     const struct live_block *block)
{
	const struct stack_origin *birth = maker_of(replay, block->origin);
	const struct stack_origin *maker = maker_of(replay, raw->origin);

	if (maker->thread != birth->thread)
		return 0;
	if (birth->rate != 1 || maker->rate != 1)
		return raw->flags & TRACE_EVENT_TEMPORARY;
	return replay->last_address[maker->thread] == raw->address ? TRACE_EVENT_TEMPORARY : 0;
}

static inline bool add_block(struct replay *replay, const struct raw_event *raw)
{
	struct live_block block = {.address = raw->address, .size = raw->size,
				   .time = replay->now, .origin = raw->origin};

	if (unlikely(!live_heap_add(&replay->reader->heap, &block)))
		return false;
	replay->last_address[maker_of(replay, raw->origin)->thread] = raw->address;
	give_allocation(replay, raw);
	return true;
}

static inline bool remove_block(struct replay *replay, const struct raw_event *raw)
{
	struct live_block block;
	uint8_t flags;

	if (unlikely(!live_heap_remove(&replay->reader->heap, raw->address, &block)))
		return false;
	flags = (raw->flags & TRACE_EVENT_REALLOC) | temporary_flag(replay, raw, &block);
	give_free(replay, &block, raw->origin, flags);
	replay->stats.frees++;
	return true;
}

/*
 * Is a free that waits that of the block just allocated? Not if the thread that
 * allocated has freed it: that was an earlier block at the address, one not
 * known (from before a start, or live at a stop).
 */
static void settle_early_free(struct replay *replay, const struct raw_event *raw)
{
	struct raw_event early;

	if (!waiting_take(&replay->frees, raw->address, &early))
		return;
	if (maker_of(replay, early.origin)->thread == maker_of(replay, raw->origin)->thread) {
		give_inherited(replay, &early);
		return;
	}
	remove_block(replay, &early);
	replay->stats.order_repairs++;
}

static void allocate_after_all(struct replay *replay, const struct raw_event *raw)
{
	if (!add_block(replay, raw)) {
		replace(replay, raw);
		add_block(replay, raw);
	}
	settle_early_free(replay, raw);
}

static void wait_for_free(struct replay *replay, const struct raw_event *raw)
{
	struct raw_event oldest;

	/* Two allocations of one address wait: the first has waited in vain. */
	if (waiting_take(&replay->allocations, raw->address, &oldest))
		allocate_after_all(replay, &oldest);
	if (waiting_is_full(&replay->allocations) &&
	    waiting_take_before(&replay->allocations, UINT64_MAX, &oldest))
		allocate_after_all(replay, &oldest);
	waiting_add(&replay->allocations, raw);
}

static void wait_for_allocation(struct replay *replay, const struct raw_event *raw)
{
	struct raw_event oldest;

	if (waiting_is_full(&replay->frees) &&
	    waiting_take_before(&replay->frees, UINT64_MAX, &oldest))
		give_inherited(replay, &oldest);
	waiting_add(&replay->frees, raw);
}

static inline void allocate(struct replay *replay, const struct raw_event *raw)
{
	if (unlikely(replay->is_stopped))
		return;
	if (unlikely(!add_block(replay, raw))) {
		if (replay->can_wait) {
			wait_for_free(replay, raw);
			return;
		}
		replace(replay, raw);
		add_block(replay, raw);
	}
	if (unlikely(replay->frees.count))
		settle_early_free(replay, raw);
}

static inline void free_block(struct replay *replay, const struct raw_event *raw)
{
	struct raw_event early;

	if (unlikely(!remove_block(replay, raw))) {
		if (replay->can_wait)
			wait_for_allocation(replay, raw);
		else
			give_inherited(replay, raw);
		return;
	}
	if (unlikely(replay->allocations.count) &&
	    waiting_take(&replay->allocations, raw->address, &early)) {
		replay->stats.order_repairs++;
		allocate_after_all(replay, &early);
	}
}

/* Those that have waited in vain until @time (units). */
static void end_waiting(struct replay *replay, uint64_t time)
{
	uint64_t oldest_free = time > replay->early_free ? time - replay->early_free : 0;
	uint64_t oldest_allocation =
		time > replay->early_allocation ? time - replay->early_allocation : 0;
	struct raw_event early;

	while (waiting_take_before(&replay->frees, oldest_free, &early))
		give_inherited(replay, &early);
	while (waiting_take_before(&replay->allocations, oldest_allocation, &early))
		allocate_after_all(replay, &early);
}

/* ---- mappings ---- */

static struct trace_event *give_part(struct replay *replay, const struct live_part *part)
{
	const struct stack_origin *maker = maker_of(replay, part->origin);
	struct trace_event *event = new_event(replay);

	*event = (struct trace_event){
		.flags = part->is_brk ? TRACE_EVENT_BRK : 0,
		.scope = maker->scope,
		.birth_thread = maker->thread,
		.thread = maker->thread,
		.stack = maker->stack,
		.birth_ns = birth_ns(replay, part->time),
		.time_ns = birth_ns(replay, part->time),
		.address = part->start,
		.size = part->end - part->start,
		.rate = 1,
	};
	return event;
}

static void give_unmap(void *context, const struct live_part *part)
{
	struct replay *replay = context;
	struct trace_event *event = give_part(replay, part);
	uint32_t origin = replay->map_event.origin;

	event->kind = TRACE_EVENT_UNMAP;
	event->flags |= replay->map_flags | (part->is_last ? 0 : TRACE_EVENT_PART);
	event->time_ns = replay->now_ns;
	event->thread = maker_of(replay, origin)->thread;
	event->free_stack = maker_of(replay, origin)->stack;
	replay->stats.unmaps++;
}

/* The end of a range; wraps around for no one. */
static uint64_t range_end(uint64_t start, uint64_t bytes)
{
	return bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
}

/* The kernel takes whole pages away. */
static void unmap(struct replay *replay, uint64_t start, uint64_t bytes)
{
	uint64_t end = range_end(start, bytes);

	if (end % PAGE && end < UINT64_MAX - PAGE)
		end += PAGE - end % PAGE;
	live_maps_remove(&replay->reader->maps, start, end, give_unmap, replay);
}

static void map(struct replay *replay, uint64_t start, uint64_t bytes, uint8_t flags)
{
	uint64_t end = range_end(start, bytes);
	struct live_part part = {.start = start, .end = end,
				 .time = replay->now,
				 .origin = replay->map_event.origin,
				 .is_brk = flags & TRACE_EVENT_BRK};
	struct trace_event *event;

	if (start >= end)
		return;
	live_maps_add(&replay->reader->maps, start, end, part.time, part.origin, part.is_brk);
	event = give_part(replay, &part);
	event->kind = TRACE_EVENT_MAP;
	event->flags |= flags;
	replay->stats.maps++;
}

static void remap(struct replay *replay, const struct raw_map *told)
{
	replay->map_flags = TRACE_EVENT_REALLOC;
	if (!(told->flags & MREMAP_KEEPS_OLD))
		unmap(replay, told->old_address, told->old_bytes);
	replay->map_flags = 0;
	unmap(replay, told->address, told->bytes);
	map(replay, told->address, told->bytes, TRACE_EVENT_REALLOC);
}

static void move_break(struct replay *replay, const struct raw_map *told)
{
	uint64_t end = told->address, old_end = told->old_address;

	replay->map_flags = TRACE_EVENT_BRK;
	if (end > old_end)
		map(replay, old_end, end - old_end, TRACE_EVENT_BRK);
	else
		live_maps_remove(&replay->reader->maps, end, old_end, give_unmap, replay);
}

static void replay_map(struct replay *replay, const struct raw_event *raw)
{
	const struct raw_map *told = (const struct raw_map *)(uintptr_t)raw->address;

	replay->map_event = *raw;
	replay->map_flags = 0;
	switch (told->op) {
	case TRACE_MAP_MMAP:
		unmap(replay, told->address, told->bytes);
		map(replay, told->address, told->bytes, 0);
		break;
	case TRACE_MAP_MUNMAP:
		unmap(replay, told->address, told->bytes);
		break;
	case TRACE_MAP_MREMAP:
		remap(replay, told);
		break;
	case TRACE_MAP_BRK:
		move_break(replay, told);
		break;
	}
}

/* ---- the end of knowledge ---- */

static int give_unknown(void *context, const struct live_block *block)
{
	struct replay *replay = context;

	give_free(replay, block, 0, TRACE_EVENT_UNKNOWN);
	replay->stats.unknown++;
	return replay->result;
}

static void stop(struct replay *replay)
{
	struct reader *reader = replay->reader;

	end_waiting(replay, UINT64_MAX);
	live_heap_each(&reader->heap, give_unknown, replay);
	live_heap_clear(&reader->heap);
	replay->map_event = (struct raw_event){0};
	replay->map_flags = TRACE_EVENT_UNKNOWN;
	live_maps_remove(&reader->maps, 0, UINT64_MAX, give_unmap, replay);
}

static void find_next_stop(struct replay *replay)
{
	const struct trace *trace = &replay->reader->trace;

	while (replay->next_mark < trace->mark_count &&
	       trace->marks[replay->next_mark].kind != TRACE_MARK_STOP &&
	       trace->marks[replay->next_mark].kind != TRACE_MARK_START)
		replay->next_mark++;
	replay->next_stop_ns = replay->next_mark < trace->mark_count ?
				       trace->marks[replay->next_mark].time_ns : UINT64_MAX;
}

/* Stops and starts up to @time_ns. A start ends knowledge, too: threads notice a
 * stop one after the other, so a free between the two may be missing. */
static void do_stops(struct replay *replay, uint64_t time_ns)
{
	const struct trace *trace = &replay->reader->trace;

	while (replay->next_stop_ns <= time_ns) {
		stop(replay);
		replay->is_stopped = trace->marks[replay->next_mark].kind == TRACE_MARK_STOP;
		replay->next_mark++;
		find_next_stop(replay);
	}
}

/* ---- parts ---- */

static void set_watch(struct replay *replay)
{
	const struct trace_part *part = replay->part;
	uint64_t end = part->end_ns == UINT64_MAX ? UINT64_MAX : part->end_ns + 1;

	replay->watch_ns = part->next_cut_ns < end ? part->next_cut_ns : end;
}

static void give_cut(struct replay *replay, uint64_t next_ns)
{
	struct trace_cut cut = {.time_ns = replay->now_ns, .next_ns = next_ns,
				.stats = replay->stats,
				.last_addresses = replay->last_address,
				.thread_count = replay->threads};

	flush(replay);
	replay->part->cut(replay->context, &cut);
}

/* Before the first event of @now_ns. true: the part has ended. */
static bool watch(struct replay *replay, uint64_t now_ns)
{
	struct trace_part *part = replay->part;

	if (now_ns > part->end_ns)
		return replay->is_over = true;
	if (now_ns >= part->next_cut_ns && !replay->frees.count && !replay->allocations.count)
		give_cut(replay, now_ns);
	set_watch(replay);
	return false;
}

/* ---- the pass ---- */

/* Moves the clock to @time. false: the part has ended. */
static inline bool advance(struct replay *replay, uint64_t time)
{
	uint64_t now = replay->base + replay->now, now_ns;

	if (unlikely(time < now))
		replay->part->is_unordered = true;
	if (time <= now)
		return true;
	now_ns = birth_ns(replay, time - replay->base);
	if (unlikely(now_ns >= replay->watch_ns) && watch(replay, now_ns))
		return false;
	replay->now = time - replay->base;
	replay->now_ns = now_ns;
	return true;
}

static inline void replay_event(struct replay *replay, const struct raw_event *raw)
{
	if (unlikely(!advance(replay, raw->time)))
		return;
	if (unlikely(replay->next_stop_ns != UINT64_MAX))
		do_stops(replay, replay->now_ns);
	if (unlikely(replay->frees.count | replay->allocations.count))
		end_waiting(replay, replay->base + replay->now);
	if (raw->kind == RAW_ALLOCATE)
		allocate(replay, raw);
	else if (raw->kind == RAW_FREE)
		free_block(replay, raw);
	else
		replay_map(replay, raw);
}

static void replay_events(struct replay *replay, const struct raw_event *events, size_t count)
{
	const struct live_heap *heap = &replay->reader->heap;
	size_t ahead = live_heap_is_large(heap) ? PREFETCH_AHEAD : count;

	for (size_t i = 0; i < count && ahead < count && i < ahead; i++)
		live_heap_prefetch(heap, events[i].address);
	for (size_t i = 0; i < count && !replay->is_over; i++) {
		if (i + ahead < count)
			live_heap_prefetch(heap, events[i + ahead].address);
		replay_event(replay, &events[i]);
	}
}

static void replay_init(struct replay *replay, struct reader *reader)
{
	uint64_t ns = reader->clock.ns_per_unit;

	replay->reader = reader;
	replay->base = reader->clock.base;
	replay->ns_per_unit = ns;
	replay->threads = reader->trace.thread_count;
	replay->last_address = memory_zeroed(replay->threads + 1, sizeof(uint64_t));
	replay->early_free = (uint64_t)EARLY_FREE_NS * 4294967296 / ns;
	replay->early_allocation = (uint64_t)EARLY_ALLOCATION_NS * 4294967296 / ns;
	find_next_stop(replay);
}

/* Time, newest addresses and what is counted go on from @from; the heap is what
 * trace_live_take has made it. */
static void take_up(struct replay *replay, const struct trace_cut *from)
{
	replay->now = clock_units(&replay->reader->clock, from->time_ns);
	replay->now_ns = from->time_ns;
	replay->stats = from->stats;
	for (size_t i = 0; i < from->thread_count && i < replay->threads; i++)
		replay->last_address[i] = from->last_addresses[i];
}

int trace_replay(struct trace *trace, trace_take_events take, void *context,
		 struct trace_replay_stats *stats, struct error *err)
{
	struct trace_part whole = {.end_ns = UINT64_MAX, .next_cut_ns = UINT64_MAX};

	return trace_replay_part(trace, &whole, take, context, stats, err);
}

int trace_replay_part(struct trace *trace, struct trace_part *part, trace_take_events take,
		      void *context, struct trace_replay_stats *stats, struct error *err)
{
	struct reader *reader = reader_of(trace);
	struct replay *replay = memory_zeroed(1, sizeof(*replay));
	const struct raw_event *events;
	struct lanes lanes;
	size_t count;
	int result;

	(void)err;
	replay->take = take;
	replay->context = context;
	replay->part = part;
	replay_init(replay, reader);
	if (part->from)
		take_up(replay, part->from);
	else
		trace_live_clear(trace);
	set_watch(replay);
	lanes_init(&lanes, reader, part->from ? replay->base + replay->now : 0);
	replay->can_wait = !lanes.is_single;
	while (!replay->result && !replay->is_over && (count = lanes_next(&lanes, &events)))
		replay_events(replay, events, count);
	if (!replay->result && !replay->is_over) {
		end_waiting(replay, UINT64_MAX);
		do_stops(replay, UINT64_MAX - 1);
	}
	flush(replay);
	lanes_release(&lanes);
	replay->stats.stack_checks = lanes.stack_checks;
	replay->stats.stack_mismatches = lanes.stack_mismatches;
	replay->stats.totals_mismatches = lanes.totals_mismatches;
	replay->stats.events = trace->info.events;
	result = replay->result;
	if (!result && !replay->is_over)
		reader->has_replayed = true;
	if (trace->fault_count)
		trace->info.complete = false;
	if (stats)
		*stats = replay->stats;
	free(replay->last_address);
	free(replay);
	return result;
}

/* ---- what is live ---- */

struct live_request {
	const struct reader *reader;
	trace_take_block take;
	void *context;
	uint64_t since;        /* units: blocks born later alone */
	int result;
};

static void live_event(const struct live_request *request, uint32_t origin, uint64_t birth,
		       struct trace_event *event)
{
	const struct stack_origin *maker = &request->reader->stacks.origins[origin];

	*event = (struct trace_event){.kind = TRACE_EVENT_ALLOCATE, .rate = maker->rate};
	event->stack = maker->stack;
	event->scope = maker->scope;
	event->thread = event->birth_thread = maker->thread;
	event->time_ns = (uint64_t)((unsigned __int128)birth *
				    request->reader->clock.ns_per_unit >> 32);
	event->birth_ns = event->time_ns;
}

static int take_live_block(void *context, const struct live_block *block)
{
	struct live_request *request = context;
	struct trace_event event;

	if (block->time < request->since)
		return 0;
	live_event(request, block->origin, block->time, &event);
	event.address = block->address;
	event.size = block->size;
	return request->result = request->take(request->context, &event);
}

static void take_live_part(void *context, const struct live_part *part)
{
	struct live_request *request = context;
	struct trace_event event;

	if (request->result)
		return;
	live_event(request, part->origin, part->time, &event);
	event.kind = TRACE_EVENT_MAP;
	event.flags = part->is_brk ? TRACE_EVENT_BRK : 0;
	event.address = part->start;
	event.size = part->end - part->start;
	event.rate = 1;
	request->result = request->take(request->context, &event);
}

int trace_live_blocks(struct trace *trace, trace_take_block take, void *context)
{
	struct reader *reader = reader_of(trace);
	struct live_request request = {.reader = reader, .take = take, .context = context};

	live_heap_each(&reader->heap, take_live_block, &request);
	if (!request.result)
		live_maps_each(&reader->maps, take_live_part, &request);
	return request.result;
}

int trace_live_heap(struct trace *trace, uint64_t since_ns, trace_take_block take, void *context)
{
	struct reader *reader = reader_of(trace);
	struct live_request request = {.reader = reader, .take = take, .context = context,
				       .since = clock_units(&reader->clock, since_ns)};

	live_heap_each(&reader->heap, take_live_block, &request);
	return request.result;
}

void trace_live_clear(struct trace *trace)
{
	live_heap_clear(&reader_of(trace)->heap);
	live_maps_release(&reader_of(trace)->maps);
}

static void pass_over_part(void *context, const struct live_part *part)
{
	(void)context;
	(void)part;
}

static void take_birth(struct reader *reader, const struct trace_event *e)
{
	struct stacks *stacks = &reader->stacks;
	uint32_t context = stacks_context(stacks, e->thread, e->scope, e->rate);
	struct live_block block = {.address = e->address, .size = e->size,
				   .time = clock_units(&reader->clock, e->time_ns),
				   .origin = stacks_origin(stacks, e->stack, context)};

	if (e->kind == TRACE_EVENT_ALLOCATE)
		live_heap_add(&reader->heap, &block);
	else
		live_maps_add(&reader->maps, e->address, e->address + e->size, block.time,
			      block.origin, e->flags & TRACE_EVENT_BRK);
}

void trace_live_take(struct trace *trace, const struct trace_event *events, size_t count)
{
	struct reader *reader = reader_of(trace);
	struct live_block block;

	for (const struct trace_event *e = events; e < events + count; e++) {
		if (e->kind == TRACE_EVENT_FREE && !(e->flags & TRACE_EVENT_INHERITED))
			live_heap_remove(&reader->heap, e->address, &block);
		else if (e->kind == TRACE_EVENT_UNMAP)
			live_maps_remove(&reader->maps, e->address, e->address + e->size,
					 pass_over_part, NULL);
		else if (e->kind != TRACE_EVENT_FREE)
			take_birth(reader, e);
	}
}
