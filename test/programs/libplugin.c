/* What cases.c loads and drops again and again. */
#include <stdlib.h>

__attribute__((noinline)) void *plugin_work(size_t size);
void *plugin_work(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("" : "+r"(block)::"memory");
	return block;
}
