/* EXTENDED records, built in place: see record_store.h. */
#include "record_store.h"

#include <string.h>

#include <memprof/varint.h>

/* A 2-byte varint of any value below 2^14. */
static void store_length(uint8_t *at, size_t length)
{
	uint16_t code = (uint16_t)(length << 2 | 2);

	__builtin_memcpy(at, &code, 2);
}

static void begin(struct record_cursor *cursor, enum trace_kind kind, bool has_time,
		  uint64_t ahead)
{
	uint8_t *at = cursor->at;

	cursor->start = at;
	cursor->is_cut = (size_t)(cursor->end - at) < 4 * VARINT_BYTES_MAX;
	if (cursor->is_cut)
		return;
	*at++ = (uint8_t)(TRACE_OP_EXTENDED | (has_time ? TRACE_TAG_TIME : 0));
	if (has_time)
		at = varint_store(at, ahead);
	at = varint_store(at, kind);
	cursor->payload = at + 2;
	cursor->at = at + 2;
}

void record_begin(struct record_cursor *cursor, enum trace_kind kind)
{
	begin(cursor, kind, false, 0);
}

void record_begin_at(struct record_cursor *cursor, enum trace_kind kind, uint64_t ahead)
{
	begin(cursor, kind, true, ahead);
}

static bool has_room(struct record_cursor *cursor, size_t bytes)
{
	if (cursor->is_cut || (size_t)(cursor->end - cursor->at) < bytes)
		cursor->is_cut = true;
	return !cursor->is_cut;
}

void record_number(struct record_cursor *cursor, uint64_t value)
{
	if (has_room(cursor, VARINT_BYTES_MAX))
		cursor->at = varint_store(cursor->at, value);
}

void record_byte(struct record_cursor *cursor, uint8_t value)
{
	if (has_room(cursor, 1))
		*cursor->at++ = value;
}

void record_bytes(struct record_cursor *cursor, const void *bytes, size_t count)
{
	if (!has_room(cursor, count))
		return;
	memcpy(cursor->at, bytes, count);
	cursor->at += count;
}

void record_string(struct record_cursor *cursor, const char *text, size_t bytes)
{
	record_number(cursor, bytes);
	record_bytes(cursor, text, bytes);
}

bool record_end(struct record_cursor *cursor)
{
	size_t length = cursor->is_cut ? 0 : (size_t)(cursor->at - cursor->payload);

	if (cursor->is_cut || length >= 1u << 14) {
		cursor->at = cursor->start;
		return false;
	}
	store_length(cursor->payload - 2, length);
	return true;
}
