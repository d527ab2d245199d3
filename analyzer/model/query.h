/*
 * What a user asks of a trace, apart from the view: which events, which stacks,
 * how to group, how to order, how much of it. Filled by the command line.
 */
#ifndef ANALYZER_MODEL_QUERY_H
#define ANALYZER_MODEL_QUERY_H

#include "model/number.h"
#include "util/error.h"
#include "util/option.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Regular expressions (POSIX extended), any of which may match. */
struct pattern {
	regex_t *expressions;
	size_t count;
};

enum query_by {
	BY_SITE, BY_FUNCTION, BY_LINE, BY_STACK, BY_MODULE, BY_THREAD, BY_SCOPE, BY_SIZE,
	BY_PROCESS,
};
extern const char *const query_by_names[]; /* NULL-terminated, in the order of enum query_by */

struct query {
	int by;                        /* enum query_by */
	enum metric sort;
	bool by_count;                 /* order and shares by count, not bytes */
	bool sort_given;               /* the user chose `sort` */
	uint64_t limit;                /* rows; 0 = all; QUERY_DEFAULT = the view's choice */
	uint64_t stacks;               /* stacks of a site; 0 = all; QUERY_DEFAULT likewise */
	struct pattern focus, ignore;  /* keep, drop stacks with a frame that matches */
	struct pattern hide, show;     /* drop, keep frames that match */
	struct pattern thread, module; /* name or tid; module of the call site */
	struct pattern wrappers;       /* more functions to pass over */
	bool keep_wrappers;
	uint64_t min_size, max_size;   /* of blocks; max 0 = no bound */
	const char *from, *to;         /* WHEN; NULL = start, end */
	/* names */
	bool no_inlines, no_demangle, shorten, debuginfod;
	struct option_list debug_dirs;
	const char *sysroot;
};

/* Whether some stacks, or some blocks, are left out of what is looked at. */
bool query_narrows_stacks(const struct query *query);
bool query_narrows(const struct query *query);

/* Adds the expression @text; an error says where it is wrong. */
int pattern_add(struct pattern *pattern, const char *text, struct error *err);
bool pattern_matches(const struct pattern *pattern, const char *text);
void pattern_release(struct pattern *pattern);

/* Parses METRIC: "live", "live.count", ... */
int query_sort_parse(struct query *query, const char *text, struct error *err);

#define QUERY_DEFAULT UINT64_MAX

/* Defaults: by site, allocated bytes. */
void query_init(struct query *query);

/* How many of @have rows are shown when the view shows @choice by itself. */
static inline size_t query_rows(uint64_t asked, size_t choice, size_t have)
{
	uint64_t rows = asked == QUERY_DEFAULT ? choice : asked ? asked : have;

	return rows < have ? (size_t)rows : have;
}
void query_release(struct query *query);

#endif
