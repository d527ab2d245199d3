/*
 * A heap with known answers for exports: blocks that stay, blocks that go, two
 * threads, a mapping of its own.
 *
 *	keep_forever  100 x 48, stay       churn_buffers  1000 x 256, freed at once
 *	(snapshot "kept")
 *	worker_keep   50 x 100, stay, by a thread named "worker" that has ended
 */
#include "memprof/memprof.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static void *volatile last;

__attribute__((noinline)) static void keep_forever(void)
{
	for (int i = 0; i < 100; i++)
		last = malloc(48);
}

__attribute__((noinline)) static void churn_buffers(void)
{
	for (int i = 0; i < 1000; i++) {
		last = malloc(256);
		free(last);
	}
}

__attribute__((noinline)) static void worker_keep(void)
{
	for (int i = 0; i < 50; i++)
		last = malloc(100);
}

static void *work(void *unused)
{
	pthread_setname_np(pthread_self(), "worker");
	worker_keep();
	return unused;
}

static void rest(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 40 * 1000 * 1000 }, NULL);
}

int main(void)
{
	pthread_t thread;

	keep_forever();
	memprof_snapshot("kept");
	rest();
	churn_buffers();
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	pthread_join(thread, NULL);
	rest();
	last = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return last == MAP_FAILED;
}
