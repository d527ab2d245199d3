/*
 * Threads that allocate, reallocate and free without end and say in shared
 * memory how far they are, to be killed at any moment:
 *
 *	busy_log LOGFILE THREADS
 *
 * Thread t's n-th operation (n from 1) follows from n alone, see step(). The log
 * has a row per thread: tid, operations begun, operations done. Both are
 * written to a shared mapping, so they are true to the last instruction.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIVE 32 /* blocks a thread keeps */

struct row {
	uint64_t tid, begun, done, pause;
} __attribute__((aligned(64)));

static struct row *rows;

/* Operation n of thread t: place n / 3 % LIVE gets a block, the block grows, and
 * the block LIVE / 2 places further on goes. Sizes tell n: 8 + n % 4093. */
static void step(void **live, uint64_t n)
{
	size_t size = 8 + n % 4093;
	void **place = &live[n / 3 % LIVE];
	void **other = &live[(n / 3 + LIVE / 2) % LIVE];

	switch (n % 3) {
	case 0:
		*place = malloc(size);
		memset(*place, 1, 8);
		break;
	case 1:
		*place = realloc(*place, size);
		break;
	default:
		free(*other);
		*other = NULL;
	}
}

static void *work(void *argument)
{
	struct row *row = argument;
	void *live[LIVE] = { NULL };

	__atomic_store_n(&row->tid, (uint64_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (uint64_t n = 3;; n++) { /* from the first malloc on */
		row->begun = n;
		__asm__ volatile("" ::: "memory");
		step(live, n);
		__asm__ volatile("" ::: "memory");
		row->done = n;
		for (uint64_t i = 0; i < row->pause; i++)
			__asm__ volatile("");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 4;
	int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;

	rows = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || rows == MAP_FAILED || threads < 1 || threads > 32)
		return 2;
	for (int i = 1; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, &rows[i]))
			return 3;
	}
	work(&rows[0]);
	return 0;
}
