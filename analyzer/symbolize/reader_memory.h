/*
 * Memory for those who read debug information. They run in a process of their
 * own (symbol_reader.c) with a limit on memory: to run out of it ends that
 * process, and the front names the module as unreadable. So nobody here has to
 * carry a failure through a walk of somebody's DWARF.
 */
#ifndef ANALYZER_SYMBOLIZE_READER_MEMORY_H
#define ANALYZER_SYMBOLIZE_READER_MEMORY_H

#include <stdlib.h>

#define READER_NO_MEMORY 9 /* exit status */

static inline void *reader_realloc(void *old, size_t bytes)
{
	void *memory = realloc(old, bytes ? bytes : 1);

	if (!memory)
		_Exit(READER_NO_MEMORY);
	return memory;
}

static inline void *reader_calloc(size_t count, size_t bytes)
{
	void *memory = calloc(count ? count : 1, bytes ? bytes : 1);

	if (!memory)
		_Exit(READER_NO_MEMORY);
	return memory;
}

#endif
