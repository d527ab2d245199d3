/*
 * See memory.h.
 */
#include "util/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *memory)
{
	if (!memory) {
		fputs("memprof: out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

void *memory_zeroed(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *memory_resize(void *memory, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return checked(NULL);
	return checked(realloc(memory, bytes ? bytes : 1));
}

char *memory_string(const char *text)
{
	return checked(strdup(text));
}

char *memory_format(const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	return checked(length < 0 ? NULL : text);
}

void *memory_room(void *array, size_t count, size_t size)
{
	if (count == 0)
		return memory_resize(array, 16, size);
	if (count < 16 || (count & (count - 1)))
		return array;
	return memory_resize(array, count * 2, size);
}
