/*
 * Packed traces: the same pieces, made small for keeping. The records of several
 * pieces of one lane are taken apart into columns (all tags, all times, all
 * addresses ...), which compress far better than rows, and each column is
 * compressed by zstd. Unpacking gives the pieces back byte by byte, so that
 * everything behind pieces_fetch is the same for both.
 *
 *	file    struct packed_file, then blocks one behind the other
 *	block   struct packed_block, then its columns, each `stored` bytes long;
 *	        one with stored == bytes is not compressed
 *
 * Column HEADERS holds a struct packed_piece for each piece. The columns are
 * filled in the order of the records:
 *
 *	TAGS       the tag of every record
 *	TIMES      the times, as varints
 *	NOTES      the bytes of notes
 *	KNOWN      indexes of the address table
 *	ADDRESSES  addresses that are no index, and REALLOCATE's `moved`, as varints
 *	SIZES      sizes, as varints
 *	SLOTS      the byte of a stack that is CACHED or NONE
 *	DELTAS     slot, popped, pushed of a DELTA
 *	FRAMES     its frames, as they are
 *	EXTENDED   kind, length and payload of extended records
 *	REST       what lies behind the last whole record of a damaged piece
 */
#ifndef ANALYZER_TRACE_PACKED_H
#define ANALYZER_TRACE_PACKED_H

#include "memprof/trace_format.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKED_FILE_MAGIC 0x6b50504du  /* "MPPk" */
#define PACKED_BLOCK_MAGIC 0x6b42504du /* "MPBk" */
#define PACKED_VERSION 1
#define PACKED_PIECES_MAX 16

enum packed_column_name {
	PACKED_HEADERS, PACKED_TAGS, PACKED_TIMES, PACKED_NOTES, PACKED_KNOWN, PACKED_ADDRESSES,
	PACKED_SIZES, PACKED_SLOTS, PACKED_DELTAS, PACKED_FRAMES, PACKED_EXTENDED, PACKED_REST,
	PACKED_COLUMNS,
};

struct packed_file {
	uint32_t magic, version;
	uint64_t bytes;        /* of the whole file */
};

struct packed_column {
	uint32_t bytes, stored;
};

struct packed_block {
	uint32_t magic, pieces;
	uint64_t bytes;        /* of all columns as stored */
	uint64_t checksum;     /* XXH3 of this header with 0 here, then the columns */
	struct packed_column columns[PACKED_COLUMNS];
};

struct packed_piece {
	struct trace_piece header; /* of a slot, too: as the piece it would have become */
	uint32_t whole;        /* bytes of whole records; the others are in REST */
	uint32_t unused;
};

/* ---- packing ---- */

struct packed_writer;

/* Writes blocks to @fd (at its position); level as zstd has it. */
struct packed_writer *packed_writer_new(int fd, int level);
/* Adds the piece with @header and its records; @record_bytes of them, behind
 * which PIECE_PADDING bytes can be read. */
void packed_writer_add(struct packed_writer *writer, const struct trace_piece *header,
		       const uint8_t *records, size_t record_bytes);
/* Ends the block: the next piece begins another. */
void packed_writer_flush(struct packed_writer *writer);
/* Flushes and frees. Returns 0 or ERROR_SYSTEM with errno of the first failed
 * write. */
int packed_writer_finish(struct packed_writer *writer);

/* ---- unpacking ---- */

/* A block that pieces are taken from, in their order or not. All zero is none. */
struct packed_reader {
	uint64_t offset;       /* of its header in the file */
	bool is_open, is_right;/* the checksum was right */
	uint32_t pieces, next; /* next: the piece that the cursors stand at */
	uint8_t *memory;       /* all columns, one behind the other */
	size_t room;
	const uint8_t *begins[PACKED_COLUMNS], *ends[PACKED_COLUMNS];
	const uint8_t *at[PACKED_COLUMNS];
};

/*
 * Opens the block at @offset of @fd and decompresses all columns, or only the
 * headers. 0, or what is wrong: ERROR_TRUNCATED, ERROR_FORMAT. *@block is its
 * header.
 */
int packed_reader_open(struct packed_reader *reader, int fd, uint64_t offset,
		       struct packed_block *block, bool headers_only);
/* The @number-th piece's header; @number < reader->pieces. */
void packed_reader_header(const struct packed_reader *reader, uint32_t number,
			  struct packed_piece *piece);
/* Rebuilds the @number-th piece's records at @to, which has room for
 * TRACE_RECORDS_MAX + 128 bytes. Returns their length; less than the header says
 * when the block is damaged. */
size_t packed_reader_records(struct packed_reader *reader, uint32_t number, uint8_t *to);
void packed_reader_release(struct packed_reader *reader);

#endif
