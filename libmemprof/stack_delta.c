/*
 * The stack field of a record. What it says is decided in unwind.c; the layout is
 * that of trace_format.h.
 */
#include "unwind.h"

#include "memprof/trace_format.h"
#include "memprof/varint.h"

/* A frame takes an id, and 8 bytes more when it has none. */
#define FRAME_BYTES_MAX (VARINT_BYTES_MAX + 8)

/* Slot, popped, pushed. */
#define DELTA_HEAD_BYTES_MAX (1 + 2 * VARINT_BYTES_MAX)

static uint8_t *store_frame(uint8_t *at, uint32_t id, uint64_t pc)
{
	at = varint_store(at, id);
	if (id == TRACE_FRAME_LITERAL) {
		__builtin_memcpy(at, &pc, 8);
		at += 8;
	}
	return at;
}

static uint8_t *store_delta(const struct stack_delta *delta, uint8_t *at, uint8_t *end)
{
	if ((size_t)(end - at) < DELTA_HEAD_BYTES_MAX + delta->pushed * (size_t)FRAME_BYTES_MAX)
		return NULL;
	*at++ = delta->slot;
	at = varint_store(at, delta->popped);
	at = varint_store(at, delta->pushed);
	for (uint32_t i = delta->pushed; i-- > 0;)
		at = store_frame(at, delta->ids[i], delta->pcs[i]);
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
