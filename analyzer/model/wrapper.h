/*
 * Functions that are not the program's own business: the allocation family and
 * thin wrappers around it. A call site is looked for outside of them.
 */
#ifndef ANALYZER_MODEL_WRAPPER_H
#define ANALYZER_MODEL_WRAPPER_H

#include "model/query.h"

#include <stdbool.h>
#include <stdio.h>

/* @function is demangled, @file its source (either may be NULL); @more: the
 * user's own rows. */
bool wrapper_matches(const char *function, const char *file, const struct pattern *more);

/* The list, one a line with what it stands for (memprof-report info --wrappers). */
void wrapper_print(FILE *out);

#endif
