/*
 * Eight threads in a ring: each allocates blocks and hands them to the next,
 * which grows some, keeps a few and frees the rest. What it prints is known
 * beforehand; who runs when is not.
 *
 *	pass_blocks [BLOCKS EACH]
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8
#define PLACES 64
#define KEEP_EACH 1000 /* every 1000th block stays */

struct ring {
	void *places[PLACES]; /* NULL: free; written by the sender, taken by the receiver */
	uint64_t kept;
} __attribute__((aligned(64)));

static struct ring rings[THREADS];
static unsigned blocks_each = 50000;

static size_t size_of(unsigned i)
{
	return 1 + (i * 7919u) % 600;
}

static void send(struct ring *ring, unsigned i)
{
	void **place = &ring->places[i % PLACES];
	char *block = malloc(size_of(i));

	memset(block, (int)i, size_of(i));
	while (__atomic_load_n(place, __ATOMIC_ACQUIRE))
		sched_yield();
	__atomic_store_n(place, block, __ATOMIC_RELEASE);
}

static int receive(struct ring *ring, unsigned i)
{
	void **place = &ring->places[i % PLACES];
	char *block = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	if (!block)
		return 0;
	__atomic_store_n(place, NULL, __ATOMIC_RELEASE);
	if (i % 5 == 0)
		block = realloc(block, size_of(i) * 2);
	if (block[0] != (char)i)
		abort();
	if (i % KEEP_EACH == 0)
		ring->kept += size_of(i) * 2;
	else
		free(block);
	return 1;
}

static void *work(void *argument)
{
	size_t me = (size_t)argument;
	struct ring *to = &rings[(me + 1) % THREADS], *from = &rings[me];
	unsigned sent = 0, received = 0;

	while (sent < blocks_each || received < blocks_each) {
		/* At most PLACES - 1 ahead of the one behind: nobody waits in a circle. */
		if (sent < blocks_each && sent < received + PLACES - 1)
			send(to, sent++);
		if (received < blocks_each && !receive(from, received))
			sched_yield();
		else
			received += received < blocks_each;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	uint64_t kept = 0;

	if (argc > 1)
		blocks_each = (unsigned)atoi(argv[1]);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < THREADS; i++)
		kept += rings[i].kept;
	printf("%d threads, %u blocks each, %llu bytes kept\n", THREADS, blocks_each,
	       (unsigned long long)kept);
	return 0;
}
