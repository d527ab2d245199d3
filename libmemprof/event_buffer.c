/*
 * Slots, and how they become pieces.
 *
 *	thread:  records ... records | commit | records ... full -> flush
 *	flush:   slot --pwritev--> unit of the trace; slot begins piece n + 1, empty
 *	fold:    every slot --> its unit, by whoever ends the process (flag OPEN)
 *
 * A lane's unit is remembered until its piece is complete, so a piece that was
 * folded while its thread went on, or that met a full disk, is written again to
 * the same place, longer. Who writes a lane's piece holds the lane: a thread
 * that flushes waits for the one that folds, and the other way round.
 *
 * The seam towards readers is the slot's `word`. A new piece begins with the
 * store of (n + 1, 0): a reader that sees no records looks at nothing else, and
 * one that copied piece n sees that the number changed.
 */
#define _GNU_SOURCE
#include "event_buffer.h"

#include <string.h>

#include "clock.h"
#include "companion.h"
#include "losses.h"
#include "os.h"
#include "owner_lock.h"
#include "pieces.h"
#include "trace_writer.h"

/* After a write that failed, events are dropped at once for so long. */
#define RETRY_NS 10000000u

struct lane {
	struct owner_lock writing;
	uint64_t place;       /* unit of the piece in the slot; 0: none yet. Under `writing` */
	uint64_t retry_ticks; /* don't try again before; the thread's own */
};

uint32_t event_buffer_is_late;

static struct lane *lanes; /* [COMPANION_SLOTS_MAX + 1] */

bool pieces_restart(void)
{
	const size_t bytes = (COMPANION_SLOTS_MAX + 1) * sizeof(*lanes);

	event_buffer_is_late = 0;
	if (lanes)
		os_unmap(lanes, bytes);
	lanes = os_map(bytes);
	return lanes;
}

/* ---- a piece begins --------------------------------------------------------- */

static struct trace_piece *slot_of(const struct event_buffer *buffer)
{
	return (struct trace_piece *)(buffer->records - TRACE_PIECE_BYTES);
}

static void stamp(struct trace_piece *slot)
{
	struct clock_reading now;

	clock_read(&now);
	slot->ticks = now.ticks;
	slot->mono_ns = now.mono_ns;
	slot->real_ns = now.real_ns;
}

/* Where the trace may not grow for ever, the piece gets its unit before its
 * first record; without one the buffer stays as good as full. */
static void begin_piece(struct event_buffer *buffer)
{
	struct trace_piece *slot = slot_of(buffer);

	__atomic_store_n(buffer->word, buffer->sequence, __ATOMIC_RELEASE);
	slot->tid = buffer->tid;
	__atomic_store_n(&slot->lost, buffer->lost, __ATOMIC_RELAXED);
	stamp(slot);
	buffer->at = buffer->records;
	buffer->base = buffer->sequence - (uintptr_t)buffer->records;
	buffer->failed = (uint32_t)trace_writer_reserve(&lanes[buffer->lane].place);
	buffer->limit = buffer->failed ? buffer->records : buffer->end - EVENT_BUFFER_SLACK;
}

bool event_buffer_open(struct event_buffer *buffer, uint32_t tid)
{
	struct trace_piece *slot;
	uint32_t lane;

	slot = companion_take_slot(&lane);
	if (!slot)
		return false;
	slot->kind = TRACE_PIECE_EVENTS;
	slot->flags = 0;
	slot->lane = lane;
	slot->checksum = 0;
	buffer->records = (uint8_t *)slot + TRACE_PIECE_BYTES;
	buffer->end = (uint8_t *)slot + TRACE_UNIT_BYTES;
	buffer->word = &slot->word;
	buffer->sequence = 0;
	buffer->lost = 0;
	buffer->lane = lane;
	buffer->tid = tid;
	begin_piece(buffer);
	__atomic_store_n(&slot->magic, TRACE_SLOT_MAGIC, __ATOMIC_RELEASE);
	return true;
}

void event_buffer_set_tid(struct event_buffer *buffer, uint32_t tid)
{
	buffer->tid = tid;
	slot_of(buffer)->tid = tid;
}

uint64_t event_buffer_start_ticks(const struct event_buffer *buffer)
{
	return slot_of(buffer)->ticks;
}

/* ---- a piece is written ------------------------------------------------------ */

