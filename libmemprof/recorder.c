/*
 * The encoder. Each event follows the same path: room for it (a full slot is
 * flushed, which empties the decoder's state and ours), its stack as a delta,
 * the places in the code that the delta names for the first time, then the
 * record itself, committed by one store.
 *
 * The usual record is written with the clock, the address table and the size
 * table at hand in one go; everything unusual is a function of its own that is
 * never inlined into it.
 */
#include "recorder_encode.h"

#include <string.h>
#include <sys/prctl.h>

#include "os.h"
#include "process.h"
#include "record_store.h"
#include "settings.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define likely(x) __builtin_expect(!!(x), 1)
#define noinline __attribute__((noinline))

/* While one thread records, the clock is read for every 16th event: its order
 * is known without. */
#define CLOCK_EVERY 16
/* Deltas between looks at the thread's name, a system call: few at first, since most
 * threads get it early, then twice as many each time. */
#define NAME_EVERY_FIRST 64
#define NAME_EVERY_LAST 4096

uint32_t recorder_lanes;
uint64_t recorder_mapped_bytes;
bool (*recorder_revive)(struct recorder *recorder);

static struct record_cursor cursor_of(struct recorder *recorder)
{
	return (struct record_cursor){ .at = recorder->buffer.at, .end = recorder->buffer.end };
}

static void commit_cursor(struct recorder *recorder, const struct record_cursor *cursor)
{
	event_buffer_commit(&recorder->buffer, cursor->at);
}

/* ---- the decoder's state, mirrored ---- */

static void forget(struct recorder *recorder)
{
	memset(recorder->addresses, 0, sizeof recorder->addresses);
	memset(recorder->sizes, 0, sizeof recorder->sizes);
	recorder->last_address = 0;
	recorder->stated_rate = settings_get()->rate_bytes;
}

static void state_scopes(struct recorder *recorder)
{
	struct record_cursor cursor = cursor_of(recorder);
	uint32_t known = recorder->scopes;

	if (known > RECORDER_SCOPES_MAX)
		known = RECORDER_SCOPES_MAX;
	for (uint32_t i = 0; i < known; i++) {
		record_begin(&cursor, TRACE_KIND_SCOPE_BEGIN);
		record_string(&cursor, recorder->scope_names[i],
			      strlen(recorder->scope_names[i]));
		record_number(&cursor, 1);
		record_end(&cursor);
	}
	commit_cursor(recorder, &cursor);
}

static void state_rate(struct recorder *recorder)
{
	struct record_cursor cursor = cursor_of(recorder);

	record_begin(&cursor, TRACE_KIND_RATE);
	record_number(&cursor, recorder->rate);
	record_end(&cursor);
	commit_cursor(recorder, &cursor);
	recorder->stated_rate = recorder->rate;
}

static void state_name(struct recorder *recorder)
{
	char name[16] = "";
	struct record_cursor cursor;

	if (os_call2(SYS_prctl, PR_GET_NAME, name))
		return;
	name[sizeof name - 1] = 0;
	if (text_equal(name, recorder->name))
		return;
	memcpy(recorder->name, name, sizeof name);
	cursor = cursor_of(recorder);
	record_begin(&cursor, TRACE_KIND_THREAD_NAME);
	record_string(&cursor, name, strlen(name));
	record_end(&cursor);
	commit_cursor(recorder, &cursor);
}

static noinline void look_at_name(struct recorder *recorder)
{
	if (recorder->name_every < NAME_EVERY_LAST)
		recorder->name_every *= 2;
	recorder->name_skip = recorder->name_every;
	state_name(recorder);
}

/* A piece has just begun: nothing is known to its decoder. */
static void begin_piece(struct recorder *recorder)
{
	forget(recorder);
	recorder->clock = event_buffer_start_ticks(&recorder->buffer) >> TRACE_TIME_SHIFT;
	recorder->clock_skip = 0;
	unwind_restart(recorder->unwind);
	state_scopes(recorder);
	state_name(recorder);
}

