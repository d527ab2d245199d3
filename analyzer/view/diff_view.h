/*
 * How a diff (memprof.diff/1) and a series (memprof.series/1) are shown: text,
 * JSON, CSV.
 */
#ifndef ANALYZER_VIEW_DIFF_VIEW_H
#define ANALYZER_VIEW_DIFF_VIEW_H

#include "model/diff.h"
#include "model/series.h"
#include "view/json.h"
#include "view/table.h"
#include "view/view.h"

/* What both are told of how to compare. */
struct diff_choice {
	const struct view_request *request;
	struct normalize normalize;
	double level;              /* false discovery rate */
	bool only_significant;
};

void diff_view_print(const struct diff_choice *choice, const struct trace_set *baseline,
		     const struct trace_set *later, struct diff *diff);
void series_view_print(const struct diff_choice *choice, struct series *series);

/* ---- shared by the two: diff_parts.c ---- */

/* "trace": {...}, or an array of them for a folder. */
void json_side(struct json *json, const char *key, const struct trace_set *set,
	       const struct profile *profile);
/* The first stacks of a site, as an array "stacks". */
void json_site_stacks(struct json *json, struct profile *profile, const struct profile_site *site,
		      size_t count);
/* Its kind, its label by the name of what sites are, its place. */
void json_which(struct json *json, const struct profile_site *site, enum query_by by);
/* Behind the first cell: kind,site,function,file,line,module. */
void csv_site(FILE *out, const struct profile_site *site);
/* delta_bytes,delta_count,delta_bytes_error,significant. */
void csv_delta(FILE *out, const struct number *delta, bool is_significant);
/* "+1.2M ±30K" into @text of UNITS_BYTES + 8. */
char *signed_number(char *text, const struct number *n, bool by_count, bool raw);
/* The site's name, and that it was found by less than that. To be freed. */
char *matched_words(const struct profile_site *site, bool is_moved);
/* What ± and "noise?" mean, what figures are divided by, and that recording was off
 * between (@gap: of difference_gap); lines of text. */
void print_terms(const struct diff_choice *choice, bool is_exact, bool is_complete,
		 const struct trace_marker *gap);
/* The stacks that --stacks asks for, below the row of @site. */
void table_site_stacks(struct table *table, const struct diff_choice *choice,
		       struct profile *profile, const struct profile_site *site);
/* "NAME TRACE: moment of duration", of one end of a difference. */
void print_end(const struct diff_choice *choice, const char *name, const struct trace_set *set,
	       const struct profile *profile, double divisor);
/* Above the table of that kind. */
void print_title(const struct diff_choice *choice, enum tally_kind kind);

#endif
