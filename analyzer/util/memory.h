/*
 * Memory for a command that can do nothing sensible without it: these never
 * return NULL; when there is none, one line says so and the program ends with
 * status 2. Code that reads what a stranger wrote checks sizes before it asks.
 */
#ifndef ANALYZER_UTIL_MEMORY_H
#define ANALYZER_UTIL_MEMORY_H

#include <stddef.h>

void *memory_zeroed(size_t count, size_t size);
void *memory_resize(void *memory, size_t count, size_t size);
char *memory_string(const char *text);
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes room for one more item in @array of @count items; capacities are powers
 * of two from 16 on, so that no field is needed to keep them. */
#define MEMORY_ROOM(array, count)                                                                  \
	((array) = memory_room((array), (count), sizeof(*(array))))
void *memory_room(void *array, size_t count, size_t size);

#endif
