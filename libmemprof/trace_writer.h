/*
 * Appends pieces to the trace. Each piece has a unit of the file for itself,
 * reserved by one atomic addition that outsiders use as well. A write never
 * reaches a file that isn't the trace (the program may have closed and reused
 * the descriptor), never raises SIGXFSZ, and never overwrites a piece.
 */
#ifndef LIBMEMPROF_TRACE_WRITER_H
#define LIBMEMPROF_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <memprof/trace_format.h>

/* Takes over @descriptor, the fresh trace at @path; @max_bytes: where it stops
 * growing. For process.c, nobody else writing. */
void trace_writer_open(int descriptor, const char *path, uint64_t max_bytes);
void trace_writer_close(void);

/*
 * Writes @header (checksum filled in here) and trace_word_length(word) bytes of
 * @records to unit *place, which is reserved first when it is 0 and stays
 * reserved after a failure: the next attempt goes to the same place. Returns 0
 * or the enum trace_loss that the events of this piece would be lost to.
 */
int trace_writer_put(struct trace_piece *header, const uint8_t *records, uint64_t *place);

/* The same to a place that the caller knows: the header piece, at 0. */
int trace_writer_put_at(struct trace_piece *header, const uint8_t *records, uint64_t place);

/* The same as trace_writer_put for a piece that is allowed beyond the limit. */
int trace_writer_put_beyond(struct trace_piece *header, const uint8_t *records,
			    uint64_t *place);

/* Has the limit of its size been met? */
bool trace_writer_is_full(void);

/*
 * Reserves *place ahead where the trace may not grow without limit, so that what
 * is begun can be ended: 0 (also when nothing had to be done) or
 * TRACE_LOSS_MAX_TRACE.
 */
int trace_writer_reserve(uint64_t *place);

/* The checksum of a piece, as trace_format.h defines it. */
uint64_t trace_piece_checksum(const struct trace_piece *header, const uint8_t *records);

#endif
