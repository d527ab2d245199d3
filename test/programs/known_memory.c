/*
 * Puts known amounts of memory into each place that the view `memory` tells
 * apart, then waits for a reading:
 *
 *	known_memory SECONDS
 *
 * heap: 40 MiB in blocks of 1000 bytes, and as much freed again between them;
 * one block of 16 MiB touched, one of 64 MiB never touched; own mappings: 24 MiB
 * touched of 32; shared: 8 MiB; globals: 4 MiB; a thread's stack: 2 MiB.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (1u << 20)

static char globals[4 * MIB] = { 1 };
static char *kept[2 * 40 * MIB / 1000];
static char *volatile large, *volatile untouched;
static volatile int stack_is_ready;

static void *use_stack(void *argument)
{
	volatile char frame[2 * MIB];
	size_t i;

	for (i = 0; i < sizeof(frame); i += 4096)
		frame[i] = 1;
	stack_is_ready = 1;
	sleep((unsigned)(size_t)argument);
	return (void *)(size_t)frame[4096];
}

static void fill_heap(void)
{
	size_t count = sizeof(kept) / sizeof(kept[0]), i;

	for (i = 0; i < count; i++)
		kept[i] = memset(malloc(1000), 1, 1000);
	for (i = 0; i < count; i += 2)
		free(kept[i]);
	large = memset(malloc(16 * MIB), 2, 16 * MIB);
	untouched = malloc(64 * MIB);
}

static void *map(size_t bytes, int flags)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
	pthread_t thread;

	memset(globals, 3, sizeof(globals));
	fill_heap();
	memset(map(32 * MIB, MAP_PRIVATE), 4, 24 * MIB);
	memset(map(8 * MIB, MAP_SHARED), 5, 8 * MIB);
	pthread_create(&thread, NULL, use_stack, (void *)(size_t)seconds);
	pthread_join(thread, NULL);
	return !stack_is_ready;
}
