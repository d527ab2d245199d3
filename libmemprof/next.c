/*
 * Finds the next definitions with dlsym(RTLD_NEXT). Three things make it more
 * than a loop over a table:
 *
 *   - A hook can be called before our constructor, and dlsym can call hooks: so
 *     each entry of `next` starts as a stub that searches, and while a search is
 *     on, allocations are served from the boot arena.
 *   - Nothing is published before all of it is known: a malloc from one
 *     allocator must not meet a free from another.
 *   - A C program that loads a C++ plug-in privately has no operator new behind
 *     ours in the search order, but the plug-in's calls come to us first. Its
 *     own definition is looked for when that happens.
 */
#define _GNU_SOURCE
#include "next.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "os.h"
#include "sampled_set.h"
#include "thread_state.h"

#define BOOT_ARENA_BYTES 65536

struct next_facts next_facts;
__thread bool next_searching;

static _Alignas(4096) char boot_arena[BOOT_ARENA_BYTES];
static size_t boot_arena_used;

/* Each block is preceded by nothing: its size is not kept, see boot_arena_rest.
 * The arena is zero, so this serves calloc as well. */
static void *boot_arena_take(size_t alignment, size_t size)
{
	size_t used = __atomic_load_n(&boot_arena_used, __ATOMIC_RELAXED);
	size_t start, end;

	if (alignment < 16)
		alignment = 16;
	do {
		start = (used + alignment - 1) & ~(alignment - 1);
		if (start > BOOT_ARENA_BYTES || size > BOOT_ARENA_BYTES - start) {
			errno = ENOMEM;
			return NULL;
		}
		end = start + (size ? size : 1);
	} while (!__atomic_compare_exchange_n(&boot_arena_used, &used, end, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	/* free and realloc look closer at what has a tag: no test of their own. */
	sampled_set_pin(boot_arena + start, size);
	return boot_arena + start;
}

bool boot_arena_has(const void *block)
{
	return (uintptr_t)block - (uintptr_t)boot_arena < BOOT_ARENA_BYTES;
}

size_t boot_arena_rest(const void *block)
{
	return BOOT_ARENA_BYTES - (size_t)((uintptr_t)block - (uintptr_t)boot_arena);
}

/* ---- the stubs that stand in `next` until the search is done ---- */

#define HOOK(result, name, parameters, arguments) static result first_##name parameters;
#define NEW(name, parameters, arguments) static void *first_##name parameters;
#define DELETE(name, parameters, arguments) static void first_##name parameters;
#include "hooks.def"

struct next next = {
#define HOOK(result, name, parameters, arguments) .name = first_##name,
#define NEW(name, parameters, arguments) .name = first_##name,
#define DELETE(name, parameters, arguments) .name = first_##name,
#include "hooks.def"
};

static void *first_malloc(size_t size)
{
	return next_find() ? next.malloc(size) : boot_arena_take(16, size);
}

static void *first_calloc(size_t count, size_t size)
{
	size_t bytes;

	if (next_find())
		return next.calloc(count, size);
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return boot_arena_take(16, bytes);
}

static void *first_realloc(void *block, size_t size)
{
	/* What the arena gave is dealt with before it comes here. */
	if (next_find())
		return next.realloc(block, size);
	return block ? NULL : boot_arena_take(16, size);
}

static void *first_memalign(size_t alignment, size_t size)
{
	return next_find() ? next.memalign(alignment, size) : boot_arena_take(alignment, size);
}

static void *first_aligned_alloc(size_t alignment, size_t size)
{
	return next_find() ? next.aligned_alloc(alignment, size) :
			     boot_arena_take(alignment, size);
}

static int first_posix_memalign(void **out, size_t alignment, size_t size)
{
	if (next_find())
		return next.posix_memalign(out, alignment, size);
	*out = boot_arena_take(alignment, size);
	return *out ? 0 : ENOMEM;
}

static void *first_valloc(size_t size)
{
	return next_find() ? next.valloc(size) : boot_arena_take(4096, size);
}

static void *first_pvalloc(size_t size)
{
	return next_find() ? next.pvalloc(size) : boot_arena_take(4096, size);
}

/* Freed during the search but not from the arena: nobody knows its owner yet. */
static void first_free(void *block)
{
	if (next_find())
		next.free(block);
}

static void first_cfree(void *block)
{
	if (next_find())
		next.cfree(block);
}

static void first_free_sized(void *block, size_t size)
{
	if (next_find())
		next.free_sized(block, size);
}

static void first_free_aligned_sized(void *block, size_t alignment, size_t size)
{
	if (next_find())
		next.free_aligned_sized(block, alignment, size);
}

/* The search itself calls none of these. */
#define HOOK(result, name, parameters, arguments)
#define PLAIN(result, name, parameters, arguments, failure)                                        \
	static result first_##name parameters                                                      \
	{                                                                                          \
		return next_find() ? next.name arguments : failure;                                \
	}
#include "hooks.def"

/* ---- fallbacks, for a libc that lacks a function ---- */

static void plain_free_sized(void *block, size_t size)
{
	(void)size;
	next.free(block);
}

static void plain_free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	next.free(block);
}

static void complete(struct next *found)
{
	if (!found->cfree)
		found->cfree = found->free;
	if (!found->free_sized)
		found->free_sized = plain_free_sized;
	if (!found->free_aligned_sized)
		found->free_aligned_sized = plain_free_aligned_sized;
}

/* ---- operator new and delete without a definition in the search order ---- */

static struct next_module module_of(const void *address, char *path, size_t path_bytes);

/* @name by the eyes of a loaded file, NULL when it doesn't see one but ours. What
 * is found stays loaded; the file itself may go. */
static void *definition_seen_from(const char *file, const char *name)
{
	struct next_module mine = module_of(&next, NULL, 0);
	void *handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle ? dlsym(handle, name) : NULL;
	Dl_info info;

	if (next_module_has(&mine, (uintptr_t)found))
		found = NULL;
	if (found && dladdr(found, &info))
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (handle)
		dlclose(handle);
	return found;
}

/*
 * The plug-in that called can have a definition of its own or reach one by what
 * it was linked with, so it is asked first; then the two C++ libraries. One form
 * can call another by a jump: its caller then is ourselves, who see nothing but
 * our hooks.
 */
static void *private_definition(const char *name, const void *caller)
{
	static const char *const libraries[] = { "libstdc++.so.6", "libc++.so.1" };
	void *found = NULL;
	Dl_info info;

	thread_outside_begin();
	if (dladdr(caller, &info) && info.dli_fname)
		found = definition_seen_from(info.dli_fname, name);
	for (unsigned i = 0; !found && i < 2; i++)
		found = definition_seen_from(libraries[i], name);
	thread_outside_end();
	return found;
}

static void *plain_new(size_t size)
{
	return next.malloc(size ? size : 1);
}

#define NEW(name, parameters, arguments)                                                           \
	static void *first_##name parameters                                                       \
	{                                                                                          \
		void *definition = NULL;                                                           \
                                                                                                   \
		if (next_find() && next.name != first_##name)                                      \
			return next.name arguments;                                                \
		if (!next_searching)                                                               \
			definition = private_definition(#name, __builtin_return_address(0));       \
		if (!definition)                                                                   \
			return plain_new(size);                                                    \
		next.name = (__typeof__(next.name))definition;                                     \
		return next.name arguments;                                                        \
	}
#define DELETE(name, parameters, arguments)                                                        \
	static void first_##name parameters                                                        \
	{                                                                                          \
		void *definition = NULL;                                                           \
                                                                                                   \
		if (next_find() && next.name != first_##name)                                      \
			return next.name arguments;                                                \
		if (!next_searching)                                                               \
			definition = private_definition(#name, __builtin_return_address(0));       \
		if (!definition)                                                                   \
			return next.free(block);                                                   \
		next.name = (__typeof__(next.name))definition;                                     \
		next.name arguments;                                                               \
	}
#include "hooks.def"

/* ---- the search ---- */

static struct next_module module_of(const void *address, char *path, size_t path_bytes)
{
	struct next_module module = { 0, 0 };
	struct dl_find_object found;
	const char *name;

	if (_dl_find_object((void *)address, &found))
		return module;
	module.start = (uintptr_t)found.dlfo_map_start;
	module.end = (uintptr_t)found.dlfo_map_end;
	name = found.dlfo_link_map->l_name;
	if (!path_bytes)
		return module;
	text_format(path, path_bytes, "%s", name[0] ? name : "/proc/self/exe");
	return module;
}

/* Is @address a definition, not just the stub by which a program linked at a
 * fixed place calls (and compares) a function of a library? */
static bool is_definition(const void *address)
{
	const Elf64_Sym *symbol = NULL;
	Dl_info info;

	if (!dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT))
		return true;
	return !symbol || symbol->st_shndx != SHN_UNDEF;
}

static void learn(struct next_facts *facts, const struct next *found)
{
	const void *first = dlsym(RTLD_DEFAULT, "malloc");
	struct next_module mine = module_of(&next, NULL, 0);
	const char *libc;

	facts->allocator = module_of((void *)found->malloc, facts->allocator_path,
				     sizeof facts->allocator_path);
	facts->loader = module_of((void *)_r_debug.r_brk, NULL, 0);
	libc = dlsym(RTLD_NEXT, "gnu_get_libc_version");
	facts->allocator_is_libc = next_module_has(&facts->allocator, (uintptr_t)libc);
	facts->allocator_has_new =
		found->_Znwm &&
		next_module_has(&facts->allocator, (uintptr_t)found->_Znwm);
	facts->own_malloc = first && !next_module_has(&mine, (uintptr_t)first) &&
			    is_definition(first);
	if (facts->own_malloc)
		module_of(first, facts->own_malloc_path, sizeof facts->own_malloc_path);
}

/* Entries without a definition keep their stub, which knows what to do. */
static void publish(const struct next *found)
{
#define HOOK(result, name, parameters, arguments)                                                  \
	if (found->name)                                                                           \
		__atomic_store_n(&next.name, found->name, __ATOMIC_RELEASE);
#define NEW(name, parameters, arguments) HOOK(, name, , )
#define DELETE(name, parameters, arguments) HOOK(, name, , )
#include "hooks.def"
}

bool next_find(void)
{
	static bool is_found;
	struct next found;
	struct next_facts facts = { 0 };

	if (__atomic_load_n(&is_found, __ATOMIC_ACQUIRE))
		return true;
	if (next_searching)
		return false;
	next_searching = true;
#define HOOK(result, name, parameters, arguments)                                                  \
	found.name = (__typeof__(found.name))dlsym(RTLD_NEXT, #name);
#define NEW(name, parameters, arguments) HOOK(, name, , )
#define DELETE(name, parameters, arguments) HOOK(, name, , )
#include "hooks.def"
	complete(&found);
	learn(&facts, &found);
	dlerror(); /* what a missing function left there is not the program's error */
	next_facts = facts;
	publish(&found);
	__atomic_store_n(&is_found, true, __ATOMIC_RELEASE);
	next_searching = false;
	return true;
}
