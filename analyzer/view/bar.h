/*
 * A horizontal bar in text: eighths of blocks, or '#' without UTF-8.
 */
#ifndef ANALYZER_VIEW_BAR_H
#define ANALYZER_VIEW_BAR_H

#include <stddef.h>

#define BAR_BYTES 128

/* @part of @whole as up to @columns (40 at most) characters in @text. */
char *bar_text(char *text, double part, double whole, unsigned columns);

#endif
