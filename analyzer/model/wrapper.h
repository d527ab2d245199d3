/*
 * Functions that are not the program's own business: the allocation family and
 * thin wrappers around it. A call site is looked for outside of them.
 */
#ifndef ANALYZER_MODEL_WRAPPER_H
#define ANALYZER_MODEL_WRAPPER_H

#include "model/query.h"

#include <stdbool.h>
#include <stdio.h>

/* @function is demangled; @module (path, may be NULL) and @file (may be NULL)
 * tell libstdc++'s own from the program's. @more: the user's. */
bool wrapper_matches(const char *function, const char *file, const char *module,
		     const struct pattern *more);

/* The list, one a line with what it stands for (memprof-report info --wrappers). */
void wrapper_print(FILE *out);

#endif
