/*
 * Numbers as people read them: three digits and a unit, errors behind "±".
 * All write into @text (of UNITS_BYTES) and return it.
 */
#ifndef ANALYZER_VIEW_UNITS_H
#define ANALYZER_VIEW_UNITS_H

#include "model/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNITS_BYTES 64

char *units_bytes(char *text, double bytes, bool raw);       /* 1.46M, 24.0K, 512 */
char *units_count(char *text, double count, bool raw);       /* 1.46M (decimal), 812 */
char *units_duration(char *text, uint64_t ns);               /* 1.25 s, 320 ms, 2h 05m */
char *units_percent(char *text, double part, double whole);  /* 12.5 % */
/* "1.46M ±12%": the error in percent of the value, left out when exact. */
char *units_number(char *text, const struct number *number, bool by_count, bool raw);

/* How many terminal columns @text takes (UTF-8; combining marks take none). */
unsigned text_columns(const char *text);
/* @text cut in the middle to @columns columns, "…" where it was cut. */
char *text_cut(const char *text, unsigned columns, char *buffer, size_t size);
/* The same for "function  file:line": the place is kept whole where two
 * thirds of the columns can hold it. */
char *text_cut_place(const char *text, unsigned columns, char *buffer, size_t size);

#endif
