/*
 * Time as records carry it: ticks. They are the processor's counter where that
 * runs evenly on all cores, nanoseconds of CLOCK_MONOTONIC_RAW elsewhere. A
 * reading takes ticks and both of the kernel's clocks together, so that a
 * reader can turn one into the other.
 */
#ifndef LIBMEMPROF_CLOCK_H
#define LIBMEMPROF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "arch_x86_64.h"

struct clock_reading {
	uint64_t ticks;
	uint64_t mono_ns; /* CLOCK_MONOTONIC_RAW */
	uint64_t real_ns; /* CLOCK_REALTIME */
};

enum clock_source {
	CLOCK_SOURCE_NONE = 0, /* the counter is forbidden: ticks stand still, nearly */
	CLOCK_SOURCE_TSC = 1,
	CLOCK_SOURCE_MONOTONIC = 2,
};

/* Written by clock_start, clock_forbid; read by everybody. */
extern uint32_t clock_source __attribute__((visibility("hidden")));

uint64_t clock_slow_ticks(void);

/* The time now. Not a barrier: may run a few hundred ticks ahead of earlier loads. */
static inline uint64_t clock_ticks(void)
{
	if (__builtin_expect(clock_source == CLOCK_SOURCE_TSC, 1))
		return arch_ticks();
	return clock_slow_ticks();
}

/* Chooses the source; before it, ticks are CLOCK_MONOTONIC_RAW. Once per image. */
void clock_start(void);

/* To be called before the program forbids itself the counter, after which
 * reading it kills: prctl(PR_SET_TSC, PR_TSC_SIGSEGV), seccomp strict. */
void clock_forbid(void);

void clock_read(struct clock_reading *reading);

/* "tsc" or "monotonic_raw", as META says it. */
const char *clock_source_name(void);

/* Ticks per second: measured as soon as a few milliseconds have passed between
 * two readings, before that a guess, which *is_known tells apart. */
uint64_t clock_ticks_per_second(bool *is_known);

#endif
