/*
 * Makes traces in code: an encoder of its own, written from trace_format.h, so
 * that the analyzer is tested against the format and not against the library.
 *
 *	struct trace_builder *b = trace_builder_new();
 *	trace_builder_lane(b, 1, 100);
 *	trace_builder_stack(b, (uint64_t[]){0x401010, 0x401020}, 2);
 *	trace_builder_allocate(b, 0x10000, 24);
 *	trace_builder_at(b, 5000);
 *	trace_builder_free(b, 0x10000);
 *	trace_builder_write(b, path);
 *
 * The clock has 1 tick a ns, and the process starts at tick 1000000: a time of
 * t ns below comes out of the analyzer as t rounded down to 64.
 */
#ifndef TEST_TRACE_BUILDER_H
#define TEST_TRACE_BUILDER_H

#include "memprof/trace_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_BUILDER_START 1000000u
#define TRACE_BUILDER_REAL 1700000000000000000ull /* wall clock at the start */

struct trace_builder;

/* A trace with META of a process 4242, "app --flag", exact, one module
 * "/bin/app" at [0x400000, 0x500000) and one "/lib/libc.so" at
 * [0x7f0000000000, 0x7f0000200000). Lane 1 of thread 100 is chosen. */
struct trace_builder *trace_builder_new(void);
/* The same without any META and MODULE. */
struct trace_builder *trace_builder_new_bare(void);
void trace_builder_free_all(struct trace_builder *b);

/* ---- where and when the following records are made ---- */

/* Chooses @lane; makes it, for thread @tid, if it isn't there. */
void trace_builder_lane(struct trace_builder *b, uint32_t lane, uint32_t tid);
/* The pieces from here on are another process' (OUTSIDE), @pid its pid. */
void trace_builder_outside(struct trace_builder *b, uint32_t pid);
/* ns since the start; a lane's time never goes back. */
void trace_builder_at(struct trace_builder *b, uint64_t ns);
/* The stack of what follows in all lanes: return addresses, innermost first.
 * An address below 16 is written as it is (enum trace_frame_mark). */
void trace_builder_stack(struct trace_builder *b, const uint64_t *frames, size_t count);
/* No stack, for the reason @why. */
void trace_builder_no_stack(struct trace_builder *b, enum trace_no_stack why);
/* Frames are written in full instead of by id. */
void trace_builder_literal(struct trace_builder *b, bool is_literal);

/* ---- events ---- */

void trace_builder_allocate(struct trace_builder *b, uint64_t address, uint64_t size);
void trace_builder_free(struct trace_builder *b, uint64_t address);
/* A free with a byte of notes. */
void trace_builder_free_noted(struct trace_builder *b, uint64_t address, uint8_t notes);
/* A free that tells its stack (the present one). */
void trace_builder_free_with_stack(struct trace_builder *b, uint64_t address);
void trace_builder_reallocate(struct trace_builder *b, uint64_t old, uint64_t address,
			      uint64_t size);
void trace_builder_map(struct trace_builder *b, enum trace_map_op op, uint64_t address,
		       uint64_t bytes, uint64_t old_address, uint64_t old_bytes);

/* ---- everything else ---- */

void trace_builder_meta(struct trace_builder *b, const char *key, const char *value);
void trace_builder_module(struct trace_builder *b, uint64_t start, uint64_t end,
			  const char *path);
void trace_builder_module_gone(struct trace_builder *b, uint64_t start);
void trace_builder_mark(struct trace_builder *b, enum trace_mark mark, const char *name,
			const char *detail, uint64_t value);
/* A mark of a wall clock time, ns since the start. */
void trace_builder_mark_at(struct trace_builder *b, enum trace_mark mark, const char *name,
			   uint64_t ns);
void trace_builder_thread_begin(struct trace_builder *b, uint32_t tid);
void trace_builder_thread_name(struct trace_builder *b, const char *name);
void trace_builder_reading(struct trace_builder *b, uint64_t resident, uint64_t shared,
			   uint64_t virtual_bytes, uint64_t mapped);
void trace_builder_rate(struct trace_builder *b, uint64_t rate);
void trace_builder_scope_begin(struct trace_builder *b, const char *name);
void trace_builder_scope_end(struct trace_builder *b);
void trace_builder_lost(struct trace_builder *b, enum trace_loss cause, uint64_t events);
void trace_builder_restart(struct trace_builder *b);
/* Any extended record. */
void trace_builder_record(struct trace_builder *b, uint64_t kind, const void *payload,
			  size_t bytes);
/* Bytes as they are. */
void trace_builder_raw(struct trace_builder *b, const void *bytes, size_t count);

/* ---- files ---- */

/* Ends the present lane's piece; the next record begins another. */
void trace_builder_flush(struct trace_builder *b);
/* Writes what the present lane has as a piece that is still open: the lane goes
 * on, and its next flush has the same sequence number. */
void trace_builder_flush_open(struct trace_builder *b);
/* All lanes end their pieces, END is written, and all goes to @path. */
void trace_builder_write(struct trace_builder *b, const char *path);
/* What isn't flushed goes into a companion beside @path, as after SIGKILL. */
void trace_builder_write_killed(struct trace_builder *b, const char *path);
/* The trace so far, as bytes of the file; lent until the next call. */
const uint8_t *trace_builder_bytes(struct trace_builder *b, size_t *bytes);

#endif
