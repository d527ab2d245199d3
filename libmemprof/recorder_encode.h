/*
 * The records that nearly all of a trace consists of, encoded in line: an
 * allocation whose stack is in the cache, and a free. What is unusual about an
 * event (a full slot, a new stack, an address far away from the last) leaves
 * this path for the functions of recorder.c.
 *
 * Counted in instructions; look at `make check`'s budget before adding one.
 */
#ifndef LIBMEMPROF_RECORDER_ENCODE_H
#define LIBMEMPROF_RECORDER_ENCODE_H

#include <memprof/varint.h>

#include "clock.h"
#include "readings.h"
#include "recorder.h"
#include "unwind_libunwind.h"

/* An allocation for which the slot has no room, and one whose stack, taken
 * already, is not in the cache. @frame: see recorder_put_allocate. */
void recorder_allocate_full(struct recorder *recorder, const void *block, uint64_t size,
			    const uintptr_t *frame);
void recorder_allocate_rest(struct recorder *recorder, const void *block, uint64_t size,
			    const uintptr_t *frame, struct stack_delta *delta);
void recorder_take_reading(struct recorder *recorder, uint64_t ticks);

/*
 * How far the lane's clock moves with an event that happens now. While one
 * thread records, the clock is read for every 16th event: order is known
 * without. A reading of the memory that is due goes in front of the event.
 */
static inline uint64_t recorder_tick(struct recorder *recorder)
{
	uint64_t ticks, ahead;

	if (__builtin_expect(--recorder->clock_skip >= 0 && recorder_lanes == 1, 1))
		return 0;
	recorder->clock_skip = recorder->clock_every - 1;
	ticks = clock_ticks();
	if (reading_due(ticks))
		recorder_take_reading(recorder, ticks);
	ahead = (ticks >> TRACE_TIME_SHIFT) - recorder->clock;
	if ((int64_t)ahead <= 0)
		return 0;
	recorder->clock += ahead;
	return ahead;
}

static inline uint8_t *recorder_store_time(uint8_t *at, unsigned *tag, uint64_t ahead)
{
	if (!ahead)
		return at;
	*tag |= TRACE_TAG_TIME;
	return varint_store(at, ahead);
}

static inline uint8_t *recorder_store_address(struct recorder *recorder, uint8_t *at,
					      unsigned *tag, uintptr_t address)
{
	unsigned slot = trace_address_slot(address);
	uintptr_t last;

	if (__builtin_expect(recorder->addresses[slot] == address, 1)) {
		recorder->last_address = address;
		*tag |= TRACE_TAG_KNOWN;
		*at = (uint8_t)slot;
		return at + 1;
	}
	recorder->addresses[slot] = address;
	last = recorder->last_address;
	recorder->last_address = address;
	return varint_store(at, zigzag((int64_t)(trace_rotate(address) - trace_rotate(last))));
}

/* The size, which the stack's cache slot may foretell. */
static inline uint8_t *recorder_store_size(struct recorder *recorder, uint8_t *at, unsigned *tag,
					   unsigned slot, uint64_t size)
{
	if (__builtin_expect(recorder->sizes[slot] == size, 1)) {
		*tag |= TRACE_TAG_SAME_SIZE;
		return at;
	}
	recorder->sizes[slot] = size;
	return varint_store(at, size);
}

/* What UNWIND_CALLER gives in the function that has @frame. */
static inline struct unwind_point unwind_point_of(const uintptr_t *frame)
{
	return (struct unwind_point){.pc = frame[1], .sp = (uintptr_t)(frame + 2), .fp = frame[0]};
}

/* @frame: __builtin_frame_address(0) of the hook's function. It is one register
 * where a point is three, until the stack is taken. */
static inline __attribute__((always_inline)) void
recorder_put_allocate(struct recorder *recorder, const void *block, uint64_t size,
		      const uintptr_t *frame)
{
	struct stack_delta delta;
	uint16_t known; /* mode and slot of the delta */
	unsigned slot, is_cached;
	uint64_t ahead;
	uint8_t *start, *at;
	unsigned tag;

	if (__builtin_expect(recorder->buffer.at >= recorder->buffer.limit, 0)) {
		recorder_allocate_full(recorder, block, size, frame);
		return;
	}
	stack_capture(recorder->unwind, unwind_point_of(frame), &delta);
	__builtin_memcpy(&known, &delta, sizeof known);
	if (__builtin_expect((uint8_t)known > TRACE_STACK_CACHED, 0)) {
		recorder_allocate_rest(recorder, block, size, frame, &delta);
		return;
	}
	slot = known >> 8;
	is_cached = known & 1; /* else it is the same as the last */
	recorder->last_slot = slot;
	ahead = recorder_tick(recorder);
	start = recorder->buffer.at;
	tag = TRACE_OP_ALLOCATE | is_cached << TRACE_TAG_STACK_SHIFT;
	at = recorder_store_time(start + 1, &tag, ahead);
	at = recorder_store_address(recorder, at, &tag, (uintptr_t)block);
	at = recorder_store_size(recorder, at, &tag, slot, size);
	*at = (uint8_t)slot;
	at += is_cached;
	*start = (uint8_t)tag;
	event_buffer_commit(&recorder->buffer, at);
	oracle_check(&recorder->buffer, frame[1]);
}

_Static_assert(TRACE_STACK_SAME == 0 && TRACE_STACK_CACHED == 1, "bytes of a known stack");
_Static_assert(offsetof(struct stack_delta, mode) == 0 && offsetof(struct stack_delta, slot) == 1,
	       "mode and slot are read together");

static inline __attribute__((always_inline)) void recorder_put_free(struct recorder *recorder,
								    const void *block)
{
	unsigned tag = TRACE_OP_FREE;
	uint64_t ahead;
	uint8_t *start, *at;

	if (__builtin_expect(recorder->buffer.at >= recorder->buffer.limit, 0)) {
		recorder_free(recorder, block, 0);
		return;
	}
	ahead = recorder_tick(recorder);
	start = recorder->buffer.at;
	at = recorder_store_time(start + 1, &tag, ahead);
	at = recorder_store_address(recorder, at, &tag, (uintptr_t)block);
	*start = (uint8_t)tag;
	event_buffer_commit(&recorder->buffer, at);
}

#endif
