/*
 * Can a program be preloaded into? Told from its file before it is started.
 */
#ifndef ANALYZER_CMD_PRELOAD_CHECK_H
#define ANALYZER_CMD_PRELOAD_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct preload_check {
	char path[4096];         /* of the program; "" = not found */
	char why_not[512];       /* in words; "" = nothing speaks against it */
	bool keep_in_environment;/* the preload does no harm, and children may take it */
};

/* Looks for @program as execvp does, and into what it is: a script is as its
 * interpreter. */
void preload_check(const char *program, struct preload_check *check);

#endif
