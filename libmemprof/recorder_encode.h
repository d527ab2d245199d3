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
#include "unwind_cache.h"
#include "unwind_libunwind.h"

/* Any allocation. @frame: see recorder_put_allocate. */
void recorder_allocate_frame(struct recorder *recorder, const void *block, uint64_t size,
			     const uintptr_t *frame);
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

/* The same as far as it takes no call. false: recorder_tick is to do it. */
static inline bool recorder_tick_quickly(struct recorder *recorder, uint64_t *ahead)
{
	uint64_t ticks;

	*ahead = 0;
	if (__builtin_expect(--recorder->clock_skip >= 0 && recorder_lanes == 1, 1))
		return true;
	if (clock_source != CLOCK_SOURCE_TSC)
		return false;
	ticks = arch_ticks();
	if (reading_due(ticks))
		return false;
	recorder->clock_skip = recorder->clock_every - 1;
	ticks = (ticks >> TRACE_TIME_SHIFT) - recorder->clock;
	if ((int64_t)ticks > 0) {
		recorder->clock += ticks;
		*ahead = ticks;
	}
	return true;
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

/*
 * An allocation whose stack is at hand. false: that is not so, or there is something
 * else to do: nothing was done, and recorder_allocate_frame must do it. Calls no
 * function, so that its caller needs few registers kept; for the same reason the
 * record is committed only: see recorder_is_late.
 *
 * @frame: __builtin_frame_address(0) of the hook's function. It is one register
 * where a point is three, until the stack is taken.
 */
static inline __attribute__((always_inline)) bool
recorder_put_allocate(struct recorder *recorder, const void *block, uint64_t size,
		      const uintptr_t *frame)
{
	struct unwind_cache *cache = unwind_cache_of(recorder->unwind);
	unsigned tag, slot, is_cached;
	uint8_t *start = recorder->buffer.at, *at;
	uint64_t ahead;

	if (__builtin_expect(start >= recorder->buffer.limit, 0) ||
	    !cache_has(cache, unwind_point_of(frame), &slot) ||
	    !recorder_tick_quickly(recorder, &ahead))
		return false;
	is_cached = cache_use(cache, slot); /* else it is the same as the last */
	tag = TRACE_OP_ALLOCATE | is_cached << TRACE_TAG_STACK_SHIFT;
	at = recorder_store_time(start + 1, &tag, ahead);
	at = recorder_store_address(recorder, at, &tag, (uintptr_t)block);
	at = recorder_store_size(recorder, at, &tag, slot, size);
	*at = (uint8_t)slot;
	at += is_cached;
	*start = (uint8_t)tag;
	event_buffer_commit_early(&recorder->buffer, at);
	return true;
}

_Static_assert(TRACE_STACK_SAME == 0 && TRACE_STACK_CACHED == 1, "bytes of a known stack");

/* The same for a free; else recorder_free. */
static inline __attribute__((always_inline)) bool recorder_put_free(struct recorder *recorder,
								    const void *block)
{
	unsigned tag = TRACE_OP_FREE;
	uint8_t *start = recorder->buffer.at, *at;
	uint64_t ahead;

	if (__builtin_expect(start >= recorder->buffer.limit, 0) ||
	    !recorder_tick_quickly(recorder, &ahead))
		return false;
	at = recorder_store_time(start + 1, &tag, ahead);
	at = recorder_store_address(recorder, at, &tag, (uintptr_t)block);
	*start = (uint8_t)tag;
	event_buffer_commit_early(&recorder->buffer, at);
	return true;
}

/* After a record was put: call recorder_finish_late, the process is ending. */
static inline bool recorder_is_late(void)
{
	return __builtin_expect(__atomic_load_n(&event_buffer_is_late, __ATOMIC_RELAXED), 0);
}

static inline void recorder_finish_late(struct recorder *recorder)
{
	event_buffer_write_through(&recorder->buffer);
}

#endif
