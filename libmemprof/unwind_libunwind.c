/*
 * The only file that knows libunwind; by hand-written prototype, so that neither
 * its header nor its library is needed to build.
 */
#define _GNU_SOURCE /* RTLD_DEEPBIND */
#include "unwind_libunwind.h"

#include <dlfcn.h>
#include <stddef.h>

typedef int (*backtrace_function)(void **pcs, int room);

static backtrace_function backtrace_of_libunwind;

bool libunwind_open(void)
{
	void *library;

	if (backtrace_of_libunwind)
		return true;
	library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	if (!library)
		return false;
	*(void **)&backtrace_of_libunwind = dlsym(library, "unw_backtrace");
	return backtrace_of_libunwind != NULL;
}

/* unw_backtrace starts at the place in here that calls it; the second is in the
 * function that called us; both are left out. */
#define OWN_FRAMES 2

__attribute__((noinline)) unsigned libunwind_frames(uintptr_t *pcs, unsigned room)
{
	int got = backtrace_of_libunwind((void **)pcs, (int)room);

	for (int i = OWN_FRAMES; i < got; i++)
		pcs[i - OWN_FRAMES] = pcs[i];
	return got > OWN_FRAMES ? (unsigned)got - OWN_FRAMES : 0;
}

#ifdef MEMPROF_ORACLE

#include <xxhash.h>

#include "event_buffer.h"
#include "memprof/trace_format.h"
#include "record_store.h"
#include "settings.h"

#define ORACLE_FRAMES 2048

/* Opening it allocates, so it is done before the program begins. */
static __attribute__((constructor)) void oracle_open(void)
{
	libunwind_open();
}

static void oracle_write(struct event_buffer *buffer, const uintptr_t *pcs, unsigned count)
{
	struct record_cursor cursor = { .at = buffer->at, .end = buffer->end };
	uint64_t sum = XXH3_64bits(pcs, count * sizeof(*pcs));

	record_begin(&cursor, TRACE_KIND_STACK_CHECK);
	record_bytes(&cursor, &sum, sizeof(sum));
	if (record_end(&cursor))
		event_buffer_commit(buffer, cursor.at);
}

__attribute__((noinline)) void oracle_check(struct event_buffer *buffer, uintptr_t pc)
{
	uintptr_t pcs[ORACLE_FRAMES];
	unsigned count, first = 0, depth = (unsigned)settings_get()->depth;

	if (!backtrace_of_libunwind)
		return;
	count = libunwind_frames(pcs, ORACLE_FRAMES);
	while (first < count && pcs[first] != pc)
		first++;
	if (first < count)
		oracle_write(buffer, pcs + first, count - first < depth ? count - first : depth);
}

#endif
