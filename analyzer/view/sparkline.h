/*
 * A curve in one line of text: eight heights of blocks, or ASCII where the
 * locale has no UTF-8.
 */
#ifndef ANALYZER_VIEW_SPARKLINE_H
#define ANALYZER_VIEW_SPARKLINE_H

#include <stddef.h>
#include <stdio.h>

/* Does the locale (LC_CTYPE, set by setlocale) speak UTF-8? */
int text_is_utf8(void);

/* Prints @count values as @columns characters, each the highest of its share. */
void sparkline_print(FILE *out, const double *values, size_t count, size_t columns);

#endif
