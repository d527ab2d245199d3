/*
 * Differential folded stacks: "main;parse;read_line 4096 8192", the number of
 * the first trace and of the second, as difffolded.pl makes them for
 * flamegraph.pl. The metric is that of --sort. Heap only.
 */
#include "view/export.h"

#include "util/memory.h"
#include "view/folded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct line {
	char *stack;
	double values[2];
};

struct lines {
	struct line *lines;
	size_t count;
};

static char *folded_text(struct profile *profile, const struct profile_stack *stack)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return memory_string("");
	folded_stack(out, profile, stack);
	fclose(out);
	return text;
}

static void add_profile(struct lines *lines, struct profile *profile, unsigned side)
{
	const struct query *query = profile->query;

	for (size_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		for (size_t s = 0; site->kind == TALLY_HEAP && s < site->stack_count; s++) {
			const struct number *number = &site->stacks[s].tally.of[query->sort];
			struct line line = {.stack = folded_text(profile, &site->stacks[s])};

			line.values[side] = number_value(number, query->by_count);
			MEMORY_ROOM(lines->lines, lines->count);
			lines->lines[lines->count++] = line;
		}
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->stack, ((const struct line *)b)->stack);
}

static void write_lines(FILE *out, const struct lines *lines)
{
	for (size_t i = 0, next; i < lines->count; i = next) {
		double before = 0, after = 0;

		for (next = i; next < lines->count &&
			       !strcmp(lines->lines[i].stack, lines->lines[next].stack);
		     next++) {
			before += lines->lines[next].values[0];
			after += lines->lines[next].values[1];
		}
		if (before >= 0.5 || after >= 0.5)
			fprintf(out, "%s %.0f %.0f\n", lines->lines[i].stack, round(before),
				round(after));
	}
}

int export_folded_diff(struct export_job *job, struct error *err)
{
	struct lines lines = {0};
	int status = 0;

	if (job->set->count != 2)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "folded-diff needs two traces, here are %zu", job->set->count);
	for (unsigned side = 0; !status && side < 2; side++) {
		struct trace_set one = {.members = &job->set->members[side], .count = 1};
		struct profile *profile;

		status = profile_build(&one, &job->request->query, &profile, err);
		if (status)
			break;
		add_profile(&lines, profile, side);
		profile_free(profile);
	}
	if (lines.count)
		qsort(lines.lines, lines.count, sizeof(*lines.lines), compare_lines);
	if (!status)
		write_lines(job->out, &lines);
	for (size_t i = 0; i < lines.count; i++)
		free(lines.lines[i].stack);
	free(lines.lines);
	return status;
}
