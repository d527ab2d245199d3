/*
 * The traces of one run in a folder that may hold those of earlier runs, too.
 */
#ifndef ANALYZER_CMD_HARVEST_H
#define ANALYZER_CMD_HARVEST_H

#include <stddef.h>
#include <sys/types.h>

/* What is there before the run; `files` is the caller's, for free(). */
struct harvest_older {
	ino_t *files;
	size_t count;
};

struct harvest {
	char **paths;              /* of this run */
	size_t traces, running, older;
	double bytes;              /* on disk, of this run */
};

void harvest_find_older(const char *folder, struct harvest_older *older);
/* Ends what the processes could not end by themselves, and says on stderr where
 * that fails. To be released. */
struct harvest harvest_take(const char *folder, const struct harvest_older *older);
void harvest_release(struct harvest *harvest);

#endif
