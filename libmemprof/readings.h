/*
 * What the process uses of the machine's memory, read now and then when there
 * is work to record anyway (MEMPROF_READINGS), and a reading of the clocks with
 * it, from which the ticks of short and of killed runs get their rate.
 */
#ifndef LIBMEMPROF_READINGS_H
#define LIBMEMPROF_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_cursor;

#define READING_RECORDS_MAX 192

/* Ticks at which the next reading is due; UINT64_MAX: none. Read it directly. */
extern uint64_t reading_next_ticks __attribute__((visibility("hidden")));

static inline bool reading_due(uint64_t now_ticks)
{
	return __builtin_expect(now_ticks >= __atomic_load_n(&reading_next_ticks, __ATOMIC_RELAXED),
				0);
}

/*
 * When due (and no other thread just took it): stores a READING and a CLOCK
 * record (EXTENDED, without time) at @out, room READING_RECORDS_MAX, and returns
 * their bytes; else 0. @mapped_bytes: mapped by the program itself, by the
 * recorder's own count. Some 5 us of system calls, under no lock.
 */
size_t reading_take(uint64_t now_ticks, uint64_t mapped_bytes, uint8_t *out);

/* Stores a CLOCK record of this moment. */
void record_clock(struct record_cursor *cursor);

/* For process.c: a new trace begins. */
void readings_restart(void);

#endif
