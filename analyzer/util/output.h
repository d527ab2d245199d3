/*
 * Where results go: standard output, or a file that appears only when it is
 * whole (written beside its place, then renamed).
 */
#ifndef ANALYZER_UTIL_OUTPUT_H
#define ANALYZER_UTIL_OUTPUT_H

#include "util/error.h"

#include <stdbool.h>
#include <stdio.h>

struct output {
	FILE *file;
	char *path;      /* NULL = standard output */
	char *temporary;
};

/* @path NULL or "-": standard output. */
int output_open(struct output *output, const char *path, struct error *err);
/* Makes the file appear (@keep) or takes the unfinished one away. */
int output_close(struct output *output, bool keep, struct error *err);

#endif
