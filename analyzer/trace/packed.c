/*
 * See packed.h. Both directions walk the records by their structure alone; what
 * the numbers mean is the decoder's business.
 *
 * Reading is bounded like this: each byte taken out of a column makes at least
 * one byte of records, and a piece has at most 64 KiB of them. So no cursor runs
 * further than 64 KiB beyond its column within a piece; that much lies behind
 * the last column, and when the piece is done all cursors are looked at.
 */
#include "trace/packed.h"

#include "trace/pieces.h"
#include "trace/record_step.h"
#include "util/file_io.h"
#include "util/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#define COLUMN_BYTES_MAX (PACKED_PIECES_MAX * TRACE_UNIT_BYTES)
#define BEHIND (TRACE_UNIT_BYTES + PIECE_PADDING)

/* ---- packing ---- */

struct column {
	uint8_t *bytes;
	size_t count;
};

struct packed_writer {
	int fd, level;
	int error;             /* errno of the first failed write */
	uint32_t pieces, lane, kind;
	struct column columns[PACKED_COLUMNS];
	uint8_t *stored;
	size_t stored_room;
	ZSTD_CCtx *zstd;
};

struct packed_writer *packed_writer_new(int fd, int level)
{
	struct packed_writer *writer = memory_zeroed(1, sizeof(*writer));

	writer->fd = fd;
	writer->level = level;
	for (unsigned i = 0; i < PACKED_COLUMNS; i++)
		writer->columns[i].bytes = memory_resize(NULL, 1, COLUMN_BYTES_MAX);
	writer->zstd = ZSTD_createCCtx();
	if (!writer->zstd)
		abort();
	return writer;
}

static inline void put(struct packed_writer *writer, enum packed_column_name name,
		       const uint8_t *from, const uint8_t *to)
{
	struct column *column = &writer->columns[name];

	memcpy(column->bytes + column->count, from, (size_t)(to - from));
	column->count += (size_t)(to - from);
}

/* Puts the varint at @at into a column; returns what follows it. */
static inline const uint8_t *put_varint(struct packed_writer *writer, enum packed_column_name name,
					const uint8_t *at)
{
	const uint8_t *next = step_varint(at);

	put(writer, name, at, next);
	return next;
}

static void put_stack(struct packed_writer *writer, unsigned mode, const uint8_t *at,
		      const uint8_t *end)
{
	const uint8_t *frames;

	if (mode == TRACE_STACK_SAME)
		return;
	if (mode != TRACE_STACK_DELTA) {
		put(writer, PACKED_SLOTS, at, at + 1);
		return;
	}
	frames = step_varint(step_varint(at + 1));
	put(writer, PACKED_DELTAS, at, frames);
	put(writer, PACKED_FRAMES, frames, end);
}

/* Takes the record from @at to @end apart; it is whole. */
static void put_record(struct packed_writer *writer, const uint8_t *at, const uint8_t *end)
{
	uint8_t tag = *at;
	unsigned op = tag & TRACE_OP_MASK;

	put(writer, PACKED_TAGS, at, at + 1);
	at++;
	if (tag & TRACE_TAG_TIME)
		at = put_varint(writer, PACKED_TIMES, at);
	if (op == TRACE_OP_EXTENDED) {
		put(writer, PACKED_EXTENDED, at, end);
		return;
	}
	if (tag & TRACE_TAG_NOTED) {
		put(writer, PACKED_NOTES, at, at + 1);
		at++;
	}
	if (tag & TRACE_TAG_KNOWN) {
		put(writer, PACKED_KNOWN, at, at + 1);
		at++;
	} else {
		at = put_varint(writer, PACKED_ADDRESSES, at);
	}
	if (op == TRACE_OP_FREE)
		return;
	if (op == TRACE_OP_REALLOCATE)
		at = put_varint(writer, PACKED_ADDRESSES, at);
	if (!(tag & TRACE_TAG_SAME_SIZE))
		at = put_varint(writer, PACKED_SIZES, at);
	put_stack(writer, tag >> TRACE_TAG_STACK_SHIFT & 3, at, end);
}

