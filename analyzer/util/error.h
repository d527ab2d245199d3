/*
 * What went wrong, with the place, for a person to read. Filled in once, where
 * file and offset are known; printed once, by the command.
 */
#ifndef ANALYZER_UTIL_ERROR_H
#define ANALYZER_UTIL_ERROR_H

#include <stdint.h>

enum error_code {
	ERROR_NONE = 0,
	ERROR_MEMORY = -1,
	ERROR_SYSTEM = -2,    /* a system call failed; errno is in the words */
	ERROR_FORMAT = -3,    /* the file is not what it should be */
	ERROR_TRUNCATED = -4, /* ends in the middle */
	ERROR_USAGE = -5,     /* the command was given something it can't use */
	ERROR_NOT_FOUND = -6,
};

struct error {
	enum error_code code;
	char file[4096];
	uint64_t offset;      /* ERROR_NO_OFFSET when there is none */
	char words[512];
};

#define ERROR_NO_OFFSET UINT64_MAX

/* Fills @err (may be NULL) and returns @code, so that callers can
 * `return error_set(...)`. @file may be NULL. */
int error_set(struct error *err, enum error_code code, const char *file, uint64_t offset,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Prints "PROGRAM: FILE: offset N: WORDS" on stderr, parts that are not known
 * left out. */
void error_print(const struct error *err, const char *program);

#endif
