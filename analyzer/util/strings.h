/*
 * A pool of strings: equal texts get the same pointer, so that names can be
 * compared and hashed by their address. Strings live as long as the pool.
 */
#ifndef ANALYZER_UTIL_STRINGS_H
#define ANALYZER_UTIL_STRINGS_H

#include <stddef.h>

struct strings {
	const char **buckets;
	size_t bucket_count, count;
	char *block;           /* where the next string goes */
	size_t room;
	void *blocks;          /* all blocks, newest first */
};

/* NULL stays NULL. A zeroed struct is an empty pool. */
const char *strings_intern(struct strings *strings, const char *text);
void strings_release(struct strings *strings);

#endif