void packed_writer_add(struct packed_writer *writer, const struct trace_piece *header,
		       const uint8_t *records, size_t record_bytes)
{
	const uint8_t *at = records, *end = records + record_bytes, *next;
	struct packed_piece piece = {.header = *header};

	if (writer->pieces && (writer->pieces == PACKED_PIECES_MAX ||
			       writer->lane != header->lane || writer->kind != header->kind))
		packed_writer_flush(writer);
	writer->lane = header->lane;
	writer->kind = header->kind;
	for (; at < end && (next = step_record(at, end)); at = next)
		put_record(writer, at, next);
	piece.whole = (uint32_t)(at - records);
	put(writer, PACKED_REST, at, end);
	put(writer, PACKED_HEADERS, (const uint8_t *)&piece, (const uint8_t *)(&piece + 1));
	writer->pieces++;
}

static void write_all(struct packed_writer *writer, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;

	while (count && !writer->error) {
		ssize_t done = write(writer->fd, at, count);

		if (!done)
			writer->error = EIO;
		if (done < 0 && errno != EINTR)
			writer->error = errno;
		if (done > 0) {
			at += done;
			count -= (size_t)done;
		}
	}
}

/* Compresses @column to @to, where COMPRESSBOUND bytes are free. */
static uint32_t compress(struct packed_writer *writer, const struct column *column, uint8_t *to)
{
	size_t stored = ZSTD_compressCCtx(writer->zstd, to, ZSTD_compressBound(column->count),
					  column->bytes, column->count, writer->level);

	if (!ZSTD_isError(stored) && stored < column->count)
		return (uint32_t)stored;
	if (column->count)
		memcpy(to, column->bytes, column->count);
	return (uint32_t)column->count;
}

static void make_stored_room(struct packed_writer *writer)
{
	size_t room = 0;

	for (unsigned i = 0; i < PACKED_COLUMNS; i++)
		room += ZSTD_compressBound(writer->columns[i].count);
	room += sizeof(struct packed_block);
	if (room > writer->stored_room) {
		writer->stored = memory_resize(writer->stored, 1, room);
		writer->stored_room = room;
	}
}

void packed_writer_flush(struct packed_writer *writer)
{
	struct packed_block block = {.magic = PACKED_BLOCK_MAGIC, .pieces = writer->pieces};
	size_t used = sizeof(block);

	if (!writer->pieces)
		return;
	make_stored_room(writer);
	for (unsigned i = 0; i < PACKED_COLUMNS; i++) {
		struct column *column = &writer->columns[i];
		uint32_t stored = compress(writer, column, writer->stored + used);

		block.columns[i] = (struct packed_column){(uint32_t)column->count, stored};
		used += stored;
		column->count = 0;
	}
	block.bytes = used - sizeof(block);
	memcpy(writer->stored, &block, sizeof(block));
	block.checksum = XXH3_64bits(writer->stored, used);
	memcpy(writer->stored, &block, sizeof(block));
	write_all(writer, writer->stored, used);
	writer->pieces = 0;
}

int packed_writer_finish(struct packed_writer *writer)
{
	int error;

	packed_writer_flush(writer);
	error = writer->error;
	for (unsigned i = 0; i < PACKED_COLUMNS; i++)
		free(writer->columns[i].bytes);
	free(writer->stored);
	ZSTD_freeCCtx(writer->zstd);
	free(writer);
	errno = error;
	return error ? ERROR_SYSTEM : 0;
}

/* ---- unpacking ---- */

/* Sizes that can be true: zstd is never asked for more than a block can hold. */
static bool is_possible(const struct packed_block *block)
{
	uint64_t stored = 0;

	if (block->magic != PACKED_BLOCK_MAGIC || !block->pieces ||
	    block->pieces > PACKED_PIECES_MAX ||
	    block->columns[PACKED_HEADERS].bytes != block->pieces * sizeof(struct packed_piece))
		return false;
	for (unsigned i = 0; i < PACKED_COLUMNS; i++) {
		if (block->columns[i].bytes > COLUMN_BYTES_MAX ||
		    block->columns[i].stored > block->columns[i].bytes)
			return false;
		stored += block->columns[i].stored;
	}
	return stored == block->bytes;
}

