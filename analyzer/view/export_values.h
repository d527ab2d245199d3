/*
 * The numbers of a stack as exports name them: one row a column.
 */
#ifndef ANALYZER_VIEW_EXPORT_VALUES_H
#define ANALYZER_VIEW_EXPORT_VALUES_H

#include "model/number.h"

#include <stdio.h>

struct export_value {
	const char *name;  /* "live_bytes" */
	const char *title; /* "Live bytes" */
	enum metric metric;
	bool by_count;
};

#define EXPORT_VALUES 10
extern const struct export_value export_values[EXPORT_VALUES];

double export_value(const struct tally *tally, unsigned value);
double export_error(const struct tally *tally, unsigned value);
/* Rounded to a whole number, for formats that know no others. */
uint64_t export_whole(const struct tally *tally, unsigned value);
/* Whole numbers without a fraction, others with all their digits. */
void export_print(FILE *out, double value);

#endif
