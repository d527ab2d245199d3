/*
 * Events that did not get into the trace, counted by cause. The counts travel
 * as LOST records with the end of the trace, their sum in the control page; a
 * lane's own count is in the header of its slot and pieces.
 */
#ifndef LIBMEMPROF_LOSSES_H
#define LIBMEMPROF_LOSSES_H

#include <stdint.h>

#include <memprof/trace_format.h>

struct record_cursor;

/* An event that has no lane to be counted in (no thread state). */
void loss_count(enum trace_loss cause, uint64_t events);

/* For process.c: stores a LOST record per cause that grew since the last call. */
void losses_store(struct record_cursor *cursor);
void losses_restart(void);

#endif
