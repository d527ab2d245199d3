/*
 * The floor under every profiler that is preloaded: forwards each call of the
 * allocation family to the next definition and does nothing else.
 */
#include <dlfcn.h>
#include <stddef.h>

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static void *(*next_memalign)(size_t, size_t);

static void __attribute__((constructor, noinline)) find(void)
{
	next_calloc = dlsym(RTLD_NEXT, "calloc");
	next_realloc = dlsym(RTLD_NEXT, "realloc");
	next_free = dlsym(RTLD_NEXT, "free");
	next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	next_memalign = dlsym(RTLD_NEXT, "memalign");
	next_malloc = dlsym(RTLD_NEXT, "malloc");
}

#define FORWARD(name, arguments)                                                                   \
	do {                                                                                       \
		if (__builtin_expect(!next_##name, 0))                                             \
			find();                                                                    \
		return next_##name arguments;                                                      \
	} while (0)

void *malloc(size_t size)
{
	FORWARD(malloc, (size));
}

void *calloc(size_t count, size_t size)
{
	FORWARD(calloc, (count, size));
}

void *realloc(void *old, size_t size)
{
	FORWARD(realloc, (old, size));
}

void free(void *block)
{
	FORWARD(free, (block));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	FORWARD(posix_memalign, (block, alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	FORWARD(aligned_alloc, (alignment, size));
}

void *memalign(size_t alignment, size_t size)
{
	FORWARD(memalign, (alignment, size));
}
