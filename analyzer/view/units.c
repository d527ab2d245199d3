/*
 * See units.h.
 */
#include "view/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Three digits: 1.46, 14.6, 146 (and 1023 of a unit of 1024). */
static void three_digits(char *text, double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(text, UNITS_BYTES, "%.*f%s", decimals, value, unit);
}

static char *scaled(char *text, double value, double step, const char *const *units)
{
	double size = fabs(value);
	int unit = 0;

	if (size < step && size == floor(size)) {
		snprintf(text, UNITS_BYTES, "%.0f%s", value, value == 0 ? "" : units[0]);
		return text;
	}
	while (size >= step * 0.9995 && units[unit + 1]) {
		size /= step;
		unit++;
	}
	three_digits(text, size, units[unit]);
	if (value < 0) {
		memmove(text + 1, text, strlen(text) + 1);
		text[0] = '-';
	}
	return text;
}

char *units_bytes(char *text, double bytes, bool raw)
{
	static const char *const units[] = { "B", "K", "M", "G", "T", "P", "E", NULL };

	if (raw)
		snprintf(text, UNITS_BYTES, "%.0f", bytes);
	else
		scaled(text, bytes, 1024, units);
	return text;
}

char *units_count(char *text, double count, bool raw)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", NULL };

	if (raw || (fabs(count) < 10000 && count == floor(count)))
		snprintf(text, UNITS_BYTES, "%.0f", count);
	else
		scaled(text, count, 1000, units);
	return text;
}

char *units_duration(char *text, uint64_t ns)
{
	double s = (double)ns / 1e9;

	if (s >= 3600)
		snprintf(text, UNITS_BYTES, "%.0fh %02.0fm", floor(s / 3600),
			 floor(fmod(s, 3600) / 60));
	else if (s >= 60)
		snprintf(text, UNITS_BYTES, "%.0fm %02.0fs", floor(s / 60), floor(fmod(s, 60)));
	else if (s >= 0.9995)
		three_digits(text, s, " s");
	else if (ns >= 1000000)
		three_digits(text, s * 1e3, " ms");
	else if (ns >= 1000)
		three_digits(text, s * 1e6, " us");
	else
		snprintf(text, UNITS_BYTES, "%.0f ns", (double)ns);
	return text;
}

char *units_percent(char *text, double part, double whole)
{
	double percent = whole > 0 ? 100 * part / whole : 0;

	if (percent > 0 && percent < 0.05)
		snprintf(text, UNITS_BYTES, "<0.1%%");
	else
		snprintf(text, UNITS_BYTES, "%.1f%%", percent);
	return text;
}

char *units_number(char *text, const struct number *number, bool by_count, bool raw)
{
	double value = number_value(number, by_count), error = number_error(number, by_count);
	size_t length;

	if (by_count)
		units_count(text, value, raw);
	else
		units_bytes(text, value, raw);
	if (error <= 0 || value == 0)
		return text;
	length = strlen(text);
	if (raw)
		snprintf(text + length, UNITS_BYTES - length, " ±%.0f", error);
	else
		snprintf(text + length, UNITS_BYTES - length, " ±%.0f%%",
			 100 * error / fabs(value));
	return text;
}

/* ---- columns ---- */

static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

unsigned text_columns(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += !is_continuation(*text);
	return columns;
}

static const char *skip_columns(const char *text, unsigned columns)
{
	while (*text && columns--)
		for (text++; is_continuation(*text);)
			text++;
	return text;
}

char *text_cut(const char *text, unsigned columns, char *buffer, size_t size)
{
	unsigned have = text_columns(text), left, right;
	const char *tail;

	if (have <= columns || columns < 3) {
		snprintf(buffer, size, "%s", text);
		return buffer;
	}
	left = (columns - 1) / 2;
	right = columns - 1 - left;
	tail = skip_columns(text, have - right);
	snprintf(buffer, size, "%.*s…%s", (int)(skip_columns(text, left) - text), text, tail);
	return buffer;
}

char *text_cut_place(const char *text, unsigned columns, char *buffer, size_t size)
{
	const char *place = strstr(text, "  ");
	unsigned taken = place ? text_columns(place) : 0;
	char function[1024];

	if (text_columns(text) <= columns || !taken || taken > columns * 2 / 3)
		return text_cut(text, columns, buffer, size);
	snprintf(function, sizeof(function), "%.*s", (int)(place - text), text);
	text_cut(function, columns - taken, buffer, size);
	strncat(buffer, place, size - strlen(buffer) - 1);
	return buffer;
}
