/*
 * Memory and text functions of our own. The first five have the names of libc's
 * since compilers make calls to them for copies and comparisons; they are hidden,
 * so that inside the library these are the ones that get called, whatever the
 * program has under those names. `rep` is what keeps a compiler from turning
 * their loops into calls of themselves.
 */
#include "os.h"

#include <stdarg.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);
size_t strlen(const char *text);

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(count) : : "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t count)
{
	char *target = (char *)to + count;
	const char *source = (const char *)from + count;

	if ((uintptr_t)to - (uintptr_t)from >= count)
		return memcpy(to, from, count);
	while (count--) {
		*--target = *--source;
		__asm__ volatile("" : : : "memory");
	}
	return to;
}

void *memset(void *to, int value, size_t count)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(count) : "a"(value) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t count)
{
	const unsigned char *x = a, *y = b;

	for (size_t i = 0; i < count; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

size_t strlen(const char *text)
{
	const char *at = text;

	while (*at) {
		at++;
		__asm__ volatile("");
	}
	return (size_t)(at - text);
}

bool text_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

bool text_begins(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return !*prefix;
}

const char *text_find(const char *text, char wanted)
{
	for (; *text; text++)
		if (*text == wanted)
			return text;
	return NULL;
}

const char *text_find_last(const char *text, char wanted)
{
	const char *found = NULL;

	for (; *text; text++)
		if (*text == wanted)
			found = text;
	return found;
}

bool text_number(const char *text, const char **end, uint64_t *value)
{
	uint64_t number = 0;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(number, 10u, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			return false;
	if (at == text)
		return false;
	*end = at;
	*value = number;
	return true;
}

/* ---- formatting ------------------------------------------------------- */

struct text_out {
	char *at;
	char *end; /* the terminating zero goes here at the latest */
};

static void put_char(struct text_out *out, char c)
{
	if (out->at < out->end)
		*out->at++ = c;
}

static void put_text(struct text_out *out, const char *text)
{
	for (; *text; text++)
		put_char(out, *text);
}

static void put_number(struct text_out *out, uint64_t value, unsigned base)
{
	char digits[24];
	unsigned count = 0;

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (count)
		put_char(out, digits[--count]);
}

static void put_signed(struct text_out *out, int64_t value)
{
	if (value < 0)
		put_char(out, '-');
	put_number(out, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

size_t text_format_list(char *out, size_t room, const char *format, va_list args)
{
	struct text_out text = { out, out + room - 1 };
	bool is_long;

	for (; *format; format++) {
		if (*format != '%') {
			put_char(&text, *format);
			continue;
		}
		format++;
		is_long = *format == 'l' || *format == 'z';
		if (is_long)
			format++;
		if (*format == 's')
			put_text(&text, va_arg(args, const char *));
		else if (*format == 'c')
			put_char(&text, (char)va_arg(args, int));
		else if (*format == 'd')
			put_signed(&text, is_long ? va_arg(args, long) : va_arg(args, int));
		else if (*format == 'u' || *format == 'x')
			put_number(&text,
				   is_long ? va_arg(args, unsigned long) :
					     va_arg(args, unsigned int),
				   *format == 'u' ? 10 : 16);
		else
			put_char(&text, *format);
	}
	*text.at = '\0';
	return (size_t)(text.at - out);
}

size_t text_format(char *out, size_t room, const char *format, ...)
{
	va_list args;
	size_t length;

	va_start(args, format);
	length = text_format_list(out, room, format, args);
	va_end(args);
	return length;
}
