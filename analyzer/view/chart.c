/*
 * See chart.h.
 */
#include "view/chart.h"

#include "view/sparkline.h"
#include "view/units.h"

/* The highest value that falls on dot column @dot of @dots; -1 = not known. */
static double dot_value(const struct chart *chart, size_t dot, size_t dots)
{
	size_t from = dot * chart->count / dots, to = (dot + 1) * chart->count / dots;
	double high = -1;

	if (to <= from)
		to = from + 1;
	for (size_t i = from; i < to && i < chart->count; i++)
		if (chart->values[i] > high)
			high = chart->values[i];
	return high;
}

static double highest(const struct chart *chart)
{
	double high = 0;

	for (size_t i = 0; i < chart->count; i++)
		if (chart->values[i] > high)
			high = chart->values[i];
	return high;
}

/* How many dots of @rows * 4 a value fills; something is never nothing. */
static unsigned filled(double value, double top, unsigned dots)
{
	unsigned count = top > 0 && value > 0 ? (unsigned)(value / top * dots + 0.5) : 0;

	return value > 0 && !count ? 1 : count > dots ? dots : count;
}

/* Dots of one of the two columns that a character has. */
static unsigned column_dots(const struct chart *chart, size_t column, double top)
{
	return filled(dot_value(chart, column, 2 * chart->columns), top, chart->rows * 4);
}

static void put_braille(FILE *out, unsigned bits)
{
	unsigned code = 0x2800 + bits;

	fputc(0xe0 | code >> 12, out);
	fputc(0x80 | (code >> 6 & 0x3f), out);
	fputc(0x80 | (code & 0x3f), out);
}

static void print_cell(FILE *out, unsigned left, unsigned right, unsigned base)
{
	/* Dots of a character from the bottom up: left 7 3 2 1, right 8 6 5 4. */
	static const unsigned char lefts[] = { 0x40, 0x04, 0x02, 0x01 };
	static const unsigned char rights[] = { 0x80, 0x20, 0x10, 0x08 };
	unsigned bits = 0;

	for (unsigned dot = 0; dot < 4; dot++) {
		bits |= left > base + dot ? lefts[dot] : 0;
		bits |= right > base + dot ? rights[dot] : 0;
	}
	if (!text_is_utf8())
		fputc(bits ? '#' : ' ', out);
	else if (bits)
		put_braille(out, bits);
	else
		fputc(' ', out);
}

void chart_print(FILE *out, const struct chart *chart)
{
	double top = highest(chart);
	char text[UNITS_BYTES];

	fprintf(out, "%s\n", chart->title);
	for (unsigned row = chart->rows; row-- > 0;) {
		text[0] = '\0';
		if (row == chart->rows - 1)
			chart->format(text, top, chart->raw);
		else if (row == 0)
			chart->format(text, 0, chart->raw);
		fprintf(out, "%*s %s", CHART_MARGIN - 2, text, text_is_utf8() ? "▕" : "|");
		fputs(chart->escape, out);
		for (unsigned c = 0; c < chart->columns; c++)
			print_cell(out, column_dots(chart, 2 * c, top),
				   column_dots(chart, 2 * c + 1, top), row * 4);
		fprintf(out, "%s\n", *chart->escape ? "\033[0m" : "");
	}
}
