/* FLAGS: -fno-builtin */
/*
 * An allocator made of layers, each of which calls the one below by its exported
 * name, as debugging allocators do: what the program asks for passes memprof once,
 * and what the allocator asks itself for passes it again.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_BYTES (4ull << 30)

struct head {
	void *base; /* what the layer below gave, NULL: this is the lowest */
	size_t size;
};

static uint64_t used;

void *memalign(size_t alignment, size_t size);
void *malloc(size_t size);
void *realloc(void *block, size_t size);
void free(void *block);
int posix_memalign(void **out, size_t alignment, size_t size);

static char *the_arena(void)
{
	static char *arena;

	if (!arena)
		arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return arena;
}

static struct head *head_of(void *block)
{
	return (struct head *)block - 1;
}

/* The lowest layer. */
void *memalign(size_t alignment, size_t size)
{
	uintptr_t at;
	uint64_t begin;

	if (alignment < 16)
		alignment = 16;
	if (size > ARENA_BYTES / 2) {
		errno = ENOMEM;
		return NULL;
	}
	begin = __atomic_fetch_add(&used, size + 32 + alignment, __ATOMIC_RELAXED);
	if (begin + size + 32 + alignment > ARENA_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	at = ((uintptr_t)the_arena() + begin + sizeof(struct head) + alignment - 1) &
	     ~(alignment - 1);
	*head_of((void *)at) = (struct head){ NULL, size };
	return (void *)at;
}

/* Inside a larger block of another's, with a guard in front. */
void *malloc(size_t size)
{
	char *base = size > ARENA_BYTES / 2 ? NULL : memalign(16, size + 64);

	if (!base) {
		errno = ENOMEM;
		return NULL;
	}
	*head_of(base + 32) = (struct head){ base, size };
	return base + 32;
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	block = malloc(bytes);
	return block ? memset(block, 0, bytes) : NULL;
}

void *realloc(void *block, size_t size)
{
	void *fresh;

	if (block && !size) {
		free(block);
		return NULL;
	}
	fresh = malloc(size);
	if (fresh && block) {
		size_t old = head_of(block)->size;

		memcpy(fresh, block, old < size ? old : size);
		free(block);
	}
	return fresh;
}

void free(void *block)
{
	if (block && head_of(block)->base)
		free(head_of(block)->base);
}

void cfree(void *block)
{
	free(block);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *block;

	if (alignment % sizeof(void *) || alignment & (alignment - 1) || !alignment)
		return EINVAL;
	block = memalign(alignment, size);
	if (!block)
		return ENOMEM;
	*out = block;
	return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	void *block = NULL;
	int error = posix_memalign(&block, alignment, size);

	if (error)
		errno = error;
	return block;
}

void *valloc(size_t size)
{
	return memalign(4096, size);
}

void *pvalloc(size_t size)
{
	return memalign(4096, (size + 4095) & ~4095ul);
}

/* operator new and delete, but for their exceptions. */
void *_Znwm(size_t size);
void *_Znam(size_t size);
void _ZdlPv(void *block);
void _ZdlPvm(void *block, size_t size);
void _ZdaPv(void *block);

void *_Znwm(size_t size)
{
	return malloc(size);
}

void *_Znam(size_t size)
{
	return _Znwm(size);
}

void _ZdlPv(void *block)
{
	free(block);
}

void _ZdlPvm(void *block, size_t size)
{
	(void)size;
	_ZdlPv(block);
}

void _ZdaPv(void *block)
{
	_ZdlPv(block);
}