void recorder_restart(struct recorder *recorder)
{
	struct record_cursor cursor = cursor_of(recorder);

	forget(recorder);
	unwind_restart(recorder->unwind);
	record_begin(&cursor, TRACE_KIND_RESTART);
	record_end(&cursor);
	commit_cursor(recorder, &cursor);
	state_scopes(recorder);
}

static noinline bool flush(struct recorder *recorder)
{
	if (!event_buffer_flush(&recorder->buffer))
		return false;
	begin_piece(recorder);
	return true;
}

/*
 * The slot is full, or not ours: in a child of fork it is wiped. false: the
 * event is lost.
 */
static noinline bool make_room(struct recorder *recorder)
{
	if (!recorder->buffer.limit)
		return recorder_revive(recorder);
	if (flush(recorder))
		return true;
	event_buffer_drop(&recorder->buffer, 0);
	return false;
}

static inline bool have_room(struct recorder *recorder)
{
	return likely(recorder->buffer.at < recorder->buffer.limit) || make_room(recorder);
}

/* ---- a lane's life ---- */

static void begin_name(struct recorder *recorder)
{
	recorder->name[0] = 0;
	recorder->name_every = recorder->name_skip = NAME_EVERY_FIRST;
}

static void state_owner(struct recorder *recorder, uint32_t tid)
{
	struct record_cursor cursor = cursor_of(recorder);

	record_begin(&cursor, TRACE_KIND_THREAD_BEGIN);
	record_number(&cursor, tid);
	record_end(&cursor);
	commit_cursor(recorder, &cursor);
	recorder->buffer.tid = tid;
	begin_name(recorder);
	state_name(recorder);
}

bool recorder_begin(struct recorder *recorder, uint32_t tid)
{
	if (!event_buffer_open(&recorder->buffer, tid))
		return false;
	__atomic_fetch_add(&recorder_lanes, 1, __ATOMIC_RELAXED);
	recorder->trace = process_generation();
	recorder->clock_every = 1;
	begin_name(recorder);
	recorder->rate = settings_get()->rate_bytes;
	begin_piece(recorder);
	return true;
}

/* Both sides keep what they know: the next thread often does what the last one did. */
void recorder_take_over(struct recorder *recorder, uint32_t tid, bool is_torn)
{
	bool has_open_scopes = recorder->scopes != 0;

	recorder->scopes = 0;
	recorder->clock_skip = 0;
	if (recorder->buffer.at >= recorder->buffer.limit) {
		if (!flush(recorder))
			return;
	} else if (is_torn || has_open_scopes) {
		recorder_restart(recorder);
	}
	state_owner(recorder, tid);
}

void recorder_set_rate(struct recorder *recorder, uint64_t rate)
{
	recorder->clock_every = rate == 1 ? CLOCK_EVERY : 1;
	recorder->clock_skip = 0;
	if (rate == recorder->rate)
		return;
	recorder->rate = rate;
	if (recorder->buffer.at < recorder->buffer.limit)
		recorder_restart(recorder);
}

/* ---- time ---- */

uint64_t recorder_now(void)
{
	return clock_ticks() >> TRACE_TIME_SHIFT;
}

/* How far the lane's clock moves to @now. */
static uint64_t move_clock(struct recorder *recorder, uint64_t now)
{
	uint64_t ahead = now - recorder->clock;

	if ((int64_t)ahead <= 0)
		return 0;
	recorder->clock = now;
	return ahead;
}

/* RSS and the like: between two records. */
noinline void recorder_take_reading(struct recorder *recorder, uint64_t ticks)
{
	uint64_t mapped = __atomic_load_n(&recorder_mapped_bytes, __ATOMIC_RELAXED);
	uint8_t *at = recorder->buffer.at;

	event_buffer_commit(&recorder->buffer, at + reading_take(ticks, mapped, at));
}