static void make_room(struct packed_reader *reader, const struct packed_block *block)
{
	size_t room = BEHIND;

	for (unsigned i = 0; i < PACKED_COLUMNS; i++)
		room += block->columns[i].bytes;
	if (room > reader->room) {
		reader->memory = memory_resize(reader->memory, 1, room);
		reader->room = room;
	}
}

static bool decompress(const struct packed_column *column, const uint8_t *from, uint8_t *to)
{
	if (column->stored == column->bytes) {
		memcpy(to, from, column->bytes);
		return true;
	}
	return ZSTD_decompress(to, column->bytes, from, column->stored) == column->bytes;
}

static int fill_columns(struct packed_reader *reader, const struct packed_block *block,
			const uint8_t *from, unsigned columns)
{
	uint8_t *to = reader->memory;
	int status = 0;

	for (unsigned i = 0; i < columns; i++) {
		if (!decompress(&block->columns[i], from, to)) {
			memset(to, 0, block->columns[i].bytes);
			status = ERROR_FORMAT;
		}
		reader->begins[i] = reader->at[i] = to;
		to += block->columns[i].bytes;
		reader->ends[i] = to;
		from += block->columns[i].stored;
	}
	memset(to, 0, BEHIND);
	return status;
}

int packed_reader_open(struct packed_reader *reader, int fd, uint64_t offset,
		       struct packed_block *block, bool headers_only)
{
	size_t wanted, got;
	uint8_t *stored;
	uint64_t told;
	int status;

	reader->is_open = false;
	if (file_read_at(fd, block, sizeof(*block), offset) < sizeof(*block))
		return ERROR_TRUNCATED;
	if (!is_possible(block))
		return ERROR_FORMAT;
	wanted = headers_only ? block->columns[0].stored : block->bytes;
	stored = memory_resize(NULL, 1, sizeof(*block) + wanted);
	got = file_read_at(fd, stored + sizeof(*block), wanted, offset + sizeof(*block));
	status = got < wanted ? ERROR_TRUNCATED : 0;
	if (!status) {
		make_room(reader, block);
		status = fill_columns(reader, block, stored + sizeof(*block),
				      headers_only ? 1 : PACKED_COLUMNS);
	}
	if (!status) {
		told = block->checksum;
		block->checksum = 0;
		memcpy(stored, block, sizeof(*block));
		block->checksum = told;
		reader->is_right = headers_only ||
				   XXH3_64bits(stored, sizeof(*block) + wanted) == told;
		reader->is_open = !headers_only;
		reader->offset = offset;
		reader->pieces = block->pieces;
		reader->next = 0;
	}
	free(stored);
	return status;
}

void packed_reader_header(const struct packed_reader *reader, uint32_t number,
			  struct packed_piece *piece)
{
	memcpy(piece, reader->begins[PACKED_HEADERS] + number * sizeof(*piece), sizeof(*piece));
	if (trace_word_length(piece->header.word) > TRACE_RECORDS_MAX)
		piece->header.word &= ~0ull << 32;
	if (piece->whole > trace_word_length(piece->header.word))
		piece->whole = trace_word_length(piece->header.word);
}

/* Moves a varint from a column to @to. */
static inline uint8_t *get_varint(const uint8_t **at, uint8_t *to)
{
	unsigned bytes = **at ? (unsigned)__builtin_ctz(**at) + 1 : 9;

	memcpy(to, *at, 9);
	*at += bytes;
	return to + bytes;
}

static inline uint8_t *get_bytes(const uint8_t **at, uint8_t *to, size_t count)
{
	memcpy(to, *at, count);
	*at += count;
	return to + count;
}

