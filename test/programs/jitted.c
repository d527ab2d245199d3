/*
 * Makes two functions at run time, as a just-in-time compiler would, tells their
 * names in /tmp/perf-PID.map, and lets each of them allocate. On another processor
 * than x86-64 there is nothing to show: it ends with 77.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUNCTION_BYTES 64

#ifdef __x86_64__
/* push %rbp; mov %rsp,%rbp; movabs $malloc,%rax; call *%rax; pop %rbp; ret */
static void make_function(uint8_t *at)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0,
					0,    0,    0,    0xff, 0xd0, 0x5d, 0xc3 };
	void *target = (void *)malloc;

	memcpy(at, code, sizeof(code));
	memcpy(at + 6, &target, sizeof(target));
}

static void *call(uint8_t *at, size_t size)
{
	void *(*function)(size_t);

	memcpy(&function, &at, sizeof(function));
	return function(size);
}

int main(void)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	if (code == MAP_FAILED)
		return 77;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	make_function(code);
	make_function(code + FUNCTION_BYTES);
	fprintf(map, "%lx %x Jit:one with a space\n", (unsigned long)code, FUNCTION_BYTES);
	fprintf(map, "%lx %x Jit:two\n", (unsigned long)(code + FUNCTION_BYTES), FUNCTION_BYTES);
	printf("%s\n", path);
	return fclose(map) || !call(code, 1000) || !call(code + FUNCTION_BYTES, 2000);
}
#else
int main(void)
{
	return 77;
}
#endif
