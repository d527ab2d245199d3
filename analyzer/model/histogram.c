/*
 * See histogram.h.
 */
#include "model/histogram.h"

#include "model/slices.h"
#include "util/memory.h"

#include <stdlib.h>

const uint64_t age_class_limits_ns[AGE_CLASSES] = {
	1000ull, 10000ull, 100000ull, 1000000ull, 10000000ull, 100000000ull, 1000000000ull,
	10000000000ull, 100000000000ull, 1000000000000ull, UINT64_MAX,
};

const uint64_t size_class_limits[SIZE_CLASSES] = {
	0, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072,
	262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216, 33554432, 67108864,
	134217728, 268435456, 536870912, 1073741824, UINT64_MAX,
};

unsigned age_class_of(uint64_t age_ns)
{
	unsigned class = 0;

	while (age_ns >= age_class_limits_ns[class] && class < AGE_CLASSES - 1)
		class++;
	return class;
}

unsigned size_class_of(uint64_t size)
{
	unsigned class;

	if (size <= 8)
		return size ? 1 : 0;
	class = 64 - (unsigned)__builtin_clzll(size - 1) - 2; /* 9-16: 2 */
	return class < SIZE_CLASSES ? class : SIZE_CLASSES - 1;
}

/* malloc/malloc.c: chunks of 16 bytes with one word of overhead, 32 at least;
 * from 128 KiB on pages of their own with two words. */
uint64_t glibc_usable_bytes(uint64_t size)
{
	uint64_t chunk = (size + 8 + 15) & ~15ull;

	if (size >= 131072)
		return ((size + 16 + 4095) & ~4095ull) - 16;
	return (chunk < 32 ? 32 : chunk) - 8;
}

/* ---- lifetimes ---- */

#define BIRTH_STEPS 4096

static size_t birth_step(const struct lifetimes *lifetimes, uint64_t time_ns)
{
	uint64_t step = time_ns / lifetimes->step_ns;

	return step < BIRTH_STEPS ? (size_t)step : BIRTH_STEPS - 1;
}

static void lifetimes_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct lifetimes *lifetimes = (struct lifetimes *)self;
	struct number n;

	for (const struct trace_event *e = events; e < events + count; e++) {
		if (e->kind > TRACE_EVENT_FREE || (e->flags & TRACE_EVENT_INHERITED))
			continue;
		number_of_sample(e->size, e->rate, &n);
		if (e->kind == TRACE_EVENT_ALLOCATE) {
			number_add(&lifetimes->births[birth_step(lifetimes, e->time_ns)], &n);
			continue;
		}
		number_add(&lifetimes->freed[age_class_of(e->time_ns - e->birth_ns)], &n);
		number_remove(&lifetimes->births[birth_step(lifetimes, e->birth_ns)], &n);
	}
}

/* Born and freed: among the births they cancel out. */
static void lifetimes_take_pairs(struct aggregator *self, const struct event_pairs *pairs,
				 size_t count)
{
	struct lifetimes *lifetimes = (struct lifetimes *)self;

	for (size_t i = 0; i < count; i++) {
		const struct trace_event *e = &pairs[i].death;
		struct number n = { .count = (double)pairs[i].count,
				    .bytes = (double)pairs[i].bytes };

		if (!pairs[i].is_realloc)
			number_add(&lifetimes->freed[age_class_of(e->time_ns - e->birth_ns)], &n);
	}
}

static void lifetimes_end(struct aggregator *self, uint64_t end_ns)
{
	struct lifetimes *lifetimes = (struct lifetimes *)self;

	for (size_t i = 0; i < BIRTH_STEPS; i++) {
		uint64_t birth = i * lifetimes->step_ns + lifetimes->step_ns / 2;
		uint64_t age = end_ns > birth ? end_ns - birth : 0;

		if (lifetimes->births[i].count > 0.5)
			number_add(&lifetimes->living[age_class_of(age)], &lifetimes->births[i]);
	}
}

void lifetimes_init(struct lifetimes *lifetimes, uint64_t duration_ns)
{
	*lifetimes = (struct lifetimes){ .aggregator = { .take = lifetimes_take,
							 .end = lifetimes_end,
							 .take_pairs = lifetimes_take_pairs },
					 .duration_ns = duration_ns };
	lifetimes->births = memory_zeroed(BIRTH_STEPS, sizeof(*lifetimes->births));
	lifetimes->step_ns = duration_ns / BIRTH_STEPS + 1;
}

void lifetimes_release(struct lifetimes *lifetimes)
{
	free(lifetimes->births);
}

/* ---- sizes ---- */

static void sizes_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct sizes *sizes = (struct sizes *)self;
	struct number n;

	for (const struct trace_event *e = events; e < events + count; e++) {
		struct size_sums *class = &sizes->classes[size_class_of(e->size)];
		double slack;

		if (e->kind > TRACE_EVENT_FREE || (e->flags & TRACE_EVENT_INHERITED))
			continue;
		number_of_sample(e->size, e->rate, &n);
		slack = (double)(glibc_usable_bytes(e->size) - e->size) * n.count;
		if (e->kind == TRACE_EVENT_ALLOCATE) {
			number_add(&class->made, &n);
			number_add(&class->live, &n);
			class->made_slack += slack;
			class->live_slack += slack;
			continue;
		}
		number_remove(&class->live, &n);
		class->live_slack -= slack;
		if (e->flags & TRACE_EVENT_TEMPORARY)
			number_add(&class->temporary, &n);
	}
}

static void sizes_take_pairs(struct aggregator *self, const struct event_pairs *pairs,
			     size_t count)
{
	struct sizes *sizes = (struct sizes *)self;

	for (size_t i = 0; i < count; i++) {
		struct size_sums *class = &sizes->classes[size_class_of(pairs[i].death.size)];
		struct number n = { .count = (double)pairs[i].count,
				    .bytes = (double)pairs[i].bytes };

		if (pairs[i].is_realloc)
			continue;
		number_add(&class->made, &n);
		class->made_slack += (double)pairs[i].slack;
		if (pairs[i].death.flags & TRACE_EVENT_TEMPORARY)
			number_add(&class->temporary, &n);
	}
}

void sizes_init(struct sizes *sizes)
{
	*sizes = (struct sizes){ .aggregator = { .take = sizes_take,
						  .take_pairs = sizes_take_pairs } };
}