/*
 * @length comes from the caller, not from the slot, which others can write. The
 * lane is held. The records may grow meanwhile; those up to @length stay.
 */
static int write_piece(struct lane *lane, uint32_t number, uint64_t word, uint16_t flags)
{
	const struct trace_piece *slot = companion_slot(number);
	struct trace_piece header = {
		.magic = TRACE_PIECE_MAGIC,
		.kind = TRACE_PIECE_EVENTS,
		.flags = flags,
		.lane = number,
		.tid = slot->tid,
		.word = word,
		.lost = __atomic_load_n(&slot->lost, __ATOMIC_RELAXED),
		.ticks = slot->ticks,
		.mono_ns = slot->mono_ns,
		.real_ns = slot->real_ns,
	};

	return trace_writer_put(&header, (const uint8_t *)slot + TRACE_PIECE_BYTES, &lane->place);
}

static uint64_t written_word(const struct event_buffer *buffer)
{
	return buffer->sequence | (uint32_t)(buffer->at - buffer->records);
}

static void put_off(struct lane *lane)
{
	bool is_known;
	uint64_t rate = clock_ticks_per_second(&is_known);

	lane->retry_ticks = clock_ticks() + rate / (1000000000u / RETRY_NS);
}

bool event_buffer_flush(struct event_buffer *buffer)
{
	struct lane *lane = &lanes[buffer->lane];
	int loss;

	if (lane->retry_ticks && clock_ticks() < lane->retry_ticks)
		return false;
	if (os_is_forbidden) {
		buffer->failed = TRACE_LOSS_CLOSED;
		return false;
	}
	if (!owner_lock_take(&lane->writing)) {
		buffer->failed = TRACE_LOSS_BUSY;
		return false;
	}
	loss = buffer->at == buffer->records ?
		       0 :
		       write_piece(lane, buffer->lane, written_word(buffer), 0);
	if (!loss && buffer->at > buffer->records) {
		lane->place = 0;
		buffer->sequence += 1ull << 32;
	}
	if (!loss)
		begin_piece(buffer);
	else
		buffer->failed = (uint32_t)loss;
	lane->retry_ticks = 0;
	if (buffer->failed)
		put_off(lane);
	owner_lock_release(&lane->writing);
	return !buffer->failed;
}

void event_buffer_write_through(struct event_buffer *buffer)
{
	struct lane *lane = &lanes[buffer->lane];
	int loss = TRACE_LOSS_LATE;

	if (owner_lock_take(&lane->writing)) {
		loss = write_piece(lane, buffer->lane, written_word(buffer), TRACE_PIECE_OPEN);
		owner_lock_release(&lane->writing);
	}
	if (loss)
		loss_count(TRACE_LOSS_LATE, 1);
}

void event_buffer_drop(struct event_buffer *buffer, unsigned cause)
{
	if (!cause)
		cause = buffer->failed ? buffer->failed : (unsigned)TRACE_LOSS_NO_SPACE;
	loss_count((enum trace_loss)cause, 1);
	if (cause == TRACE_LOSS_STOPPED)
		return;
	buffer->lost++;
	__atomic_store_n(&slot_of(buffer)->lost, buffer->lost, __ATOMIC_RELAXED);
}

/* ---- all of them --------------------------------------------------------------- */

/* What another thread has committed; its length as far as it can be true. */
static uint64_t committed_word(struct trace_piece *slot)
{
	uint64_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);

	return trace_word_length(word) <= TRACE_RECORDS_MAX ? word : 0;
}

static bool fold_lane(uint32_t number)
{
	struct trace_piece *slot = companion_slot(number);
	struct lane *lane = &lanes[number];
	bool done = true;
	uint64_t word;

	if (__atomic_load_n(&slot->magic, __ATOMIC_ACQUIRE) != TRACE_SLOT_MAGIC)
		return true;
	/* Held by this very thread: we are in a handler that interrupted its flush. */
	if (!owner_lock_take(&lane->writing))
		return false;
	word = committed_word(slot);
	if (trace_word_length(word))
		done = write_piece(lane, number, word, TRACE_PIECE_OPEN) == 0;
	owner_lock_release(&lane->writing);
	return done;
}

bool pieces_fold(void)
{
	uint32_t count = companion_lanes();
	bool done = true;

	for (uint32_t number = 1; number <= count; number++)
		done &= fold_lane(number);
	return done;
}