/* Moves the frames of a DELTA; NULL: more than the piece has room for. */
static uint8_t *get_delta(struct packed_reader *reader, uint8_t *to, const uint8_t *end)
{
	const uint8_t **frames = &reader->at[PACKED_FRAMES];
	uint64_t pushed = 0;
	uint8_t *count;

	to = get_bytes(&reader->at[PACKED_DELTAS], to, 1);
	to = get_varint(&reader->at[PACKED_DELTAS], to);
	count = to;
	to = get_varint(&reader->at[PACKED_DELTAS], to);
	varint_load(count, to, &pushed);
	for (; pushed; pushed--) {
		bool is_literal = **frames >> 1 == TRACE_FRAME_LITERAL && **frames & 1;

		if (to >= end)
			return NULL;
		to = get_varint(frames, to);
		if (is_literal)
			to = get_bytes(frames, to, 8);
	}
	return to;
}

static uint8_t *get_extended(struct packed_reader *reader, uint8_t *to, const uint8_t *end)
{
	const uint8_t **at = &reader->at[PACKED_EXTENDED];
	uint64_t length = 0;
	uint8_t *told;

	to = get_varint(at, to);
	told = to;
	to = get_varint(at, to);
	varint_load(told, to, &length);
	if (to > end || length > (uint64_t)(end - to))
		return NULL;
	return get_bytes(at, to, length);
}

/* One record. At most PIECE_PADDING bytes are written behind @end; NULL or a
 * place behind it: the block is damaged. */
static uint8_t *get_record(struct packed_reader *reader, uint8_t *to, const uint8_t *end)
{
	const uint8_t **at = reader->at;
	uint8_t tag = *at[PACKED_TAGS]++;
	unsigned op = tag & TRACE_OP_MASK, mode = tag >> TRACE_TAG_STACK_SHIFT & 3;

	*to++ = tag;
	if (tag & TRACE_TAG_TIME)
		to = get_varint(&at[PACKED_TIMES], to);
	if (op == TRACE_OP_EXTENDED)
		return get_extended(reader, to, end);
	if (tag & TRACE_TAG_NOTED)
		to = get_bytes(&at[PACKED_NOTES], to, 1);
	if (tag & TRACE_TAG_KNOWN)
		to = get_bytes(&at[PACKED_KNOWN], to, 1);
	else
		to = get_varint(&at[PACKED_ADDRESSES], to);
	if (op == TRACE_OP_FREE)
		return to;
	if (op == TRACE_OP_REALLOCATE)
		to = get_varint(&at[PACKED_ADDRESSES], to);
	if (!(tag & TRACE_TAG_SAME_SIZE))
		to = get_varint(&at[PACKED_SIZES], to);
	if (mode == TRACE_STACK_DELTA)
		return get_delta(reader, to, end);
	return mode == TRACE_STACK_SAME ? to : get_bytes(&at[PACKED_SLOTS], to, 1);
}

static bool is_beyond(const struct packed_reader *reader)
{
	for (unsigned i = 1; i < PACKED_COLUMNS; i++)
		if (reader->at[i] > reader->ends[i])
			return true;
	return false;
}

/* Rebuilds the piece at which the cursors stand. */
static size_t next_records(struct packed_reader *reader, uint8_t *to)
{
	struct packed_piece piece;
	uint8_t *begin = to, *whole;
	size_t rest;

	packed_reader_header(reader, reader->next++, &piece);
	whole = begin + piece.whole;
	rest = trace_word_length(piece.header.word) - piece.whole;
	while (to < whole) {
		uint8_t *next = get_record(reader, to, whole);

		if (!next || next > whole)
			break;
		to = next;
	}
	if (to < whole || is_beyond(reader) ||
	    rest > (size_t)(reader->ends[PACKED_REST] - reader->at[PACKED_REST])) {
		reader->next = UINT32_MAX; /* the cursors stand nowhere */
		return (size_t)(to - begin);
	}
	to = get_bytes(&reader->at[PACKED_REST], to, rest);
	return (size_t)(to - begin);
}

size_t packed_reader_records(struct packed_reader *reader, uint32_t number, uint8_t *to)
{
	if (reader->next > number) {
		memcpy(reader->at, reader->begins, sizeof(reader->at));
		reader->next = 0;
	}
	while (reader->next < number)
		next_records(reader, to);
	if (reader->next != number)
		return 0; /* damaged before this piece */
	return next_records(reader, to);
}

void packed_reader_release(struct packed_reader *reader)
{
	free(reader->memory);
	*reader = (struct packed_reader){0};
}
