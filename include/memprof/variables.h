/*
 * The names of the library's settings, for `memprof run` to know a mistyped one.
 * What each means is in libmemprof/settings.c, whose test holds the two together.
 */
#ifndef MEMPROF_VARIABLES_H
#define MEMPROF_VARIABLES_H

static const char *const memprof_variables[] = {
	"MEMPROF_RATE",	    "MEMPROF_OUTPUT",	   "MEMPROF_DEPTH", "MEMPROF_MMAP",
	"MEMPROF_CHILDREN", "MEMPROF_START",	   "MEMPROF_READINGS", "MEMPROF_FREE_STACKS",
	"MEMPROF_SEED",	    "MEMPROF_MAX_TRACE", "MEMPROF_LOG",
};

#define MEMPROF_VARIABLES (sizeof(memprof_variables) / sizeof(memprof_variables[0]))

/* Not a setting: a program leaves it to the one it becomes by exec. */
#define MEMPROF_IMAGE "MEMPROF_IMAGE"

#endif