/* ---- fields ---- */

static inline uint8_t *store_stack(struct recorder *recorder, uint8_t *at,
				   const struct stack_delta *delta)
{
	if (delta->mode == TRACE_STACK_SAME)
		return at;
	if (delta->mode == TRACE_STACK_CACHED) {
		*at = delta->slot;
		return at + 1;
	}
	return stack_delta_store(delta, at, recorder->buffer.end);
}

/* A stack that takes a slot has no last size yet. */
static inline void note_slot(struct recorder *recorder, const struct stack_delta *delta)
{
	if (delta->mode == TRACE_STACK_DELTA)
		recorder->sizes[delta->slot] = 0;
}

/* ---- places in the code, new to the readers ---- */

enum places {
	PLACES_STATED,  /* go on with the stack as captured */
	PLACES_FLUSHED, /* a new piece has begun: capture again */
	PLACES_LOST,    /* no room: the event is lost */
};

/* Adds the records of the next fresh place to `held`. */
static bool hold_one(struct recorder *recorder)
{
	uint8_t *at = recorder->held + recorder->held_bytes;
	struct record_cursor cursor;
	struct pc_entry entry;

	if (!pc_table_take_fresh(&entry))
		return false;
	cursor.at = at + module_note_pc(entry.pc, at);
	cursor.end = recorder->held + sizeof recorder->held;
	record_begin(&cursor, TRACE_KIND_PC);
	record_number(&cursor, entry.id);
	record_number(&cursor, entry.pc);
	record_number(&cursor, entry.flags);
	record_end(&cursor);
	recorder->held_bytes = (uint32_t)(cursor.at - recorder->held);
	return true;
}

/* No handler may leave between the taking and the keeping. */
static bool hold_places(struct recorder *recorder)
{
	uint64_t signals;

	if (!pc_table_has_fresh())
		return false;
	signals = os_block_signals();
	while (recorder->held_bytes <= sizeof(recorder->held) - RECORDER_PLACE_BYTES &&
	       hold_one(recorder))
		;
	os_restore_signals(signals);
	return recorder->held_bytes != 0;
}

static enum places write_held(struct recorder *recorder)
{
	enum places result = PLACES_STATED;
	uint8_t *at = recorder->buffer.at;

	if (recorder->held_bytes > (size_t)(recorder->buffer.end - at)) {
		if (!flush(recorder))
			return PLACES_LOST;
		result = PLACES_FLUSHED;
		at = recorder->buffer.at;
	}
	memcpy(at, recorder->held, recorder->held_bytes);
	event_buffer_commit(&recorder->buffer, at + recorder->held_bytes);
	recorder->held_bytes = 0;
	return result;
}

/*
 * Each place is handed out once, to whoever asks first, so what was taken is
 * kept until it is written, also when the event that needed it is lost.
 */
static enum places state_places(struct recorder *recorder)
{
	enum places result = PLACES_STATED, one;

	while (recorder->held_bytes || hold_places(recorder)) {
		one = write_held(recorder);
		if (one == PLACES_LOST)
			return one;
		if (one == PLACES_FLUSHED)
			result = one;
	}
	return result;
}

/* ---- stacks ---- */

/* The decoder can't follow what the unwinder told us of an event we drop. */
static noinline void drop_stack(struct recorder *recorder)
{
	event_buffer_drop(&recorder->buffer, 0);
	unwind_restart(recorder->unwind);
	if (recorder->buffer.at < recorder->buffer.limit)
		recorder_restart(recorder);
}

/*
 * What a stack with new frames needs before its record. false: it needs to be
 * captured again, or, when *is_lost, the event is lost.
 */
