/*
 * See site_match.h. Sites become items with a key of names; equal keys are
 * neighbours once sorted. What finds no partner is tried again with a looser key.
 */
#include "model/site_match.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

enum looseness { MATCH_FULLY, MATCH_FROM_CALL_SITE, MATCH_BY_FUNCTION, MATCH_LEVELS };

struct item {
	char *key;                 /* the site's names, without its line */
	uint32_t line;
	struct match_site of;
	size_t index;
	bool is_later, is_taken;
};

struct matching {
	struct item *items;
	size_t count;
	struct match_pair *pairs;
	size_t pair_count;
	enum looseness level;
	bool one_trace;
};

/* ---- keys ---- */

static char kind_letter(const struct profile_site *site)
{
	return site->kind == TALLY_HEAP ? 'h' : 'm';
}

static bool is_call_site(const struct profile_frame *frame, const struct profile_frame *where)
{
	return frame->module_offset == where->module_offset && frame->function && where->function &&
	       !strcmp(frame->function, where->function);
}

/* The first frame of @frames that is the site's place, 0 when none is. */
static size_t call_site_index(const struct profile_site *site, const struct profile_frame *frames,
			      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_call_site(&frames[i], &site->where))
			return i;
	return 0;
}

static char *stack_key(struct profile *profile, const struct profile_site *site,
		       enum looseness level)
{
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, &site->stacks[0], &frames), bytes = 2;
	size_t first = level == MATCH_FULLY ? 0 : call_site_index(site, frames, count);
	char *key, *at;

	for (size_t i = first; i < count; i++)
		bytes += strlen(frames[i].function ? frames[i].function :
						     path_base(frames[i].module)) + 24;
	key = at = memory_zeroed(bytes, 1);
	*at++ = kind_letter(site);
	for (size_t i = first; i < count; i++) {
		if (frames[i].function)
			at += sprintf(at, ";%s", frames[i].function);
		else
			at += sprintf(at, ";%s+%llx", path_base(frames[i].module),
				      (unsigned long long)frames[i].module_offset);
	}
	return key;
}

static char *full_key(struct profile *profile, const struct profile_site *site)
{
	const struct profile_frame *where = &site->where;
	char kind = kind_letter(site);

	if (site->label && profile->query->by != BY_MODULE)
		return memory_format("%c;%s", kind, site->label);
	if (where->function)
		return memory_format("%c;%s;%s;%s", kind, where->function, path_base(where->file),
				     path_base(where->module));
	if (where->file)
		return memory_format("%c;;%s", kind, path_base(where->file));
	return memory_format("%c;%s+%llx", kind, path_base(where->module),
			     (unsigned long long)where->module_offset);
}

/* NULL: the site has no such key. */
static char *site_key(struct profile *profile, const struct profile_site *site,
		      enum looseness level)
{
	bool by_stack = profile->query->by == BY_STACK;

	if (by_stack && level != MATCH_BY_FUNCTION)
		return stack_key(profile, site, level);
	if (level == MATCH_FULLY)
		return full_key(profile, site);
	if (level == MATCH_FROM_CALL_SITE || site->label || !site->where.function)
		return NULL;
	return memory_format("%c;%s", kind_letter(site), site->where.function);
}

/* ---- builds ---- */

static const struct trace_module *module_named(const struct profile *profile, const char *path)
{
	for (size_t t = 0; t < profile->trace_count; t++) {
		const struct trace *trace = profile->traces[t].trace;

		for (size_t i = 0; i < trace->module_count; i++)
			if (!strcmp(path_base(trace->modules[i].path), path_base(path)))
				return &trace->modules[i];
	}
	return NULL;
}

static bool is_same_build(const struct trace_module *a, const struct trace_module *b)
{
	if (a->build_id_bytes != b->build_id_bytes)
		return false;
	if (a->build_id_bytes)
		return !memcmp(a->build_id, b->build_id, a->build_id_bytes);
	return a->file_bytes == b->file_bytes && a->mtime_ns == b->mtime_ns;
}

/* Is the code of @of as it was on the other side? */
static bool is_unmoved(const struct match_site *of, const struct profile *other)
{
	const struct trace_module *here, *there;

	if (!of->site->where.module)
		return true;
	here = module_named(of->profile, of->site->where.module);
	there = module_named(other, of->site->where.module);
	return here && there && is_same_build(here, there);
}

