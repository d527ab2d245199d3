/*
 * How long a record is, without decoding it: two readers step over events, one
 * to gather facts, one to take a piece apart record by record.
 */
#ifndef ANALYZER_TRACE_RECORD_STEP_H
#define ANALYZER_TRACE_RECORD_STEP_H

#include "memprof/trace_format.h"
#include "memprof/varint.h"

#include <stdbool.h>
#include <stdint.h>

/* Behind the varint at @at. */
static inline const uint8_t *step_varint(const uint8_t *at)
{
	return at + (*at ? __builtin_ctz(*at) + 1 : 9);
}

static inline const uint8_t *step_frames(const uint8_t *at, const uint8_t *end)
{
	uint64_t pushed;

	at = step_varint(at + 1);
	at = varint_load(at, end, &pushed);
	while (at && pushed--) {
		bool is_literal;

		if (at >= end)
			return NULL;
		is_literal = *at >> 1 == TRACE_FRAME_LITERAL && *at & 1;
		at = step_varint(at);
		if (is_literal)
			at += 8;
	}
	return at;
}

/* Steps over what lies behind tag and time of an ordinary record. Reads at most
 * PIECE_PADDING bytes beyond @end; NULL or a place beyond it: cut short. */
static inline const uint8_t *step_event(const uint8_t *at, const uint8_t *end, uint8_t tag)
{
	unsigned op = tag & TRACE_OP_MASK;

	at += tag >> 7;
	at = tag & TRACE_TAG_KNOWN ? at + 1 : step_varint(at);
	if (op == TRACE_OP_FREE)
		return at;
	if (op == TRACE_OP_REALLOCATE)
		at = step_varint(at);
	if (!(tag & TRACE_TAG_SAME_SIZE))
		at = step_varint(at);
	switch (tag >> TRACE_TAG_STACK_SHIFT & 3) {
	case TRACE_STACK_SAME:
		return at;
	case TRACE_STACK_DELTA:
		return step_frames(at, end);
	default:
		return at + 1;
	}
}

/* Behind the record at @at, NULL when it is cut short. PIECE_PADDING bytes behind
 * @end can be read. */
static inline const uint8_t *step_record(const uint8_t *at, const uint8_t *end)
{
	uint64_t kind, length;
	uint8_t tag = *at++;

	if (tag & TRACE_TAG_TIME)
		at = step_varint(at);
	if (tag & TRACE_OP_MASK) {
		at = step_event(at, end, tag);
		return at && at <= end ? at : NULL;
	}
	at = varint_load(at, end, &kind);
	if (at)
		at = varint_load(at, end, &length);
	return at && length <= (uint64_t)(end - at) ? at + length : NULL;
}

#endif