static noinline bool prepare_delta(struct recorder *recorder, bool *is_lost)
{
	struct record_cursor cursor;

	if (unwind_take_restarted(recorder->unwind)) {
		forget(recorder);
		cursor = cursor_of(recorder);
		record_begin(&cursor, TRACE_KIND_RESTART);
		record_end(&cursor);
		commit_cursor(recorder, &cursor);
		state_scopes(recorder);
	}
	if (--recorder->name_skip < 0)
		look_at_name(recorder);
	switch (state_places(recorder)) {
	case PLACES_STATED:
		return true;
	case PLACES_FLUSHED:
		return false;
	case PLACES_LOST:
		*is_lost = true;
		break;
	}
	return false;
}

static noinline bool take_delta(struct recorder *recorder, const struct unwind_point *point,
				struct stack_delta *delta)
{
	bool is_lost = false;

	while (delta->mode == TRACE_STACK_DELTA && !prepare_delta(recorder, &is_lost)) {
		if (is_lost) {
			drop_stack(recorder);
			return false;
		}
		stack_capture(recorder->unwind, *point, delta);
	}
	return true;
}

/*
 * Does what a taken stack needs before its record: new frames and the rate are
 * stated (the rate with new frames, which a change of it brings: see
 * recorder_set_rate). false: the event is lost.
 */
static bool settle_stack(struct recorder *recorder, const struct unwind_point *point,
			 struct stack_delta *delta)
{
	if (delta->mode == TRACE_STACK_DELTA && !take_delta(recorder, point, delta))
		return false;
	note_slot(recorder, delta);
	if (delta->mode >= TRACE_STACK_DELTA && recorder->rate != recorder->stated_rate)
		state_rate(recorder);
	return true;
}

static bool take_stack(struct recorder *recorder, const struct unwind_point *point,
		       struct stack_delta *delta)
{
	stack_capture(recorder->unwind, *point, delta);
	return settle_stack(recorder, point, delta);
}

/* ---- records ---- */

/* What the fields of a record with a stack are. */
struct stacked {
	uintptr_t old;     /* REALLOCATE only */
	uintptr_t address;
	uint64_t size;
};

/* The stack didn't fit behind what was already stored: begins a new piece. */
static noinline bool start_over(struct recorder *recorder, uint64_t clock)
{
	if (flush(recorder))
		return true;
	recorder->clock = clock;
	drop_stack(recorder);
	return false;
}

static uint8_t *store_addresses(struct recorder *recorder, uint8_t *at, unsigned *tag,
				const struct stacked *event)
{
	if (!event->old)
		return recorder_store_address(recorder, at, tag, event->address);
	at = recorder_store_address(recorder, at, tag, event->old);
	at = varint_store(at, zigzag((int64_t)(trace_rotate(event->address) -
					       trace_rotate(event->old))));
	recorder->addresses[trace_address_slot(event->address)] = event->address;
	recorder->last_address = event->address;
	return at;
}

static uint8_t *store_size(struct recorder *recorder, uint8_t *at, unsigned *tag,
			   const struct stack_delta *delta, uint64_t size)
{
	if (delta->mode == TRACE_STACK_NONE)
		return varint_store(at, size);
	return recorder_store_size(recorder, at, tag, delta->slot, size);
}

/* One attempt with the stack at hand. false: it didn't fit. */
static bool put_stacked(struct recorder *recorder, const struct stacked *event,
			const struct stack_delta *delta)
{
	uint64_t ahead = recorder_tick(recorder);
	uint8_t *start = recorder->buffer.at, *at;
	unsigned tag = event->old ? TRACE_OP_REALLOCATE : TRACE_OP_ALLOCATE;

	tag |= (unsigned)delta->mode << TRACE_TAG_STACK_SHIFT;
	at = recorder_store_time(start + 1, &tag, ahead);
	at = store_addresses(recorder, at, &tag, event);
	at = store_size(recorder, at, &tag, delta, event->size);
	at = store_stack(recorder, at, delta);
	if (!at)
		return false;
	*start = (uint8_t)tag;
	event_buffer_commit(&recorder->buffer, at);
	return true;
}

