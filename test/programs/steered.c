/*
 * Eight threads that allocate and free until standard input ends, to be steered
 * from outside meanwhile. Each keeps its last blocks in a ring, so that some are
 * live at any moment; at the end all are freed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 8
#define RING 64

static atomic_int stop;

static void *work(void *argument)
{
	unsigned seed = (unsigned)(size_t)argument, i = 0;
	void *ring[RING] = { 0 };

	while (!stop) {
		free(ring[i % RING]);
		seed = seed * 1103515245u + 12345u;
		ring[i++ % RING] = malloc(16 + (seed >> 16) % 2000);
		if (i % 128 == 0)
			usleep(2000);
	}
	for (i = 0; i < RING; i++)
		free(ring[i]);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	char byte;
	size_t i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	while (read(0, &byte, 1) > 0)
		;
	stop = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
