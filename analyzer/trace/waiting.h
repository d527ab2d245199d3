/*
 * Events that came too early: a free before its allocation, an allocation
 * before the free that made its address available. Clocks of two cores differ
 * by up to a microsecond, and a thread can be stopped between a realloc and its
 * time stamp; so such an event waits a while for the one that must come first.
 */
#ifndef ANALYZER_TRACE_WAITING_H
#define ANALYZER_TRACE_WAITING_H

#include "trace/decoder.h"

#include <stdbool.h>
#include <stdint.h>

#define WAITING_ROOM 1024
#define WAITING_BUCKETS 512

struct waiting_entry {
	struct raw_event event;
	uint16_t next;         /* of the same bucket, + 1 */
	bool is_gone;
};

/* All zero is empty. */
struct waiting {
	struct waiting_entry entries[WAITING_ROOM]; /* a ring, oldest at `first` */
	uint16_t buckets[WAITING_BUCKETS];          /* oldest entry + 1 */
	uint32_t first, used;                       /* gone ones included */
	uint32_t count;
};

/* Adds @event; there must be room (waiting_is_full). */
void waiting_add(struct waiting *waiting, const struct raw_event *event);
/* Takes out the oldest event of @address; false: there is none. */
bool waiting_take(struct waiting *waiting, uint64_t address, struct raw_event *event);
/* Takes out the oldest event if its time is before @time; false: none is. */
bool waiting_take_before(struct waiting *waiting, uint64_t time, struct raw_event *event);

static inline bool waiting_is_full(const struct waiting *waiting)
{
	return waiting->used == WAITING_ROOM;
}

#endif
