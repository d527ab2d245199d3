/*
 * The functions that stand in the program's way: nothing else is here. Each
 * does the little that every call has to pay for, and jumps on: to the next
 * definition, or to the function that records the call. They are compiled
 * without a frame of their own and with tail calls, so that whoever is jumped
 * to sees the program as its caller.
 *
 * Before the first look at the settings the countdown is 0 and the routes lead
 * to the recording functions, which find out what there is to do.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "end_calls.h"
#include "heap_calls.h"
#include "map_calls.h"
#include "next.h"
#include "sampled_set.h"
#include "sampler.h"
#include "thread_state.h"

#define EXPORT __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Nothing but prototypes: some of these names are in no header of C. */
#define HOOK(result, name, parameters, arguments) EXPORT result name parameters;
#define NEW(name, parameters, arguments) EXPORT void *name parameters;
#define DELETE(name, parameters, arguments) EXPORT void name parameters;
#include "hooks.def"
EXPORT void *reallocarray(void *block, size_t count, size_t size);
EXPORT void *mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));
EXPORT void _Exit(int status) __attribute__((alias("_exit")));
EXPORT int execv(const char *path, char *const argv[]);
EXPORT int execvp(const char *file, char *const argv[]);
EXPORT int execl(const char *path, const char *first, ...);
EXPORT int execlp(const char *file, const char *first, ...);
EXPORT int execle(const char *path, const char *first, ...);

extern char **environ;

static inline bool passes(size_t size)
{
	return likely(sampler_passes(&thread_here.countdown, size));
}

EXPORT void *malloc(size_t size)
{
	if (passes(size))
		return next.malloc(size);
	return record_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
	uintptr_t caller = (uintptr_t)__builtin_return_address(0);
	size_t bytes;

	if (unlikely(next_module_has(&next_facts.loader, caller)))
		heap_look_at_loader(caller);
	if (unlikely(__builtin_mul_overflow(count, size, &bytes)) || passes(bytes))
		return next.calloc(count, size);
	return record_calloc(count, size);
}

EXPORT void *realloc(void *block, size_t size)
{
	if (likely(!sampled_set_may_hold(block)) && passes(size))
		return heap_routes.realloc(block, size);
	return record_realloc(block, size);
}

EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
	return record_reallocarray(block, count, size);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	if (passes(size))
		return next.memalign(alignment, size);
	return record_memalign(alignment, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	if (passes(size))
		return next.aligned_alloc(alignment, size);
	return record_aligned_alloc(alignment, size);
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
	if (passes(size))
		return next.posix_memalign(out, alignment, size);
	return record_posix_memalign(out, alignment, size);
}

EXPORT void *valloc(size_t size)
{
	if (passes(size))
		return next.valloc(size);
	return record_valloc(size);
}

EXPORT void *pvalloc(size_t size)
{
	if (passes(size))
		return next.pvalloc(size);
	return record_pvalloc(size);
}

/* NULL has no tag either: the next definition does nothing with it. */
EXPORT void free(void *block)
{
	if (unlikely(sampled_set_may_hold(block)))
		return record_free(block);
	return heap_routes.free(block);
}

EXPORT void cfree(void *block)
{
	if (unlikely(sampled_set_may_hold(block)))
		return record_free(block);
	return heap_routes.free(block);
}

EXPORT void free_sized(void *block, size_t size)
{
	(void)size;
	if (unlikely(sampled_set_may_hold(block)))
		return record_free(block);
	return heap_routes.free(block);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	if (unlikely(sampled_set_may_hold(block)))
		return record_free(block);
	return heap_routes.free(block);
}

/* libstdc++'s call malloc and free, which come by here again; those of an
 * allocator are its own way to a block. */
#define NEW(name, parameters, arguments)                                                           \
	EXPORT void *name parameters                                                               \
	{                                                                                          \
		if (unlikely(next_facts.allocator_has_new))                                        \
			return record_##name arguments;                                            \
		return next.name arguments;                                                        \
	}
