/*
 * What a hook of the malloc family does when it can't just forward: the same
 * call, recorded. A hook jumps here (it has no frame of its own), so the caller
 * seen from here is the program.
 */
#ifndef LIBMEMPROF_HEAP_CALLS_H
#define LIBMEMPROF_HEAP_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a free and a realloc go that concern no sample: to the next definition,
 * or, while every free has to be recorded, to the recording one.
 */
struct heap_routes {
	void (*free)(void *block);
	void *(*realloc)(void *block, size_t size);
};

extern struct heap_routes heap_routes __attribute__((visibility("hidden")));

/* In the library's constructor: finds out whether to record. */
void heap_calls_start(void);

/* The countdown doesn't cover the size. */
void *record_malloc(size_t size);
void *record_calloc(size_t count, size_t size);
void *record_memalign(size_t alignment, size_t size);
void *record_aligned_alloc(size_t alignment, size_t size);
int record_posix_memalign(void **out, size_t alignment, size_t size);
void *record_valloc(size_t size);
void *record_pvalloc(size_t size);

/* It doesn't, or the old block has a tag. */
void *record_realloc(void *block, size_t size);
void *record_reallocarray(void *block, size_t count, size_t size);

/* The block has a tag. */
void record_free(void *block);

/* An allocation by the loader: it may be changing the set of modules. */
void heap_look_at_loader(uintptr_t caller);

/* operator new and delete of an allocator that defines them itself. */
#define NEW(name, parameters, arguments) void *record_##name parameters;
#define DELETE(name, parameters, arguments) void record_##name parameters;
#include "hooks.def"

struct thread_state;

/*
 * Follows the control words: is recording on? For a state that was entered;
 * false also when the process has no trace.
 */
bool heap_is_recording(struct thread_state *state);

#endif
