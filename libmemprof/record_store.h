/*
 * Stores EXTENDED records that the output side itself has to say, without time:
 * tag, kind, length, payload (trace_format.h). For the recorder too: build the
 * payload in place, between begin and end.
 */
#ifndef LIBMEMPROF_RECORD_STORE_H
#define LIBMEMPROF_RECORD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <memprof/trace_format.h>

struct record_cursor {
	uint8_t *at;
	uint8_t *end;      /* nothing is written from here on */
	/* The record that is open: */
	uint8_t *start;
	uint8_t *payload;
	bool is_cut;       /* something didn't fit: what was stored is void */
};

/* A record is begun, filled, ended. Its length always takes 2 bytes (payloads
 * up to 16383 bytes), so that it needs no second buffer. */
void record_begin(struct record_cursor *cursor, enum trace_kind kind);
/* The same with a TIME: @ahead is how far the clock is ahead of the record
 * before, in units of 2^TRACE_TIME_SHIFT ticks. */
void record_begin_at(struct record_cursor *cursor, enum trace_kind kind, uint64_t ahead);
void record_number(struct record_cursor *cursor, uint64_t value);
void record_byte(struct record_cursor *cursor, uint8_t value);
void record_string(struct record_cursor *cursor, const char *text, size_t bytes);
void record_bytes(struct record_cursor *cursor, const void *bytes, size_t count);
/* false: it didn't fit, and the cursor is back where the record began. */
bool record_end(struct record_cursor *cursor);

#endif
