/*
 * Recording stopped, started and given other rates a thousand times while eight
 * threads allocate without a pause; what an estimate must come to is known:
 *
 *	main      stop . start  rate  ............  rate .......... stop . start
 *	thread    other() ....  notice()  counted() x BLOCKS  other() ..........
 *
 * A thread sees a start at the latest when it has allocated 64 KiB, so it does
 * that first. What it takes from counted() is recorded from the first block to
 * the last; every other block is kept until the next round, all of the last
 * round to the end. The rate changes in the middle of it.
 *
 *	flips ROUNDS       prints "blocks bytes live_blocks live_bytes" of counted()
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "memprof/memprof.h"

#define THREADS 8
#define BLOCKS 40
#define NOTICE (64 * 1024 + 1)

static atomic_long round_open; /* threads may allocate for this round */
static atomic_int done_count;
static atomic_int is_over;
static long rounds = 1000;

struct thread {
	pthread_t id;
	uint64_t seed, blocks, bytes, live_blocks, live_bytes;
	void *kept[BLOCKS];
};

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static void keep(void *block)
{
	__asm__ volatile("" : : "r"(block) : "memory");
}

__attribute__((noinline)) static void *counted(size_t size)
{
	void *block = malloc(size);

	keep(block);
	return block;
}

__attribute__((noinline)) static void other(size_t size)
{
	void *block = malloc(size);

	keep(block);
	free(block);
}

__attribute__((noinline)) static void notice(void)
{
	void *block = malloc(NOTICE);

	keep(block);
	free(block);
}

/* All blocks of the last round stay, else every other one is freed at once. */
static void take_round(struct thread *thread, long number)
{
	notice();
	for (int i = 0; i < BLOCKS; i++)
		free(thread->kept[i]);
	thread->live_blocks = thread->live_bytes = 0;
	for (int i = 0; i < BLOCKS; i++) {
		size_t size = 16 + next(&thread->seed) % 2000;
		void *block = counted(size);

		thread->blocks++;
		thread->bytes += size;
		if (number < rounds && i % 2) {
			free(block);
			block = NULL;
		}
		thread->kept[i] = block;
		thread->live_blocks += block != NULL;
		thread->live_bytes += block ? size : 0;
	}
}

static void *work(void *argument)
{
	struct thread *thread = argument;
	long seen = 0;

	while (!is_over) {
		for (int i = 0; i < 16; i++)
			other(16 + next(&thread->seed) % 500);
		if (round_open == seen) {
			sched_yield(); /* more threads than processors: let them turn up */
			continue;
		}
		take_round(thread, ++seen);
		done_count++;
	}
	return NULL;
}

static void flip(long number)
{
	static const uint64_t rates[] = { 4096, 1024, 16384, 1, 65536, 2048, 512 };
	const size_t count = sizeof(rates) / sizeof(*rates);

	memprof_stop();
	memprof_set_rate(rates[number % count]);
	memprof_start();
	done_count = 0;
	round_open = number;
	while (done_count < THREADS / 2)
		sched_yield();
	memprof_set_rate(rates[(number + number / count) % count]);
	while (done_count < THREADS)
		sched_yield();
}

int main(int argc, char **argv)
{
	static struct thread threads[THREADS];
	struct thread sum = { 0 };

	if (argc > 1)
		rounds = atol(argv[1]);
	for (int i = 0; i < THREADS; i++) {
		threads[i].seed = (uint64_t)i;
		pthread_create(&threads[i].id, NULL, work, &threads[i]);
	}
	for (long number = 1; number <= rounds; number++)
		flip(number);
	is_over = 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i].id, NULL);
		sum.blocks += threads[i].blocks;
		sum.bytes += threads[i].bytes;
		sum.live_blocks += threads[i].live_blocks;
		sum.live_bytes += threads[i].live_bytes;
	}
	printf("%ju %ju %ju %ju\n", (uintmax_t)sum.blocks, (uintmax_t)sum.bytes,
	       (uintmax_t)sum.live_blocks, (uintmax_t)sum.live_bytes);
	return 0;
}
