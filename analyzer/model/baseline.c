/*
 * See baseline.h. Entries are gathered unsorted, then sorted by name and merged
 * where names are equal: stacks that differ in addresses or lines alone become
 * one, which is what makes a baseline outlive a rebuild.
 */
#include "model/baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 512

/* ---- entries --------------------------------------------------------------- */

int baseline_entries_add(struct baseline_entries *entries, char *name, const struct tally *tally,
		       bool is_suppressed, const struct profile_stack *stack)
{
	if (entries->count == entries->room) {
		size_t room = entries->room ? 2 * entries->room : 64;
		struct baseline_entry *more = realloc(entries->items, room * sizeof(*more));

		if (!more) {
			free(name);
			return ERROR_MEMORY;
		}
		entries->items = more;
		entries->room = room;
	}
	if (!name)
		return ERROR_MEMORY;
	entries->items[entries->count++] = (struct baseline_entry){
		.name = name, .tally = *tally, .is_suppressed = is_suppressed, .stack = stack,
	};
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct baseline_entry *)a)->name,
		      ((const struct baseline_entry *)b)->name);
}

void baseline_entries_merge(struct baseline_entries *entries)
{
	size_t i, kept = 0;

	if (!entries->count)
		return;
	qsort(entries->items, entries->count, sizeof(entries->items[0]), by_name);
	for (i = 1; i < entries->count; i++) {
		struct baseline_entry *last = &entries->items[kept], *next = &entries->items[i];

		if (strcmp(last->name, next->name)) {
			entries->items[++kept] = *next;
			continue;
		}
		tally_add(&last->tally, &next->tally);
		free(next->name);
	}
	entries->count = kept + 1;
}

void baseline_entries_release(struct baseline_entries *entries)
{
	while (entries->count)
		free(entries->items[--entries->count].name);
	free(entries->items);
	entries->items = NULL;
}

const struct baseline_entry *baseline_find(const struct baseline_entries *entries,
					   const char *name)
{
	struct baseline_entry key = { .name = (char *)name };

	return entries->count ? bsearch(&key, entries->items, entries->count,
					sizeof(*entries->items), by_name)
			      : NULL;
}

/* ---- names ------------------------------------------------------------------ */

/* "function@module"; the parts that are not known as "??". */
static void write_frame(FILE *out, const char *function, const char *module)
{
	fprintf(out, "%s@%s", function ? function : "??", module ? path_base(module) : "??");
}

static char *stack_name(const struct profile_frame *frames, size_t count)
{
	char *name = NULL;
	size_t bytes, i;
	FILE *out = open_memstream(&name, &bytes);

	if (!out)
		return NULL;
	for (i = 0; i < count && i < FRAMES_MAX; i++) {
		if (i)
			fputs(" < ", out);
		write_frame(out, frames[i].function, frames[i].module);
	}
	fclose(out);
	return name;
}

static char *site_name(const struct profile_frame *where)
{
	return stack_name(where, 1);
}

/* ---- from a profile ----------------------------------------------------------- */

static bool is_suppressed_stack(struct suppressions *suppressions,
				const struct profile_frame *frames, size_t count,
				const struct number *live)
{
	struct suppression_frame seen[FRAMES_MAX];
	size_t i;

	if (!suppressions || !suppressions_count(suppressions))
		return false;
	if (count > FRAMES_MAX)
		count = FRAMES_MAX;
	for (i = 0; i < count; i++)
		seen[i] = suppression_frame_of(&frames[i]);
	return suppressions_match(suppressions, seen, count, live->count, live->bytes) >= 0;
}

static int add_stack(struct profile *profile, const struct profile_site *site,
		     const struct profile_stack *stack, struct suppressions *suppressions,
		     struct baseline *baseline)
{
	const struct number *live = &stack->tally.of[METRIC_LIVE];
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, stack, &frames);
	/* Only what is left behind can be excused. */
	bool suppressed = live->count > 0 &&
			  is_suppressed_stack(suppressions, frames, count, live);
	int code = baseline_entries_add(&baseline->stacks, stack_name(frames, count),
					&stack->tally, suppressed, stack);

	if (suppressed)
		number_add(&baseline->suppressed, live);
	if (!code && !suppressed)
		code = baseline_entries_add(&baseline->sites, site_name(&site->where),
					    &stack->tally, false, stack);
	return code;
}

static void take_totals(const struct profile *profile, struct baseline *baseline)
{
	size_t i;

	baseline->exact = profile->exact;
	baseline->samples = profile->samples;
	baseline->totals = profile->heap;
	number_remove(&baseline->totals.of[METRIC_LIVE], &baseline->suppressed);
	memset(&baseline->totals.of[METRIC_PEAK], 0, sizeof(struct number));
	for (i = 0; i < profile->trace_count; i++) {
		const struct number *peak = &profile->traces[i].totals.heap.of[METRIC_PEAK];
		uint64_t rate = profile->traces[i].trace->info.rate_bytes;

		if (peak->bytes > baseline->totals.of[METRIC_PEAK].bytes)
			baseline->totals.of[METRIC_PEAK] = *peak;
		if (rate > baseline->rate_bytes)
			baseline->rate_bytes = rate;
	}
}

int baseline_of_profile(struct profile *profile, struct suppressions *suppressions,
			struct baseline **result, struct error *err)
{
	struct baseline *baseline = calloc(1, sizeof(*baseline));
	int code = baseline ? 0 : ERROR_MEMORY;
	size_t i, j;

	for (i = 0; !code && i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		for (j = 0; !code && site->kind == TALLY_HEAP && j < site->stack_count; j++)
			code = add_stack(profile, site, &site->stacks[j], suppressions, baseline);
	}
	if (code) {
		baseline_free(baseline);
		return error_set(err, code, NULL, ERROR_NO_OFFSET, "out of memory");
	}
	take_totals(profile, baseline);
	baseline_entries_merge(&baseline->stacks);
	baseline_entries_merge(&baseline->sites);
	*result = baseline;
	return 0;
}

/* ---- the whole -------------------------------------------------------------------- */

/* Splits a stack's name at " < " and "@" (the last one of a part) in place. */
size_t baseline_split_name(char *name, struct suppression_frame *frames, size_t room)
{
	size_t count = 0;
	char *part = name;

	while (part && count < room) {
		char *next = strstr(part, " < "), *at;

		if (next) {
			*next = 0;
			next += 3;
		}
		at = strrchr(part, '@');
		if (at)
			*at = 0;
		frames[count++] = (struct suppression_frame){
			.function = strcmp(part, "??") ? part : NULL,
			.module = at ? at + 1 : NULL,
		};
		part = next;
	}
	return count;
}

void baseline_free(struct baseline *baseline)
{
	if (!baseline)
		return;
	baseline_entries_release(&baseline->stacks);
	baseline_entries_release(&baseline->sites);
	free(baseline->path);
	free(baseline);
}