/* @delta: the stack, not settled yet. */
static void write_rest(struct recorder *recorder, const struct stacked *event,
		       const struct unwind_point *point, struct stack_delta *delta)
{
	uint64_t clock;

	while (settle_stack(recorder, point, delta)) {
		clock = recorder->clock;
		if (put_stacked(recorder, event, delta)) {
			if (delta->mode != TRACE_STACK_NONE)
				oracle_check(&recorder->buffer, point->pc);
			return;
		}
		if (!start_over(recorder, clock))
			return;
		stack_capture(recorder->unwind, *point, delta);
	}
}

static void write_stacked(struct recorder *recorder, const struct stacked *event,
			  const struct unwind_point *point)
{
	struct stack_delta delta;

	if (!have_room(recorder))
		return;
	stack_capture(recorder->unwind, *point, &delta);
	write_rest(recorder, event, point, &delta);
}

noinline void recorder_allocate(struct recorder *recorder, const void *block, uint64_t size,
				const struct unwind_point *point)
{
	struct stacked event = { .address = (uintptr_t)block, .size = size };

	write_stacked(recorder, &event, point);
}

noinline void recorder_allocate_frame(struct recorder *recorder, const void *block,
				      uint64_t size, const uintptr_t *frame)
{
	struct unwind_point point = unwind_point_of(frame);

	recorder_allocate(recorder, block, size, &point);
}

void recorder_reallocate(struct recorder *recorder, const void *old, const void *block,
			 uint64_t size, const struct unwind_point *point)
{
	struct stacked event = {
		.old = (uintptr_t)old, .address = (uintptr_t)block, .size = size
	};

	write_stacked(recorder, &event, point);
}

static void write_free(struct recorder *recorder, const void *block, unsigned notes,
		       uint64_t ahead)
{
	unsigned tag = TRACE_OP_FREE;
	uint8_t *start = recorder->buffer.at;
	uint8_t *at = recorder_store_time(start + 1, &tag, ahead);

	if (notes) {
		tag |= TRACE_TAG_NOTED;
		*at++ = (uint8_t)notes;
	}
	at = recorder_store_address(recorder, at, &tag, (uintptr_t)block);
	*start = (uint8_t)tag;
	event_buffer_commit(&recorder->buffer, at);
}

noinline void recorder_free(struct recorder *recorder, const void *block, unsigned notes)
{
	if (have_room(recorder))
		write_free(recorder, block, notes, recorder_tick(recorder));
}

void recorder_free_at(struct recorder *recorder, const void *block, uint64_t when)
{
	if (have_room(recorder))
		write_free(recorder, block, 0, move_clock(recorder, when));
}

/* ---- extended records of the thread's own ---- */

/* Opens one with the time @when, 0: now. */
static void begin_extended(struct recorder *recorder, struct record_cursor *cursor,
			   enum trace_kind kind, uint64_t when)
{
	uint64_t ahead = move_clock(recorder, when ? when : recorder_now());

	*cursor = cursor_of(recorder);
	if (ahead)
		record_begin_at(cursor, kind, ahead);
	else
		record_begin(cursor, kind);
}

static bool end_extended(struct recorder *recorder, struct record_cursor *cursor)
{
	if (!record_end(cursor))
		return false;
	commit_cursor(recorder, cursor);
	return true;
}

/* Stack mode and stack, as MAP and FREE_STACK have them. */
static void put_stack(struct recorder *recorder, struct record_cursor *cursor,
		      const struct stack_delta *delta)
{
	uint8_t *at;

	record_byte(cursor, delta->mode);
	at = cursor->end > cursor->at ? store_stack(recorder, cursor->at, delta) : NULL;
	if (at)
		cursor->at = at;
	else
		cursor->is_cut = true;
}

