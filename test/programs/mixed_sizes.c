/*
 * Blocks from 8 bytes to 8 MiB, the small ones far more often, some of them
 * kept: what a sampler must estimate. Two threads in turn, four call sites: who
 * looks at the live heap in a call of one must not find the other within a free,
 * which is recorded before it is done and can be of 8 MiB.
 *
 *	mixed_sizes [COUNT [PLACES]]      PLACES: that hold a kept block
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static long count = 60000, places = 2048;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

/* Class k has blocks of 2^k to 2^(k+1) bytes; each is about 0.7 times as frequent as
 * the one before. */
static size_t mixed_size(uint64_t *seed)
{
	unsigned k = 3;

	while (k < 22 && next(seed) % 10 < 7)
		k++;
	return ((size_t)1 << k) + next(seed) % ((size_t)1 << k);
}

static void *__attribute__((noinline)) short_lived(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}

static void *__attribute__((noinline)) long_lived(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}

static void *__attribute__((noinline)) zeroed(size_t size)
{
	void *block = calloc(1, size);

	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}

static void *__attribute__((noinline)) grown(void *block, size_t size)
{
	block = realloc(block, size);
	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}

static void step(uint64_t *seed, void **place)
{
	size_t size = mixed_size(seed);

	switch (next(seed) % 8) {
	case 0:
		free(*place);
		*place = size < 1 << 16 ? long_lived(size) : NULL;
		break;
	case 1:
		*place = grown(*place, size % 4096 + 1);
		break;
	case 2:
		free(zeroed(size % 10000 + 1));
		break;
	default:
		free(short_lived(size));
	}
}

static void *work(void *argument)
{
	uint64_t seed = 77 + (uint64_t)(uintptr_t)argument;
	void **kept = calloc((size_t)places, sizeof(*kept));

	for (long i = 0; i < count; i++) {
		pthread_mutex_lock(&turn);
		step(&seed, &kept[next(&seed) % (uint64_t)places]);
		pthread_mutex_unlock(&turn);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	if (argc > 1)
		count = atol(argv[1]);
	if (argc > 2)
		places = atol(argv[2]);
	pthread_create(&other, NULL, work, (void *)1);
	work(NULL);
	pthread_join(other, NULL);
	return 0;
}
