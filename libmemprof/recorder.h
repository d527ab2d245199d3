/*
 * Turns what the hooks saw into records of the thread's lane, in the terms of
 * trace_format.h: it mirrors the state that the decoder will have. One recorder
 * belongs to one thread state; its caller keeps signal handlers out (busy).
 *
 * An event that can't be written is dropped and counted; nothing here fails.
 */
#ifndef LIBMEMPROF_RECORDER_H
#define LIBMEMPROF_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <memprof/trace_format.h>

#include "event_buffer.h"
#include "modules.h"
#include "unwind.h"

#define RECORDER_SCOPES_MAX 16
#define RECORDER_SCOPE_NAME_MAX 64

/* Of one new place in the code, the records of its module with it. */
#define RECORDER_PLACE_BYTES (MODULE_RECORDS_MAX + 64)

struct recorder {
	struct event_buffer buffer;
	struct unwind_state *unwind;
	uint64_t clock;         /* time of the last record, in units of 2^TRACE_TIME_SHIFT */
	uintptr_t last_address;
	int32_t clock_skip;     /* events until the clock is read again */
	int32_t clock_every;    /* ... counts from here */
	uint32_t held_bytes;    /* records in `held` that are still to be written */
	uint64_t rate;          /* of the samples that are recorded now */
	uint64_t stated_rate;   /* that the decoder believes */
	uint32_t trace;         /* process_generation() of the trace that the lane is in */
	uint32_t scopes;        /* open ones; those beyond the maximum are counted only */
	int32_t name_skip;      /* deltas until the thread's name is looked at again */
	int32_t name_every;     /* ... counts from here */
	char name[16];          /* as last written */
	uint64_t addresses[TRACE_ADDRESS_SLOTS];
	uint64_t sizes[TRACE_CACHE_SLOTS];
	char scope_names[RECORDER_SCOPES_MAX][RECORDER_SCOPE_NAME_MAX];
	uint8_t held[RECORDER_PLACE_BYTES + 512]; /* MODULE and PC records on their way */
};

/* Lanes begun by this process so far: while it is 1, order needs no clock. */
extern uint32_t recorder_lanes __attribute__((visibility("hidden")));

/* What the program has mapped itself; for readings. Kept by map_calls.c. */
extern uint64_t recorder_mapped_bytes __attribute__((visibility("hidden")));

/* Called when a recorder is found wiped (a child of fork): begins it again and
 * returns true, or false. Set once, before the first recorder begins. */
extern bool (*recorder_revive)(struct recorder *recorder);

/* A lane for thread @tid, in a recorder that is all zero but for @unwind. */
bool recorder_begin(struct recorder *recorder, uint32_t tid);

/* Another thread goes on in the lane (@is_torn: the last one ended in the middle of
 * something), or the same one after an accident: the decoder is told to start anew. */
void recorder_take_over(struct recorder *recorder, uint32_t tid, bool is_torn);
void recorder_restart(struct recorder *recorder);

/* Samples have this rate from here on, 1: everything is recorded. A change is
 * stated with the next stack, for which the decoder starts anew. */
void recorder_set_rate(struct recorder *recorder, uint64_t rate);

/* The time now, in units of records; for events stamped before they are made. */
uint64_t recorder_now(void);

void recorder_allocate(struct recorder *recorder, const void *block, uint64_t size,
		       const struct unwind_point *point);
void recorder_free(struct recorder *recorder, const void *block, unsigned notes);
/* The same with a time taken earlier by recorder_now. */
void recorder_free_at(struct recorder *recorder, const void *block, uint64_t when);
void recorder_reallocate(struct recorder *recorder, const void *old, const void *block,
			 uint64_t size, const struct unwind_point *point);

/* Where the FREE or REALLOCATE that follows was called. */
void recorder_free_stack(struct recorder *recorder, const struct unwind_point *point);

struct map_event {
	enum trace_map_op op;
	uintptr_t address;
	uint64_t bytes;
	uintptr_t old_address;
	uint64_t old_bytes;
	int prot;
	int flags;
	int fd;
	uint64_t offset;
	uint64_t when;       /* recorder_now() of a release, 0: now */
};

void recorder_map(struct recorder *recorder, const struct map_event *event,
		  const struct unwind_point *point);

void recorder_mark(struct recorder *recorder, enum trace_mark mark, const char *name,
		   const char *detail, uint64_t value);
void recorder_scope_begin(struct recorder *recorder, const char *name);
void recorder_scope_end(struct recorder *recorder);

#endif
