/*
 * What a program allocated and left behind, in a form that is kept with its
 * sources: sums by stack and by call site, named without addresses and lines so
 * that a rebuild doesn't matter, one stack a line so that people can review a
 * change. A baseline is made of a profile, or read from its file (view/baseline_file.h).
 */
#ifndef ANALYZER_MODEL_BASELINE_H
#define ANALYZER_MODEL_BASELINE_H

#include "model/number.h"
#include "model/profile.h"
#include "model/suppressions.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A stack ("leak_site@app < serve@app < main@app", innermost first) or a call
 * site ("leak_site@app"). */
struct baseline_entry {
	char *name;
	struct tally tally;
	bool is_suppressed;
	/* Of the profile it was made from; NULL and meaningless when read from a file. */
	const struct profile_stack *stack;
};

/* Sorted by name, each name once, after baseline_entries_merge. */
struct baseline_entries {
	struct baseline_entry *items;
	size_t count, room;
};

struct baseline {
	char *path;                    /* where it was read from; NULL = made of a profile */
	bool exact;
	uint64_t rate_bytes;           /* the largest of its traces */
	uint64_t samples;
	struct tally totals;           /* of the heap, suppressed stacks left out; its peak is
					* the largest one of its processes */
	struct number suppressed;      /* live, of suppressed stacks */
	struct baseline_entries stacks;
	struct baseline_entries sites; /* suppressed stacks left out */
};

/* Sums @profile up. @suppressions may be NULL; their uses are counted. The
 * result is the caller's, for baseline_free; it borrows from @profile. */
int baseline_of_profile(struct profile *profile, struct suppressions *suppressions,
			struct baseline **baseline, struct error *err);

void baseline_free(struct baseline *baseline);

/* Takes @name over, also when it fails: NULL or no room is ERROR_MEMORY. */
int baseline_entries_add(struct baseline_entries *entries, char *name, const struct tally *tally,
			 bool is_suppressed, const struct profile_stack *stack);
void baseline_entries_merge(struct baseline_entries *entries);
void baseline_entries_release(struct baseline_entries *entries);

/* The entry called @name; NULL = not there. */
const struct baseline_entry *baseline_find(const struct baseline_entries *entries,
					   const char *name);

/* A frame of a profile as suppressions see it; borrows its strings. */
static inline struct suppression_frame suppression_frame_of(const struct profile_frame *frame)
{
	return (struct suppression_frame){ .function = frame->function, .file = frame->file,
					   .module = frame->module,
					   .is_wrapper = frame->is_wrapper };
}

/* Splits a stack's name, in place, into what suppressions look at. */
size_t baseline_split_name(char *name, struct suppression_frame *frames, size_t room);

#endif
