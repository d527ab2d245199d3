/*
 * Writes traces: for what the analyzer cuts out of one. The encoder is plain: one
 * lane per thread, times in ns, stacks by the difference to the one before.
 */
#ifndef ANALYZER_TRACE_TRACE_WRITE_H
#define ANALYZER_TRACE_TRACE_WRITE_H

#include "trace/trace.h"
#include "util/error.h"

#include <stdio.h>

struct trace_writer;

/* Writes to @file, which stays the caller's. NULL: no memory. */
struct trace_writer *trace_writer_new(FILE *file);
void trace_writer_free(struct trace_writer *writer);

/* The header: before everything else. Values are text; @bytes of it. What is
 * said on the clock is written by itself. */
void trace_writer_meta(struct trace_writer *writer, const char *key, const void *value,
		       size_t bytes);
void trace_writer_meta_number(struct trace_writer *writer, const char *key, uint64_t value);
void trace_writer_module(struct trace_writer *writer, const struct trace_module *module);
void trace_writer_header_end(struct trace_writer *writer);

/* A place in the code; ids from TRACE_PC_FIRST on, each once. */
void trace_writer_pc(struct trace_writer *writer, uint32_t id, uint64_t address, uint32_t flags);

/* What follows is of thread @tid, in lane @lane (from 1 on).
 * Times of a lane must not go back. Lane 0 is chosen at first and can't be again;
 * each other lane is chosen once. */
void trace_writer_lane(struct trace_writer *writer, uint32_t lane, uint32_t tid,
		       const char *thread_name);
void trace_writer_mark(struct trace_writer *writer, uint64_t time_ns,
		       const struct trace_marker *mark);
void trace_writer_rate(struct trace_writer *writer, uint64_t rate_bytes);
void trace_writer_scope(struct trace_writer *writer, const char *name); /* NULL ends it */
/* @frames: ids of places (or marks), innermost first. @no_stack: why there is
 * none, when @count is 0. */
void trace_writer_allocate(struct trace_writer *writer, uint64_t time_ns, uint64_t address,
			   uint64_t size, const uint32_t *frames, size_t count,
			   enum trace_no_stack no_stack);
void trace_writer_map(struct trace_writer *writer, uint64_t time_ns, uint64_t address,
		      uint64_t size, const uint32_t *frames, size_t count,
		      enum trace_no_stack no_stack);

/* While lane 0 is chosen, that is before any other lane: recording ended in order. */
void trace_writer_ended(struct trace_writer *writer, uint64_t time_ns);

/* Writes what is left. Returns 0 or ERROR_SYSTEM (some write failed). */
int trace_writer_finish(struct trace_writer *writer, struct error *err);

#endif
