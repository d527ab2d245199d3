/*
 * The stack field of a record. What it says is decided in unwind.c; the layout is
 * that of trace_format.h.
 */
#include "unwind.h"

#include "memprof/trace_format.h"
#include "memprof/varint.h"
#include "pc_table.h"

/* A frame takes an id, and 8 bytes more when it has none. */
#define FRAME_BYTES_MAX (VARINT_BYTES_MAX + 8)

/* Slot, popped, pushed. */
#define DELTA_HEAD_BYTES_MAX (1 + 2 * VARINT_BYTES_MAX)

static uint8_t *store_rare(uint8_t *at, const struct stack_step *step)
{
	uint64_t pc = pc_key_pc(step->key);

	at = varint_store(at, step->id);
	if (step->id == TRACE_FRAME_LITERAL) {
		__builtin_memcpy(at, &pc, 8);
		at += 8;
	}
	return at;
}

/* Most ids take one byte or two, as varint_store would store them. */
static inline uint8_t *store_frame(uint8_t *at, const struct stack_step *step)
{
	uint32_t id = step->id;
	uint16_t two = (uint16_t)(id << 2 | 2);

	if (id - 1 < (1 << 7) - 1) {
		*at = (uint8_t)(id << 1 | 1);
		return at + 1;
	}
	if (__builtin_expect(id - 1 >= (1 << 14) - 1, 0))
		return store_rare(at, step);
	__builtin_memcpy(at, &two, 2);
	return at + 2;
}

static uint8_t *store_delta(const struct stack_delta *delta, uint8_t *at, uint8_t *end)
{
	const struct stack_step *first = delta->steps, *step = first + delta->pushed;

	if ((size_t)(end - at) < DELTA_HEAD_BYTES_MAX + delta->pushed * (size_t)FRAME_BYTES_MAX)
		return NULL;
	*at++ = delta->slot;
	at = varint_store(at, delta->popped);
	at = varint_store(at, delta->pushed);
	while (step-- != first)
		at = store_frame(at, step);
	return at;
}

uint8_t *stack_delta_store(const struct stack_delta *delta, uint8_t *at, uint8_t *end)
{
	if (delta->mode == TRACE_STACK_SAME)
		return at;
	if (delta->mode == TRACE_STACK_DELTA)
		return store_delta(delta, at, end);
	if (at >= end)
		return NULL;
	*at++ = delta->slot;
	return at;
}
