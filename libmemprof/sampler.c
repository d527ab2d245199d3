/*
 * The generator is xoshiro256++ (Blackman and Vigna, "Scrambled linear
 * pseudorandom number generators", 2021), seeded through splitmix64 as its
 * authors advise. The exponential comes from inversion, -ln(u) * rate, with a
 * logarithm of our own, since libm is not ours to use.
 */
#include "sampler.h"

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static uint64_t random_next(uint64_t s[4])
{
	uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

/*
 * ln(x) for 0 < x < 1. With x = m * 2^e and m in [sqrt(1/2), sqrt(2)):
 * ln m = 2 artanh(s), s = (m - 1) / (m + 1), |s| < 0.172; the series up to s^17
 * leaves an error below 1e-15.
 */
static double natural_log(double x)
{
	union {
		double value;
		uint64_t bits;
	} m = { .value = x };
	int exponent = (int)(m.bits >> 52) - 1022;
	double s, square, sum = 0;

	m.bits = (m.bits & ~(0x7ffull << 52)) | 1022ull << 52; /* [1/2, 1) */
	if (m.value < 0.70710678118654752) {
		m.value *= 2;
		exponent--;
	}
	s = (m.value - 1) / (m.value + 1);
	square = s * s;
	for (int n = 17; n > 0; n -= 2)
		sum = sum * square + 1.0 / n;
	return exponent * 0.69314718055994531 + 2 * s * sum;
}

uint64_t sampler_gap(struct sampler *sampler, uint64_t rate)
{
	/* The middle of one of 2^53 equal parts of (0, 1). */
	double u = ((double)(random_next(sampler->random) >> 11) + 0.5) * 0x1p-53;

	return (uint64_t)(-natural_log(u) * (double)rate);
}

void sampler_init(struct sampler *sampler, uint64_t seed, uint64_t stream)
{
	uint64_t state = seed;

	state = splitmix(&state) ^ stream;
	for (int i = 0; i < 4; i++)
		sampler->random[i] = splitmix(&state);
	sampler->rest = 0;
	sampler->rate = 0;
}

/* The next leg of what is left, or of the way to the next look while off. */
static void begin_leg(struct sampler *sampler, uint64_t left, uint64_t *countdown)
{
	*countdown = left < SAMPLER_LEG ? left : SAMPLER_LEG;
	sampler->rest = left - *countdown;
}

static void begin_gap(struct sampler *sampler, uint64_t *countdown)
{
	if (sampler->rate == 1)
		begin_leg(sampler, 0, countdown);
	else
		begin_leg(sampler, sampler_gap(sampler, sampler->rate), countdown);
}

void sampler_set_rate(struct sampler *sampler, uint64_t rate, uint64_t *countdown)
{
	sampler->rate = rate;
	if (rate)
		begin_gap(sampler, countdown);
	else
		begin_leg(sampler, SAMPLER_LEG, countdown);
}

bool sampler_take(struct sampler *sampler, uint64_t bytes, uint64_t *countdown)
{
	uint64_t missing = bytes - *countdown;

	if (!sampler->rate) {
		begin_leg(sampler, SAMPLER_LEG, countdown);
		return false;
	}
	if (missing <= sampler->rest) {
		begin_leg(sampler, sampler->rest - missing, countdown);
		return false;
	}
	begin_gap(sampler, countdown);
	return true;
}
