/*
 * The library's constructor. It may not be the first of us to run: an earlier
 * allocation has then started everything already.
 */
#include "heap_calls.h"
#include "log.h"
#include "next.h"
#include "process.h"
#include "sampled_set.h"
#include "thread_state.h"

/* Before anything can be recorded. The linker sets the pointers. */
static void tell_of_allocators(void)
{
	process_note_fact("allocator", next_facts.allocator_path);
	if (!next_facts.own_malloc)
		return;
	process_note_fact("own_malloc", next_facts.own_malloc_path);
	log_warn("the program has a malloc of its own (%s): what it gives is not seen, "
		 "only what comes by operator new and mmap",
		 next_facts.own_malloc_path);
}

__attribute__((constructor(101))) static void library_start(void)
{
	next_find();
	sampled_set_start();
	heap_calls_start();
	tell_of_allocators();
}
