/*
 * A cursor reads fields off a run of bytes that a stranger wrote. Reading
 * beyond the end gives zeros and sets `is_broken`, which is looked at once,
 * behind the last field.
 */
#ifndef ANALYZER_UTIL_CURSOR_H
#define ANALYZER_UTIL_CURSOR_H

#include "memprof/varint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	bool is_broken;
};

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static inline void cursor_break(struct cursor *cursor)
{
	cursor->is_broken = true;
	cursor->at = cursor->end;
}

static inline uint64_t cursor_varint(struct cursor *cursor)
{
	uint64_t value;
	const uint8_t *next = varint_load(cursor->at, cursor->end, &value);

	if (!next) {
		cursor_break(cursor);
		return 0;
	}
	cursor->at = next;
	return value;
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
	if (cursor->at == cursor->end) {
		cursor_break(cursor);
		return 0;
	}
	return *cursor->at++;
}

/* @bytes bytes in place, or NULL. */
static inline const uint8_t *cursor_bytes(struct cursor *cursor, uint64_t bytes)
{
	if (bytes > cursor_left(cursor)) {
		cursor_break(cursor);
		return NULL;
	}
	cursor->at += bytes;
	return cursor->at - bytes;
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
	const uint8_t *from = cursor_bytes(cursor, 8);
	uint64_t value = 0;

	if (from)
		memcpy(&value, from, 8);
	return value;
}

/* A string: its length as varint, then its bytes, in place. */
static inline const uint8_t *cursor_string(struct cursor *cursor, size_t *bytes)
{
	uint64_t length = cursor_varint(cursor);
	const uint8_t *from = cursor_bytes(cursor, length);

	*bytes = from ? (size_t)length : 0;
	return from;
}

#endif
