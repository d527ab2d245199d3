/*
 * See sparkline.h.
 */
#include "view/sparkline.h"

#include <langinfo.h>
#include <string.h>

int text_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static double highest(const double *values, size_t from, size_t to)
{
	double high = values[from];

	for (size_t i = from + 1; i < to; i++)
		if (values[i] > high)
			high = values[i];
	return high;
}

void sparkline_print(FILE *out, const double *values, size_t count, size_t columns)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[] = { " ", "_", ".", ":", "-", "=", "+", "*", "#" };
	const char *const *heights = text_is_utf8() ? blocks : plain;
	double top = count ? highest(values, 0, count) : 0;

	if (columns > count)
		columns = count;
	for (size_t c = 0; c < columns; c++) {
		double value = highest(values, c * count / columns, (c + 1) * count / columns);
		int level = top > 0 && value > 0 ? (int)(value / top * 8 + 0.5) : 0;

		fputs(heights[value > 0 && level < 1 ? 1 : level], out);
	}
}
