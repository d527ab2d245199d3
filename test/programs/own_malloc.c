/* FLAGS: -rdynamic -fno-builtin */
/*
 * A program with a malloc of its own: what it gives can't be seen from outside.
 */
#include <stddef.h>

static char arena[1 << 20] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t bytes)
{
	void *block = arena + used;

	used += (bytes + 15) & ~(size_t)15;
	return used <= sizeof(arena) ? block : NULL;
}

void free(void *block)
{
	(void)block;
}

int main(void)
{
	char *volatile text = malloc(10);

	text[0] = 0;
	free(text);
	return 0;
}
