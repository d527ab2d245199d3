/*
 * A program to be gated: many short-lived blocks, a few that stay by design.
 *
 *	gated ROUNDS [leak]
 *
 * With "leak" one block of 24 bytes is lost in the middle. MOVED, a macro,
 * moves all lines below it, as an edit would.
 */
#include <stdlib.h>
#include <string.h>

#ifdef MOVED
static volatile int moved;

static void unrelated(void)
{
	moved++;
}
#else
#define unrelated()
#endif

static char *volatile kept[4];
static void *volatile sink;

__attribute__((noinline)) static void lose(void)
{
	sink = malloc(24);
	sink = NULL;
}

__attribute__((noinline)) static void keep(int i)
{
	kept[i] = strdup("stays for the life of the process");
}

__attribute__((noinline)) static void work(long i)
{
	sink = malloc((size_t)(16 + i % 100));
	free(sink);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000, i;

	for (i = 0; i < 4; i++)
		keep((int)i);
	for (i = 0; i < rounds; i++) {
		if (i == rounds / 2 && argc > 2 && !strcmp(argv[2], "leak"))
			lose();
		work(i);
	}
	unrelated();
	return 0;
}
