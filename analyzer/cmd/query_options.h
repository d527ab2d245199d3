/*
 * The options that mean the same for every command, as a table over one request.
 */
#ifndef ANALYZER_CMD_QUERY_OPTIONS_H
#define ANALYZER_CMD_QUERY_OPTIONS_H

#include "util/option.h"
#include "view/view.h"

struct query_flags {
	int color;           /* enum color_choice */
	bool wants_help, wants_version;
};

/* What they fill. query_options_init sets the defaults. */
extern struct view_request query_request;
extern struct query_flags query_flags;

extern const struct option query_output_options[]; /* --format, -o, --color, ... */
extern const struct option query_choice_options[]; /* --by, --sort, -n, ... */
extern const struct option query_filter_options[]; /* --focus, --from, ... */
extern const struct option query_name_options[];   /* --debug-dir, ... */

void query_options_init(const char *program);
void query_options_release(void);
/* Help for all of them. */
void query_options_help(FILE *out);

#endif
