/*
 * Small loops that do little but allocate, to see what an event costs:
 *
 *	micro tight COUNT            one block of 64 bytes
 *	micro pairs COUNT [THREADS]  64 live blocks a thread, mixed sizes
 *	micro deep COUNT DEPTH PATHS as pairs, DEPTH calls below, along PATHS ways
 *	micro threads COUNT          short threads with 16 blocks each
 *	micro live COUNT BLOCKS      pairs while BLOCKS blocks stay live
 *	micro held COUNT BLOCKS [THREADS]  the same when those BLOCKS are samples and the
 *	                             rate is 512K; prints the ns of a pair
 *
 * All are deterministic: the difference of two counts leaves start-up out.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../include/memprof/memprof.h"

#define WINDOW 64

static long count, second, third;

/* The compiler must not see that a block is of no use. */
static void keep(void *block)
{
	__asm__ volatile("" : : "r"(block) : "memory");
}

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

/* Mostly small, now and then some KiB, as programs do. */
static size_t mixed_size(uint64_t *seed)
{
	uint64_t n = next(seed);

	switch (n & 15) {
	case 0:
		return 1024 + (n >> 4) % 7168;
	case 1:
	case 2:
		return 256 + (n >> 4) % 768;
	default:
		return 8 + (n >> 4) % 120;
	}
}

static void tight(void)
{
	for (long i = 0; i < count; i++) {
		void *block = malloc(64);

		keep(block);
		free(block);
	}
}

static void *pairs_work(void *argument)
{
	uint64_t seed = (uint64_t)(uintptr_t)argument * 977 + 1;
	void *window[WINDOW] = { NULL };

	for (long i = 0; i < count; i++) {
		void **place = &window[next(&seed) % WINDOW];

		free(*place);
		*place = malloc(mixed_size(&seed));
		keep(*place);
	}
	for (int i = 0; i < WINDOW; i++)
		free(window[i]);
	return NULL;
}

static void run_threads(void *(*work)(void *), long threads)
{
	pthread_t ids[64];

	for (long i = 1; i < threads && i < 64; i++)
		pthread_create(&ids[i], NULL, work, (void *)i);
	work(NULL);
	for (long i = 1; i < threads && i < 64; i++)
		pthread_join(ids[i], NULL);
}

static void pairs(void)
{
	run_threads(pairs_work, second ? second : 1);
}

/* Eight functions that call each other; the digits of `way` say which is next. */
typedef void *(*level)(uint64_t way, long left, size_t size);
static void *level0(uint64_t, long, size_t), *level1(uint64_t, long, size_t),
	*level2(uint64_t, long, size_t), *level3(uint64_t, long, size_t),
	*level4(uint64_t, long, size_t), *level5(uint64_t, long, size_t),
	*level6(uint64_t, long, size_t), *level7(uint64_t, long, size_t);
static const level levels[8] = { level0, level1, level2, level3, level4, level5, level6, level7 };

#define LEVEL(n)                                                                                   \
	static void *__attribute__((noinline)) level##n(uint64_t way, long left, size_t size)      \
	{                                                                                          \
		volatile char local[16 + 8 * n];                                                   \
		void *block;                                                                       \
                                                                                                   \
		local[n] = (char)left;                                                             \
		if (left <= 1)                                                                     \
			block = malloc(size + n);                                                  \
		else                                                                               \
			block = levels[way & 7]((way >> 3) | (way << 61), left - 1, size);         \
		keep(block);                                                                       \
		local[0] = local[n];                                                               \
		return block;                                                                      \
	}
LEVEL(0)
LEVEL(1)
LEVEL(2)
LEVEL(3)
LEVEL(4)
LEVEL(5)
LEVEL(6)
LEVEL(7)

static void deep(void)
{
	uint64_t seed = 1;
	void *window[WINDOW] = { NULL };

	for (long i = 0; i < count; i++) {
		uint64_t way = (next(&seed) % (uint64_t)(third ? third : 1) + 1) *
			       0x9e3779b97f4a7c15ull;
		void **place = &window[i % WINDOW];

		free(*place);
		*place = levels[way & 7](way >> 3, second, mixed_size(&seed));
	}
	for (int i = 0; i < WINDOW; i++)
		free(window[i]);
}

static void *short_work(void *argument)
{
	uint64_t seed = (uint64_t)(uintptr_t)argument + 1;
	void *blocks[16];

	for (int i = 0; i < 16; i++)
		blocks[i] = malloc(16 + next(&seed) % 512);
	for (int i = 0; i < 16; i++)
		free(blocks[i]);
	return NULL;
}

static void threads(void)
{
	for (long i = 0; i < count; i += 2) {
		pthread_t one, other;

		pthread_create(&one, NULL, short_work, (void *)i);
		pthread_create(&other, NULL, short_work, (void *)(i + 1));
		pthread_join(one, NULL);
		pthread_join(other, NULL);
	}
}

static void live(void)
{
	uint64_t seed = 7;

	for (long i = 0; i < second; i++)
		keep(malloc(mixed_size(&seed)));
	pairs_work(NULL);
}

/* At a rate of 2 every block of 100 bytes is a sample, and stays one afterwards. (1 would
 * be exact: from then on all frees are recorded.) */
static void held(void)
{
	struct timespec start, end;
	long pairs = count * (third ? third : 1);

	memprof_set_rate(2);
	free(malloc(1 << 17)); /* from here on the rate is known to this thread */
	for (long i = 0; i < second; i++)
		keep(malloc(100));
	memprof_set_rate(512 << 10);
	free(malloc(1 << 17));
	clock_gettime(CLOCK_MONOTONIC, &start);
	run_threads(pairs_work, third);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.2f\n", ((double)(end.tv_sec - start.tv_sec) * 1e9 +
			  (double)(end.tv_nsec - start.tv_nsec)) / (double)pairs);
}

static const struct {
	const char *name;
	void (*run)(void);
} loops[] = {
	{ "tight", tight },
	{ "pairs", pairs },
	{ "deep", deep },
	{ "threads", threads },
	{ "live", live },
	{ "held", held },
};

int main(int argc, char **argv)
{
	count = argc > 2 ? atol(argv[2]) : 0;
	second = argc > 3 ? atol(argv[3]) : 0;
	third = argc > 4 ? atol(argv[4]) : 0;
	for (size_t i = 0; argc > 1 && i < sizeof(loops) / sizeof(loops[0]); i++)
		if (!strcmp(loops[i].name, argv[1])) {
			loops[i].run();
			return 0;
		}
	fprintf(stderr, "usage: micro tight|pairs|deep|threads|live|held COUNT [N [M]]\n");
	return 2;
}
