/*
 * Which allocations are recorded. Every byte asked for is a sample with
 * probability 1/rate, independently: the gaps between samples are exponential
 * with mean `rate`, and a block is recorded when a sample falls into it:
 *
 *	p = 1 - e^(-size/rate)        a size of 0 counts as 1
 *
 * The gap is counted down in legs of at most SAMPLER_LEG bytes, so that each
 * thread comes by now and then to look at the control words, also when it
 * records nothing. The countdown itself lies in thread-local storage; malloc
 * subtracts and goes on as long as it is enough.
 *
 * One sampler belongs to one thread.
 */
#ifndef LIBMEMPROF_SAMPLER_H
#define LIBMEMPROF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLER_LEG 65536u

struct sampler {
	uint64_t random[4]; /* state of the generator */
	uint64_t rest;      /* bytes of the gap that come after the countdown's leg */
	uint64_t rate;      /* that the gap was drawn with; 0: off */
};

/* What a size counts as. */
static inline uint64_t sampler_bytes(uint64_t size)
{
	return size + !size;
}

/*
 * The hooks' question: does *countdown cover @size? Then it is counted, and the
 * block is no sample. Compilers need three more instructions for the carry.
 */
static inline bool sampler_passes(uint64_t *countdown, uint64_t size)
{
	uint64_t left = *countdown;
	bool borrows;

#ifdef __x86_64__
	__asm__("cmp $1, %2\n\tsbb %2, %0" : "+r"(left), "=@ccb"(borrows) : "r"(size));
#else
	borrows = __builtin_sub_overflow(left, sampler_bytes(size), &left);
#endif
	if (__builtin_expect(borrows, 0))
		return false;
	*countdown = left;
	return true;
}

/* Streams of one @seed and different @stream numbers are independent. */
void sampler_init(struct sampler *sampler, uint64_t seed, uint64_t stream);

/* From here on gaps have mean @rate (1: every block is taken, 0: none is).
 * Since gaps have no memory, throwing away the old one biases nothing. */
void sampler_set_rate(struct sampler *sampler, uint64_t rate, uint64_t *countdown);

/*
 * For a block of @bytes (sampler_bytes) that *countdown, < @bytes, doesn't
 * cover: is it taken? Sets the next leg either way.
 */
bool sampler_take(struct sampler *sampler, uint64_t bytes, uint64_t *countdown);

/* One gap, rounded down: P(gap < n) = 1 - e^(-n/rate) for whole n. */
uint64_t sampler_gap(struct sampler *sampler, uint64_t rate);

#endif
