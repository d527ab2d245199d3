/*
 * What a diff and a series tell in the same way, see diff_view.h: which sites, at
 * which moments, in which terms.
 */
#include "view/diff_view.h"

#include "util/memory.h"
#include "view/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

void json_side(struct json *json, const char *key, const struct trace_set *set,
	       const struct profile *profile)
{
	if (!set->from_folder && profile->trace_count == 1) {
		json_trace(json, key, &profile->traces[0]);
		return;
	}
	json_array_begin(json, key);
	for (size_t i = 0; i < profile->trace_count; i++)
		json_trace(json, NULL, &profile->traces[i]);
	json_array_end(json);
}

void json_site_stacks(struct json *json, struct profile *profile, const struct profile_site *site,
		      size_t count)
{
	json_array_begin(json, "stacks");
	for (size_t i = 0; i < count; i++) {
		const struct profile_frame *frames;
		size_t frame_count = profile_frames(profile, &site->stacks[i], &frames);

		json_object_begin(json, NULL);
		json_frames(json, "frames", frames, frame_count);
		json_object_end(json);
	}
	json_array_end(json);
}

void json_which(struct json *json, const struct profile_site *site, enum query_by by)
{
	json_string(json, "kind", site->kind == TALLY_HEAP ? "malloc" : "mmap");
	/* A place has its module in any case. */
	if (site->label && by != BY_MODULE)
		json_string(json, query_by_names[by], site->label);
	json_place(json, &site->where);
}

/* ---- CSV ---- */

void csv_site(FILE *out, const struct profile_site *site)
{
	csv_text(out, site->kind == TALLY_HEAP ? "malloc" : "mmap", false);
	csv_text(out, site->label, false);
	csv_text(out, site->where.function, false);
	csv_text(out, site->where.file, false);
	csv_double(out, site->where.line);
	csv_text(out, site->where.module, false);
}

void csv_delta(FILE *out, const struct number *delta, bool is_significant)
{
	csv_double(out, delta->bytes);
	csv_double(out, delta->count);
	csv_double(out, number_bytes_error(delta));
	fprintf(out, ",%s", is_significant ? "true" : "false");
}

/* ---- text ---- */

char *signed_number(char *text, const struct number *n, bool by_count, bool raw)
{
	char *at = text;

	if (number_value(n, by_count) > 0)
		*at++ = '+';
	if (by_count)
		units_count(at, n->count, raw);
	else
		units_bytes(at, n->bytes, raw);
	if (number_error(n, by_count) > 0) {
		char error[UNITS_BYTES];
		size_t length;

		if (by_count)
			units_count(error, floor(number_error(n, true) + 0.5), raw);
		else
			units_bytes(error, floor(number_error(n, false) + 0.5), raw);
		length = strlen(text);
		snprintf(text + length, UNITS_BYTES - length, " ±%s", error);
	}
	return text;
}

char *matched_words(const struct profile_site *site, bool is_moved)
{
	char *words = site_words(site), *both;

	if (!is_moved)
		return words;
	both = memory_format("%s (moved)", words);
	free(words);
	return both;
}

void table_site_stacks(struct table *table, const struct diff_choice *choice,
		       struct profile *profile, const struct profile_site *site)
{
	size_t count = query_rows(choice->request->query.stacks, 0, site->stack_count);

	for (size_t i = 0; i < count; i++)
		table_stack(table, profile, &site->stacks[i], 32);
}

void print_end(const struct diff_choice *choice, const char *name, const struct trace_set *set,
	       const struct profile *profile, double divisor)
{
	const struct profile_trace *pt = &profile->traces[0];
	FILE *out = choice->request->out;
	char *words = moment_words(&pt->when);
	char text[UNITS_BYTES];

	if (profile->trace_count == 1)
		fprintf(out, "%s %s: %s of %s", name, pt->trace->path, words,
			units_duration(text, pt->trace->info.duration_ns));
	else
		fprintf(out, "%s %s: %zu processes", name, set->name, profile->trace_count);
	if (choice->normalize.kind != NORMALIZE_NOT)
		fprintf(out, ", divided by %.6g", divisor);
	fputc('\n', out);
	free(words);
}

static void print_gap(FILE *out, const struct trace_marker *gap)
{
	char text[UNITS_BYTES];

	fprintf(out,
		"Recording was off for a time (%s at %s): blocks live then are unknown since, so "
		"what\n"
		"seems shrunk or gone may still be there, and what was allocated meanwhile is "
		"missing.\n",
		gap->kind == TRACE_MARK_STOP ? "stopped" : "started",
		units_duration(text, gap->time_ns));
}

void print_terms(const struct diff_choice *choice, bool is_exact, bool is_complete,
		 const struct trace_marker *gap)
{
	FILE *out = choice->request->out;

	if (choice->normalize.kind != NORMALIZE_NOT)
		fprintf(out, "All figures are per %s.\n", normalize_unit(&choice->normalize));
	if (!is_exact)
		fprintf(out, "Sampled: ± is one standard error; \"noise?\" is what sampling alone "
			     "may explain (false discovery rate %g%%).\n", choice->level * 100);
	if (!is_complete)
		fputs("A trace is not complete: figures are those up to its last record.\n", out);
	if (gap)
		print_gap(out, gap);
}

void print_title(const struct diff_choice *choice, enum tally_kind kind)
{
	const struct query *query = &choice->request->query;

	if (kind == TALLY_MAPPED)
		fputs("\nMapped by the program itself (mmap, brk):\n", choice->request->out);
	else
		fprintf(choice->request->out, "\nWhat is %s, by %s:\n", metric_names[query->sort],
			query_by_names[query->by]);
}
