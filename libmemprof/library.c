/*
 * The library's constructor. It may not be the first of us to run: an earlier
 * allocation has then started everything already.
 */
#include "heap_calls.h"
#include "log.h"
#include "next.h"
#include "sampled_set.h"
#include "thread_state.h"

/* Before anything can be recorded. The linker sets the pointers. */
static void warn_of_own_malloc(void)
{
	if (next_facts.own_malloc)
		log_warn("the program has a malloc of its own (%s): what it gives is not "
			 "seen, only what comes by operator new and mmap",
			 next_facts.own_malloc_path);
}

__attribute__((constructor(101))) static void library_start(void)
{
	next_find();
	sampled_set_start();
	heap_calls_start();
	warn_of_own_malloc();
}
