/*
 * Where a thread writes its records: a slot of the companion file, flushed as a
 * piece of the trace when it is full. No lock and no system call but in
 * event_buffer_flush. All functions are for the owning thread only.
 */
#ifndef LIBMEMPROF_EVENT_BUFFER_H
#define LIBMEMPROF_EVENT_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include <memprof/trace_format.h>

/* Room that is left behind `limit`: what a record without a long stack needs. */
#define EVENT_BUFFER_SLACK 1024

struct event_buffer {
	uint8_t *at;         /* next byte to write */
	uint8_t *limit;      /* at >= limit: flush first; NULL = not open, or wiped by a fork */
	uint8_t *end;        /* first byte behind the slot */
	uint8_t *records;    /* first record of the slot */
	uint64_t *word;      /* the slot's commit word, read by other processes */
	uint64_t sequence;   /* of the piece being written, already << 32 */
	uint64_t base;       /* the commit word is base + at */
	uint64_t lost;       /* events dropped by this lane */
	uint32_t lane;
	uint32_t tid;
	uint32_t failed;     /* enum trace_loss of the last flush, 0: it succeeded */
};

/* Set once the process has begun to end: every event is then written through,
 * since nobody will fold the slots again. */
extern uint32_t event_buffer_is_late __attribute__((visibility("hidden")));
void event_buffer_write_through(struct event_buffer *buffer);

/* Makes what was written up to @at part of the trace: after this store it
 * survives the process. The caller then looks at event_buffer_is_late. */
static inline void event_buffer_commit_early(struct event_buffer *buffer, uint8_t *at)
{
	buffer->at = at;
	__atomic_store_n(buffer->word, buffer->base + (uintptr_t)at, __ATOMIC_RELEASE);
}

static inline void event_buffer_commit(struct event_buffer *buffer, uint8_t *at)
{
	event_buffer_commit_early(buffer, at);
	if (__builtin_expect(__atomic_load_n(&event_buffer_is_late, __ATOMIC_RELAXED), 0))
		event_buffer_write_through(buffer);
}

/* Takes a slot for a new lane that thread @tid will write. false: none to be
 * had (no space, no memory); nothing changed. Only when process_ready() is true. */
bool event_buffer_open(struct event_buffer *buffer, uint32_t tid);

/*
 * Writes the slot's records out as a piece and begins the next one, empty. The
 * caller's decoder state is void afterwards. false: the trace could not take
 * the piece; its records stay where they are, readable from the slot, and the
 * next call tries again (buffer->at >= limit still).
 */
bool event_buffer_flush(struct event_buffer *buffer);

/* Counts an event that could not be written (the flush failed, or the recorder
 * was busy): in the lane's header and by @cause, enum trace_loss; 0: what the last
 * failed flush met. */
void event_buffer_drop(struct event_buffer *buffer, unsigned cause);

/* Ticks from which on the records' times count: those in the piece's header. */
uint64_t event_buffer_start_ticks(const struct event_buffer *buffer);

/* Says in the slot's header who writes from here on (only while it is empty). */
void event_buffer_set_tid(struct event_buffer *buffer, uint32_t tid);

#endif
