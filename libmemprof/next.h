/*
 * The next definition of every hooked function in the search order: libc's, or
 * that of an allocator preloaded or linked behind us. Found when first needed,
 * which may be before any constructor has run.
 *
 * `next` holds the functions themselves; until they are found each entry is a
 * stub that finds them and calls on. Blocks that the search itself asks for
 * (dlsym may allocate) come from the boot arena, a piece of our own memory: they
 * are never handed to the real free, and never recorded.
 */
#ifndef LIBMEMPROF_NEXT_H
#define LIBMEMPROF_NEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct next {
#define HOOK(result, name, parameters, arguments) result (*name) parameters;
#define NEW(name, parameters, arguments) void *(*name) parameters;
#define DELETE(name, parameters, arguments) void (*name) parameters;
#include "hooks.def"
};

extern struct next next __attribute__((visibility("hidden")));

/* A loaded module's address range. */
struct next_module {
	uintptr_t start;
	uintptr_t end;
};

/* What the search found out; valid once next_find has returned true. */
struct next_facts {
	struct next_module allocator; /* the module that has the next malloc */
	struct next_module loader;    /* ld.so */
	bool allocator_is_libc;
	bool allocator_has_new;       /* it defines operator new itself */
	bool own_malloc;              /* the program's malloc stands before ours */
	char own_malloc_path[512];    /* the module that has it */
	char allocator_path[512];
};

extern struct next_facts next_facts __attribute__((visibility("hidden")));

/* Finds everything; any thread, any number of times. false: a search is going
 * on further up this thread's stack. */
bool next_find(void);

extern __thread bool next_searching;

/* Does @block come from the boot arena? */
bool boot_arena_has(const void *block);

/* How much of the arena lies behind @block: an upper bound of its size. */
size_t boot_arena_rest(const void *block);

static inline bool next_module_has(const struct next_module *module, uintptr_t address)
{
	return address - module->start < module->end - module->start;
}

#endif
