/*
 * A curve as an area over several lines of text: braille dots, two by four in
 * each character, or '#' without UTF-8.
 */
#ifndef ANALYZER_VIEW_CHART_H
#define ANALYZER_VIEW_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct chart {
	const char *title;
	const double *values;      /* below 0: not known */
	size_t count;
	unsigned columns, rows;
	const char *escape;        /* colour, "" = none */
	/* How a height is written beside the axis. */
	char *(*format)(char *text, double value, bool raw);
	bool raw;
};

/* Columns that stand left of the area. */
#define CHART_MARGIN 10

void chart_print(FILE *out, const struct chart *chart);

#endif
