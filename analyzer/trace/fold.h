/*
 * Ends what a process could not end: the records that still lie in the companion
 * of a dead process are written into its trace, and the companion is removed.
 */
#ifndef ANALYZER_TRACE_FOLD_H
#define ANALYZER_TRACE_FOLD_H

#include "util/error.h"

enum fold_result {
	FOLD_NOTHING,    /* there is no companion */
	FOLD_DONE,
	FOLD_RUNNING,    /* its process lives; nothing was done */
};

/* Returns an enum fold_result or a negative error code; on an error the
 * companion stays, and readers go on joining it. */
int trace_fold(const char *trace_path, struct error *err);

#endif
