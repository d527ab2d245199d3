/*
 * An allocator that may be interrupted anywhere and called from signal handlers:
 * it only ever moves one pointer. Programs linked with it can allocate where
 * libc's malloc would deadlock, which leaves memprof as the only thing that a
 * signal or a jump can hit in a bad moment.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_BYTES (8ull << 30)

static char *arena;
static uint64_t used;

static char *the_arena(void)
{
	char *now = __atomic_load_n(&arena, __ATOMIC_ACQUIRE), *fresh;

	if (now)
		return now;
	fresh = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (__atomic_compare_exchange_n(&arena, &now, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	munmap(fresh, ARENA_BYTES);
	return now;
}

/* Not by way of an exported function: those are memprof's first. */
static void *take(size_t alignment, size_t size)
{
	uint64_t at, start;

	if (alignment < 16)
		alignment = 16;
	at = __atomic_fetch_add(&used, size + 16 + alignment, __ATOMIC_RELAXED);
	if (size > ARENA_BYTES || at + size + 16 + alignment > ARENA_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	start = ((uintptr_t)the_arena() + at + 16 + alignment - 1) & ~(alignment - 1);
	((uint64_t *)start)[-1] = size;
	return (void *)start;
}

void *memalign(size_t alignment, size_t size)
{
	return take(alignment, size);
}

void *malloc(size_t size)
{
	return take(16, size);
}

void *calloc(size_t count, size_t size)
{
	return take(16, count * size);
}

void *realloc(void *block, size_t size)
{
	void *fresh = take(16, size);
	size_t old = block ? ((uint64_t *)block)[-1] : 0;

	if (fresh && block)
		memcpy(fresh, block, old < size ? old : size);
	return fresh;
}

void free(void *block)
{
	(void)block;
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	*out = take(alignment, size);
	return *out ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return take(alignment, size);
}
