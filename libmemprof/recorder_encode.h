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

/* The rest of recorder_allocate, for an allocation whose stack has been taken. */
void recorder_allocate_rest(struct recorder *recorder, const void *block, uint64_t size,
			    const struct unwind_point *point, struct stack_delta *delta);
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

static inline __attribute__((always_inline)) void
recorder_put_allocate(struct recorder *recorder, const void *block, uint64_t size,
		      const struct unwind_point *point)
{
	struct stack_delta delta;
	uint64_t ahead;
	uint8_t *start, *at;
	unsigned tag;

	if (__builtin_expect(recorder->buffer.at >= recorder->buffer.limit, 0)) {
		recorder_allocate(recorder, block, size, point);
		return;
	}
	stack_capture(recorder->unwind, *point, &delta);
	if (__builtin_expect(delta.mode > TRACE_STACK_CACHED, 0)) {
		recorder_allocate_rest(recorder, block, size, point, &delta);
		return;
	}
	recorder->last_slot = delta.slot;
	ahead = recorder_tick(recorder);
	start = recorder->buffer.at;
	tag = TRACE_OP_ALLOCATE | (unsigned)delta.mode << TRACE_TAG_STACK_SHIFT;
	at = recorder_store_time(start + 1, &tag, ahead);
	at = recorder_store_address(recorder, at, &tag, (uintptr_t)block);
	at = recorder_store_size(recorder, at, &tag, delta.slot, size);
	*at = delta.slot;
	at += delta.mode; /* SAME stores nothing, CACHED its slot */
	*start = (uint8_t)tag;
	event_buffer_commit(&recorder->buffer, at);
}

_Static_assert(TRACE_STACK_SAME == 0 && TRACE_STACK_CACHED == 1, "bytes of a known stack");

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
