/*
 * Millions of events in which all that a window can cut through happens: threads
 * that free each other's blocks, reallocs, mappings, scopes, a leak, a peak in the
 * middle, a pause, blocks that outlive the phase they were born in.
 *
 *	phases [PAIRS]          so many allocations by each of three threads, 600000
 */
#include "memprof/memprof.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS 256

static long pairs = 600000;
static void *handed_over[64];

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

__attribute__((noinline)) static void *make_small(uint64_t random)
{
	return malloc(random % 200);
}

__attribute__((noinline)) static void *make_large(uint64_t random)
{
	return calloc(1, 1 << random % 16);
}

__attribute__((noinline)) static void *lose(void)
{
	return malloc(48);
}

__attribute__((noinline)) static void touch_and_go(uint64_t random)
{
	void *volatile block = malloc(random % 512);

	free(block);
}

/* What one thread puts there another may take. */
static void hand_over(void *block, uint64_t random)
{
	free(__atomic_exchange_n(&handed_over[random % 64], block, __ATOMIC_ACQ_REL));
}

static void *work(void *number)
{
	void *blocks[SLOTS] = { 0 };
	uint64_t seed = (uintptr_t)number + 1;
	size_t line = 16;
	char *text = malloc(line);

	for (long i = 0; i < pairs; i++) {
		uint64_t random = next(&seed);
		unsigned at = random % SLOTS;

		switch (random >> 8 & 15) {
		case 0:
			hand_over(make_small(random >> 12), random >> 20);
			break;
		case 1:
			text = realloc(text, line = line > 4000 ? 16 : line * 2);
			break;
		case 2:
		case 3:
			touch_and_go(random >> 12);
			break;
		case 4:
			free(blocks[at]);
			blocks[at] = make_large(random >> 12);
			break;
		default:
			free(blocks[at]);
			blocks[at] = make_small(random >> 12);
		}
		if (i % 1000 == 0)
			lose();
	}
	for (unsigned i = 0; i < SLOTS; i++)
		free(blocks[i]);
	free(text);
	return NULL;
}

static void *maps(void *unused)
{
	for (int i = 0; i < 100; i++) {
		char *map = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		usleep(500);
		munmap(map + 4096 * (i % 8), 4096);
		if (i % 3)
			munmap(map, 1 << 16);
	}
	return unused;
}

static void run_threads(void)
{
	pthread_t threads[4];

	for (intptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	pthread_create(&threads[3], NULL, maps, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	static void *many[20000];

	if (argc > 1)
		pairs = atol(argv[1]);
	memprof_snapshot("begin");
	run_threads();
	memprof_scope_begin("peak");
	for (int i = 0; i < 20000; i++)
		many[i] = make_large(5);
	memprof_snapshot("full");
	usleep(20000);
	for (int i = 0; i < 20000; i++)
		free(many[i]);
	memprof_scope_end();
	run_threads();
	memprof_snapshot("late");
	for (int i = 0; i < 64; i++)
		free(handed_over[i]);
	return 0;
}
