/*
 * How a diff (memprof.diff/1) and a series (memprof.series/1) are shown: text,
 * JSON, CSV.
 */
#ifndef ANALYZER_VIEW_DIFF_VIEW_H
#define ANALYZER_VIEW_DIFF_VIEW_H

#include "model/diff.h"
#include "model/series.h"
#include "view/json.h"
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

/* ---- shared by the two ---- */

/* "trace": {...}, or an array of them for a folder. */
void json_side(struct json *json, const char *key, const struct trace_set *set,
	       const struct profile *profile);
/* The first stacks of a site, as an array "stacks". */
void json_site_stacks(struct json *json, struct profile *profile, const struct profile_site *site,
		      size_t count);
/* "+1.2M ±30K" into @text of UNITS_BYTES + 8. */
char *signed_number(char *text, const struct number *n, bool by_count, bool raw);
/* The site's name, and that it was found by less than that. To be freed. */
char *matched_words(const struct profile_site *site, bool is_moved);
/* What ± and "noise?" mean, what figures are divided by, and that recording was off
 * between (@gap: of difference_gap); lines of text. */
void print_terms(const struct diff_choice *choice, bool is_exact, bool is_complete,
		 const struct trace_marker *gap);

#endif
