/*
 * A baseline's file: JSON of schema memprof.baseline/1, one stack a line, so
 * that a change of it can be reviewed like any other.
 */
#ifndef ANALYZER_VIEW_BASELINE_FILE_H
#define ANALYZER_VIEW_BASELINE_FILE_H

#include "model/baseline.h"

#include <stdio.h>

/* Reads @path. Suppressions (may be NULL) apply to it as to a profile, but their
 * uses are counted as stacks only, without blocks. The result is the caller's,
 * for baseline_free. */
int baseline_load(const char *path, struct suppressions *suppressions, struct baseline **baseline,
		  struct error *err);

/* Writes @baseline; suppressed stacks are kept in it. */
void baseline_write(const struct baseline *baseline, const char *command, FILE *out);

#endif
