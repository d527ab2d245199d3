/*
 * Command-line options from tables. A command hands over the tables that apply;
 * the same rows are parsed and printed by --help, so the two can't differ.
 *
 * Accepted: --name value, --name=value, -x value, -xvalue, "--" ends options,
 * options and other words in any order.
 */
#ifndef ANALYZER_UTIL_OPTION_H
#define ANALYZER_UTIL_OPTION_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
	OPTION_FLAG,   /* bool: set to true; no argument */
	OPTION_STRING, /* const char *: the argument, not copied */
	OPTION_NUMBER, /* uint64_t: a decimal number */
	OPTION_SIZE,   /* uint64_t: bytes, with a suffix K M G T (1024-based) */
	OPTION_CHOICE, /* int: index into `choices` */
	OPTION_LIST,   /* struct option_list: every argument given */
	OPTION_CALL,   /* `take` is called with the argument, NULL when there is none */
};

struct option_list {
	const char **items;
	size_t count;
};

struct option {
	const char *name;           /* without dashes; NULL ends the table */
	char letter;                /* 0 = none */
	enum option_kind kind;
	const char *argument;       /* its name in the help; NULL = takes none;
				     * "[X]" = may be left out (then only --name=X) */
	const char *words;          /* one line of help; NULL = not shown */
	void *target;
	const char *const *choices; /* OPTION_CHOICE: NULL-terminated */
	int (*take)(void *target, const char *argument, struct error *err);
};

/*
 * Parses @argv[1..] by the NULL-terminated array of tables @tables. Words that
 * are no options are gathered in @words (may be NULL: then the first such word
 * ends the parsing) in their order. Returns the index of the first word not
 * looked at (@argc, or behind "--" when @words is NULL), or ERROR_USAGE.
 */
int option_parse(int argc, char **argv, const struct option *const *tables,
		 struct option_list *words, struct error *err);

/* Prints one line for each row of @table that has words, under @title. */
void option_help(FILE *out, const char *title, const struct option *table);

int option_list_add(struct option_list *list, const char *item);

/* "24MB" (= 24 MiB), "512K", "100": bytes. Returns 0 or ERROR_USAGE. */
int option_size(const char *text, uint64_t *bytes);

#endif
