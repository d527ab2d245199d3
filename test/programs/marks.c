/*
 * Takes a snapshot between any two calls: after the n-th block "n<n>", and after
 * each second one is freed again. What is live at each is known.
 */
#include <stdio.h>
#include <stdlib.h>

#include "memprof/memprof.h"

#define BLOCKS 60

static char *blocks[BLOCKS];

__attribute__((noinline)) static char *take(size_t bytes)
{
	return malloc(bytes);
}

int main(void)
{
	char name[16];
	int i;

	for (i = 0; i < BLOCKS; i++) {
		blocks[i] = take(100);
		snprintf(name, sizeof(name), "n%d", i + 1);
		memprof_snapshot(name);
	}
	for (i = 0; i < BLOCKS; i += 2) {
		free(blocks[i]);
		snprintf(name, sizeof(name), "n%d", BLOCKS - 1 - i / 2);
		memprof_snapshot(name);
	}
	return blocks[1] == NULL;
}