static void put_map(struct record_cursor *cursor, const struct map_event *event)
{
	record_byte(cursor, (uint8_t)event->op);
	record_number(cursor, event->address);
	record_number(cursor, event->bytes);
	record_number(cursor, event->old_address);
	record_number(cursor, event->old_bytes);
	record_number(cursor, (uint32_t)event->prot);
	record_number(cursor, (uint32_t)event->flags);
	record_number(cursor, (uint64_t)((int64_t)event->fd + 1));
	record_number(cursor, event->offset);
}

/* @event NULL: a FREE_STACK. */
static void write_extended_stack(struct recorder *recorder, const struct map_event *event,
				 const struct unwind_point *point)
{
	struct record_cursor cursor;
	struct stack_delta delta;
	uint64_t clock;

	do {
		if (!have_room(recorder) || !take_stack(recorder, point, &delta))
			return;
		clock = recorder->clock;
		begin_extended(recorder, &cursor, event ? TRACE_KIND_MAP : TRACE_KIND_FREE_STACK,
			       event ? event->when : 0);
		if (event)
			put_map(&cursor, event);
		put_stack(recorder, &cursor, &delta);
		if (end_extended(recorder, &cursor))
			return;
	} while (start_over(recorder, clock));
}

void recorder_map(struct recorder *recorder, const struct map_event *event,
		  const struct unwind_point *point)
{
	write_extended_stack(recorder, event, point);
}

void recorder_free_stack(struct recorder *recorder, const struct unwind_point *point)
{
	write_extended_stack(recorder, NULL, point);
}

/* Names from the program: cut, so that a record always fits an empty slot. */
#define TEXT_MAX 4096

static size_t text_length(const char *text)
{
	size_t length = text ? strlen(text) : 0;

	return length < TEXT_MAX ? length : TEXT_MAX;
}

/* A moment holds all that has its time, so the events behind a mark must have
 * another: they read the clock, which has moved on when this returns. */
static void leave_the_moment(struct recorder *recorder)
{
	unsigned tries = 10000;

	recorder->clock_skip = 0;
	while (recorder_now() <= recorder->clock && --tries)
		;
}

void recorder_mark(struct recorder *recorder, enum trace_mark mark, const char *name,
		   const char *detail, uint64_t value)
{
	struct record_cursor cursor;
	uint64_t clock;

	do {
		if (!have_room(recorder))
			return;
		clock = recorder->clock;
		begin_extended(recorder, &cursor, TRACE_KIND_MARK, 0);
		record_number(&cursor, mark);
		record_string(&cursor, name ? name : "", text_length(name));
		record_string(&cursor, detail ? detail : "", text_length(detail));
		record_number(&cursor, 0);
		record_number(&cursor, value);
		if (end_extended(recorder, &cursor)) {
			leave_the_moment(recorder);
			return;
		}
	} while (start_over(recorder, clock));
}

void recorder_scope_begin(struct recorder *recorder, const char *name)
{
	struct record_cursor cursor;
	char *kept;
	size_t length;

	/* Room first: a new piece states the scopes that are open. */
	if (!have_room(recorder) || recorder->scopes++ >= RECORDER_SCOPES_MAX)
		return;
	kept = recorder->scope_names[recorder->scopes - 1];
	length = text_format(kept, RECORDER_SCOPE_NAME_MAX, "%s", name ? name : "");
	begin_extended(recorder, &cursor, TRACE_KIND_SCOPE_BEGIN, 0);
	record_string(&cursor, kept, length);
	record_number(&cursor, 0);
	end_extended(recorder, &cursor);
}

void recorder_scope_end(struct recorder *recorder)
{
	struct record_cursor cursor;

	if (!recorder->scopes)
		return;
	if (recorder->scopes-- > RECORDER_SCOPES_MAX || !have_room(recorder))
		return;
	begin_extended(recorder, &cursor, TRACE_KIND_SCOPE_END, 0);
	end_extended(recorder, &cursor);
}
