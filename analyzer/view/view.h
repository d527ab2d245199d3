/*
 * A view answers one question about traces. The table of views is in
 * view/views.c: a new view is a file view_NAME.c with a function and a row there.
 */
#ifndef ANALYZER_VIEW_VIEW_H
#define ANALYZER_VIEW_VIEW_H

#include "model/profile.h"
#include "model/query.h"
#include "model/trace_set.h"
#include "util/error.h"
#include "util/option.h"

#include <stdbool.h>
#include <stdio.h>

enum view_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

struct view_request {
	const char *program;       /* for messages: "memprof-report" */
	struct query query;
	int format;                /* enum view_format */
	bool raw;                  /* plain numbers */
	bool color;                /* escape sequences are welcome in `out` */
	unsigned width;            /* columns of the terminal; 0 = don't cut lines */
	const char *output;        /* -o FILE; NULL = standard output */
	FILE *out;                 /* where to write; the command closes it */
	struct option_list words;  /* TRACE words, and what else the view takes */
};

enum view_flag {
	VIEW_OPENS_TRACES = 1,     /* `set` is opened by the command and never empty */
	VIEW_NEEDS_OUTPUT = 2,     /* binary: refuses a terminal, wants -o */
	VIEW_HAS_JSON = 4,
	VIEW_HAS_CSV = 8,
	VIEW_PLAIN_OUTPUT = 16,    /* `out` is NULL: the view opens request->output itself */
};

struct view {
	const char *name;
	const char *words;         /* one line for --help */
	const char *usage;         /* what follows the name: "[TRACE[@WHEN]]..." */
	unsigned flags;
	const struct option *options; /* of this view alone; may be NULL */
	/* Asked by the options: answers what needs no trace and returns true. NULL: never. */
	bool (*instead)(struct view_request *request);
	/* 0 or a negative error code with @err filled; 1 = "the answer is no". */
	int (*show)(struct view_request *request, struct trace_set *set, struct error *err);
};

/* The table, ended by a row without name. */
extern const struct view views[];
const struct view *view_find(const char *name);

/* One per view_NAME.c. */
#define VIEW_SHOW(name)                                                                            \
	int name(struct view_request *request, struct trace_set *set, struct error *err)
VIEW_SHOW(view_summary);
VIEW_SHOW(view_top_sites);
VIEW_SHOW(view_peak);
VIEW_SHOW(view_leaks);
VIEW_SHOW(view_churn);
VIEW_SHOW(view_callers);
VIEW_SHOW(view_tree);
VIEW_SHOW(view_timeline);
VIEW_SHOW(view_sizes);
VIEW_SHOW(view_lifetimes);
VIEW_SHOW(view_threads);
VIEW_SHOW(view_modules);
VIEW_SHOW(view_snapshots);
VIEW_SHOW(view_events);
VIEW_SHOW(view_blocks);
VIEW_SHOW(view_info);
VIEW_SHOW(view_dump);
VIEW_SHOW(view_html);
VIEW_SHOW(view_cut);
VIEW_SHOW(view_symbolize);
VIEW_SHOW(view_export);
VIEW_SHOW(view_memory);
VIEW_SHOW(view_pack);

#endif