static bool may_have_moved(const struct matching *matching, const struct item *before,
			   const struct item *after)
{
	return !matching->one_trace && !is_unmoved(&before->of, after->of.profile) &&
	       !is_unmoved(&after->of, before->of.profile);
}

/* ---- pairs ---- */

static void add_pair(struct matching *matching, struct item *before, struct item *after)
{
	MEMORY_ROOM(matching->pairs, matching->pair_count);
	matching->pairs[matching->pair_count++] = (struct match_pair){
		.before = before ? before->index : MATCH_NONE,
		.after = after ? after->index : MATCH_NONE,
		.is_moved = before && after && matching->level != MATCH_FULLY,
	};
	if (before)
		before->is_taken = true;
	if (after)
		after->is_taken = true;
}

/* The next item from @at on of the side, not matched yet. */
static struct item *next_free(struct item *at, const struct item *end, bool is_later)
{
	while (at < end && (at->is_taken || at->is_later != is_later))
		at++;
	return at < end ? at : NULL;
}

static void match_by_line(struct matching *matching, struct item *from, struct item *end)
{
	for (struct item *at = from; at + 1 < end; at++)
		if (!at->is_later && at[1].is_later && at->line == at[1].line &&
		    !at->is_taken && !at[1].is_taken)
			add_pair(matching, at, at + 1);
}

static void match_in_order(struct matching *matching, struct item *from, struct item *end)
{
	struct item *before = next_free(from, end, false), *after = next_free(from, end, true);

	while (before && after && may_have_moved(matching, before, after)) {
		add_pair(matching, before, after);
		before = next_free(before, end, false);
		after = next_free(after, end, true);
	}
}

/* The sites of one key. */
static void match_group(struct matching *matching, struct item *from, struct item *end)
{
	size_t before = 0, after = 0;

	for (struct item *at = from; at < end; at++) {
		before += !at->is_later;
		after += at->is_later;
	}
	if (before == after)
		match_in_order(matching, from, end);
	if (matching->level == MATCH_FULLY)
		match_by_line(matching, from, end);
	match_in_order(matching, from, end);
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (!order)
		order = x->line < y->line ? -1 : x->line > y->line;
	if (!order)
		order = x->is_later - y->is_later;
	return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

static void match_level(struct matching *matching)
{
	size_t count = matching->count;

	if (count)
		qsort(matching->items, count, sizeof(*matching->items), compare_items);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1;
		     end < count && !strcmp(matching->items[i].key, matching->items[end].key);)
			end++;
		match_group(matching, &matching->items[i], &matching->items[end]);
	}
}

/* Leaves the items without partner, with keys of the next level. */
static void loosen(struct matching *matching, enum looseness level)
{
	size_t left = 0;

	matching->level = level;
	for (size_t i = 0; i < matching->count; i++) {
		struct item *item = &matching->items[i];
		char *key = item->is_taken ? NULL
					   : site_key(item->of.profile, item->of.site, level);

		if (!item->is_taken && !key)
			key = memory_format("?%d;%zu", item->is_later, item->index);
		free(item->key);
		item->key = key;
		if (key)
			matching->items[left++] = *item;
	}
	matching->count = left;
}

static void add_items(struct matching *matching, const struct match_site *sites, size_t count,
		      bool is_later)
{
	for (size_t i = 0; i < count; i++) {
		struct profile *profile = sites[i].profile;
		const struct profile_site *site = sites[i].site;

		MEMORY_ROOM(matching->items, matching->count);
		matching->items[matching->count++] = (struct item){
			.key = site_key(profile, site, MATCH_FULLY),
			.line = profile->query->by == BY_STACK ? 0 : site->where.line,
			.of = sites[i], .index = i, .is_later = is_later,
		};
	}
}

size_t site_match(const struct match_site *before, size_t before_count,
		  const struct match_site *after, size_t after_count, bool one_trace,
		  struct match_pair **pairs)
{
	struct matching matching = { .one_trace = one_trace };

	add_items(&matching, before, before_count, false);
	add_items(&matching, after, after_count, true);
	match_level(&matching);
	for (int level = MATCH_FROM_CALL_SITE; !one_trace && level < MATCH_LEVELS; level++) {
		loosen(&matching, level);
		match_level(&matching);
	}
	for (size_t i = 0; i < matching.count; i++) {
		struct item *item = &matching.items[i];

		if (!item->is_taken)
			add_pair(&matching, item->is_later ? NULL : item,
				 item->is_later ? item : NULL);
		free(item->key);
	}
	free(matching.items);
	*pairs = matching.pairs;
	return matching.pair_count;
}