#define DELETE(name, parameters, arguments)                                                        \
	EXPORT void name parameters                                                                \
	{                                                                                          \
		if (unlikely(next_facts.allocator_has_new))                                        \
			return record_##name arguments;                                            \
		return next.name arguments;                                                        \
	}
#include "hooks.def"

EXPORT void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	return record_mmap(at, bytes, prot, flags, fd, offset);
}

EXPORT int munmap(void *at, size_t bytes)
{
	return record_munmap(at, bytes);
}

EXPORT void *mremap(void *at, size_t bytes, size_t new_bytes, int flags, void *to)
{
	return record_mremap(at, bytes, new_bytes, flags, to);
}

EXPORT int brk(void *end)
{
	return record_brk(end);
}

EXPORT void *sbrk(intptr_t increment)
{
	return record_sbrk(increment);
}

EXPORT int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	return watch_prctl(option, a, b, c, d);
}

/* Nearly all pass, with their caller's stack as it is: vfork can come this way. */
EXPORT long syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (unlikely(number == SYS_seccomp || number == SYS_prctl))
		return watch_syscall(number, a, b, c, d, e, f);
	return next.syscall(number, a, b, c, d, e, f);
}

/* What the caller left out is whatever stands there, as for libc's. */
EXPORT int clone(int (*run)(void *), void *stack, int flags, void *argument, void *parent_tid,
		 void *tls, void *child_tid)
{
	return watch_clone(run, stack, flags, argument, parent_tid, tls, child_tid);
}

EXPORT int dlclose(void *handle)
{
	return watch_dlclose(handle);
}

EXPORT void _exit(int status)
{
	end_by_exit(status);
}

EXPORT void quick_exit(int status)
{
	end_by_quick_exit(status);
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	return end_by_execve(path, argv, envp);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return end_by_execvpe(file, argv, envp);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	return end_by_fexecve(fd, argv, envp);
}

EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
	return end_by_execveat(folder, path, argv, envp, flags);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const void *actions, const void *attributes,
		       char *const argv[], char *const envp[])
{
	return start_by_spawn(pid, path, actions, attributes, argv, envp);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const void *actions, const void *attributes,
			char *const argv[], char *const envp[])
{
	return start_by_spawnp(pid, file, actions, attributes, argv, envp);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return end_by_execve(path, argv, environ);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return end_by_execvpe(file, argv, environ);
}

/* Arguments one by one, up to NULL, as a list on our stack; one may follow. */
static size_t count_arguments(const char *first, va_list rest)
{
	size_t count = 0;

	for (const char *argument = first; argument; argument = va_arg(rest, const char *))
		count++;
	return count;
}

static void list_arguments(char **list, const char *first, va_list rest)
{
	for (const char *argument = first; argument; argument = va_arg(rest, const char *))
		*list++ = (char *)argument;
	*list = NULL;
}

#define LIST_ARGUMENTS(list, first, rest)                                                          \
	do {                                                                                       \
		va_start(rest, first);                                                             \
		list = alloca((count_arguments(first, rest) + 1) * sizeof(*list));                 \
		va_end(rest);                                                                      \
		va_start(rest, first);                                                             \
		list_arguments(list, first, rest);                                                 \
	} while (0)

EXPORT int execl(const char *path, const char *first, ...)
{
	va_list rest;
	char **list;

	LIST_ARGUMENTS(list, first, rest);
	va_end(rest);
	return end_by_execve(path, list, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list rest;
	char **list;

	LIST_ARGUMENTS(list, first, rest);
	va_end(rest);
	return end_by_execvpe(file, list, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	char *const *environment;
	va_list rest;
	char **list;

	va_start(rest, first);
	count_arguments(first, rest);
	environment = va_arg(rest, char *const *);
	va_end(rest);
	LIST_ARGUMENTS(list, first, rest);
	va_end(rest);
	return end_by_execve(path, list, environment);
}
