/*
 * A line on standard error that says how far a long job is: only on a terminal,
 * only after a second, wiped when the job is done.
 */
#ifndef ANALYZER_UTIL_PROGRESS_H
#define ANALYZER_UTIL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *words;     /* "events" */
	uint64_t done, started_ns, shown_ns;
	bool is_wanted, is_shown;
};

void progress_begin(struct progress *progress, const char *words);
void progress_add(struct progress *progress, uint64_t amount);
void progress_end(struct progress *progress);

#endif
