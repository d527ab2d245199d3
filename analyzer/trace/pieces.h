/*
 * Where the pieces of a trace are: an index made of their headers, from the
 * trace and from its companion, in the order in which lanes are read. Records
 * are fetched one piece at a time, with their checksum looked at.
 */
#ifndef ANALYZER_TRACE_PIECES_H
#define ANALYZER_TRACE_PIECES_H

#include "memprof/trace_format.h"
#include "trace/packed.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct piece {
	uint64_t offset;       /* of its header, in the file that it lies in */
	uint8_t *copy;         /* header and records of a running process' slot, else NULL */
	uint64_t ticks, mono_ns, real_ns, lost;
	uint32_t lane, sequence, length, tid;
	uint16_t kind, flags;
	uint16_t packed;       /* its number in the block at `offset`, + 1; 0 = not packed */
	bool in_companion;
	bool is_cut;           /* ends within a record; set by facts.c */
	uint32_t thread;       /* its owner at the first record, index; set by facts.c */
};

/* Where the byte @at of the records of @piece lies in its file: of a packed one,
 * where its block does. */
static inline uint64_t piece_record_offset(const struct piece *piece, uint64_t at)
{
	return piece->packed ? piece->offset : piece->offset + TRACE_PIECE_BYTES + at;
}

/* A row of pieces that are read one after the other. */
struct piece_row {
	uint32_t lane;
	uint32_t first, count;
};

/* Tells of damage. @words needs to last for the call only. */
typedef void (*piece_fault)(void *context, uint64_t offset, bool in_companion, const char *words);

struct pieces {
	int trace_fd, companion_fd; /* companion_fd: -1 = none */
	bool is_running;            /* the companion's process lives */
	bool is_packed;             /* the trace is (packed.h) */
	bool has_ended;             /* companion: the process has folded its slots */
	struct piece *items;        /* headers, lanes by number and sequence, outside */
	size_t count;
	struct piece_row *lanes;
	size_t lane_count;
	uint32_t header_count, outside_first;
	uint64_t file_bytes;        /* size of the trace */
	uint64_t used_bytes;        /* headers and records of all pieces found */
	piece_fault tell;
	void *context;
};

/* Opens @path alone and reads the pieces of kind HEADER (all of a packed trace), so that the caller
 * can learn where the companion is. pieces->tell must be set before. */
int pieces_open(struct pieces *pieces, const char *path, struct error *err);

/* ".NAME.live" beside @path; to be freed. */
char *pieces_companion_path(const char *path);

/*
 * Joins the companion: at @companion, or (NULL) where it belongs, ".NAME.live"
 * beside @path. None, or one that belongs to another trace, is no error.
 * @pid and @start_ticks are what the trace says of its process: they stand in
 * where the files have been copied and their inodes are others.
 */
void pieces_join(struct pieces *pieces, const char *path, const char *companion, uint64_t pid,
		 uint64_t start_ticks);

/* Finds all other pieces. After pieces_join: slots are older than pieces. */
int pieces_index(struct pieces *pieces, struct error *err);
void pieces_close(struct pieces *pieces);

/* The records of one piece; as many bytes of zeros lie behind them as a record
 * without a stack can have. */
struct piece_bytes {
	uint8_t *bytes;        /* header first */
	const uint8_t *records, *end;
	struct packed_reader packed; /* the block that the last piece came from */
};
#define PIECE_PADDING 128

/* Fetches @piece into @buffer, which is the caller's (all zero at first, for
 * piece_bytes_release). What can't be had or is damaged is told to
 * pieces->tell if @tells; the rest is given. May be called by several threads
 * at a time when it doesn't tell. */
void pieces_fetch(const struct pieces *pieces, const struct piece *piece,
		  struct piece_bytes *buffer, bool tells);
void piece_bytes_release(struct piece_bytes *buffer);

#endif
