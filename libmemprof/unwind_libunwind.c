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
