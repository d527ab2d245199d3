/*
 * See profile.h. The way from traces to sites:
 *
 *	traces ─ pass ─► cells (per stack) ─ names ─► entries, each with the key of
 *	its site and the hash of its names ─ sort ─► equal stacks merged, sites
 *	summed up, both ordered.
 *
 * Equal names are equal pointers (names.h), so keys are compared as numbers.
 */
#include "model/profile.h"

#include "model/names.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

/* What makes two stacks belong to the same site, as the query says. */
struct site_key {
	const void *a, *b, *c;
	uint64_t n;
};

struct entry {
	struct site_key key;
	uint64_t chain;            /* hash of all its names */
	struct profile_stack stack;
};

struct profile_names {
	struct names *names;
	uint64_t **chains;         /* by member and node: hash of the names outwards, 0 = not yet */
	uint8_t **matches;         /* by member and node: NODE_... */
	size_t *node_counts;
	struct profile_frame *frames; /* scratch */
	size_t frames_room;
};

enum node_match { NODE_KNOWN = 1, NODE_IN_FOCUS = 2, NODE_IS_IGNORED = 4 };

/* ---- passes ---- */

static const enum tally_dimension dimension_of[] = {
	[BY_THREAD] = DIMENSION_THREAD, [BY_SCOPE] = DIMENSION_SCOPE, [BY_SIZE] = DIMENSION_SIZE,
	[BY_PROCESS] = DIMENSION_NONE,
};

/* Notes where the pass ended. */
struct end_note {
	struct aggregator aggregator;
	uint64_t end_ns;
};

static void end_note_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	(void)self;
	(void)events;
	(void)count;
}

static void end_note_end(struct aggregator *self, uint64_t end_ns)
{
	((struct end_note *)self)->end_ns = end_ns;
}

static int member_moment(struct trace_set_member *member, const struct query *query,
			 struct moment *moment, struct error *err)
{
	*moment = member->when;
	if (moment->kind == MOMENT_END && query->to)
		return moment_parse(member->trace, query->to, moment, err);
	return 0;
}

static int member_pass(struct profile_trace *pt, struct trace_set_member *member,
		       const struct query *query, struct aggregator *const *extra,
		       size_t extra_count, struct tallies **tallies, struct error *err)
{
	struct event_filter filter = { 0 };
	struct end_note note = { .aggregator = { .take = end_note_take, .end = end_note_end,
						   .take_pairs = pairs_pass_over } };
	struct aggregator **all = memory_zeroed(extra_count + 2, sizeof(*all));
	int status = member_moment(member, query, &pt->when, err);

	pt->trace = member->trace;
	if (!status)
		status = event_filter_init(&filter, pt->trace, query, err);
	if (!status) {
		*tallies = tallies_new(pt->trace, dimension_of[query->by], &filter);
		all[0] = tallies_aggregator(*tallies);
		all[1] = &note.aggregator;
		if (extra_count)
			memcpy(all + 2, extra, extra_count * sizeof(*all));
		status = pass_run(pt->trace, &pt->when, 0, all, extra_count + 2, &pt->stats, err);
		pt->end_ns = note.end_ns;
	}
	if (!status)
		tallies_totals(*tallies, &pt->totals);
	event_filter_release(&filter);
	free(all);
	return status;
}

/* ---- stacks as chains of names ---- */

static void names_tables(struct profile *profile)
{
	struct profile_names *pn = profile->names;

	pn->chains = memory_zeroed(profile->trace_count, sizeof(*pn->chains));
	pn->matches = memory_zeroed(profile->trace_count, sizeof(*pn->matches));
	pn->node_counts = memory_zeroed(profile->trace_count, sizeof(*pn->node_counts));
	for (size_t i = 0; i < profile->trace_count; i++) {
		size_t count = profile->traces[i].trace->node_count;

		pn->node_counts[i] = count;
		pn->chains[i] = memory_zeroed(count, sizeof(**pn->chains));
		pn->matches[i] = memory_zeroed(count, 1);
	}
}

#define CHAIN_END 0x51ed270b35ae1ull

/* A stack may be deep: the way out is walked first, then filled on the way in. */
static void node_settle(struct profile *profile, uint32_t member, uint32_t node)
{
	struct profile_names *pn = profile->names;
	const struct trace_stack_node *nodes = profile->traces[member].trace->nodes;
	uint64_t *chains = pn->chains[member];
	uint8_t *matches = pn->matches[member];
	uint32_t *way = NULL;
	size_t depth = 0;

	for (; node && node < pn->node_counts[member] && !matches[node];
	     node = nodes[node].parent) {
		MEMORY_ROOM(way, depth);
		way[depth++] = node;
	}
	while (depth-- > 0) {
		uint32_t at = way[depth], parent = nodes[at].parent;
		const struct names_pc *pc = names_of(pn->names, member, at);
		uint64_t outer = parent ? chains[parent] : CHAIN_END;

		chains[at] = pc->count ? (outer ^ pc->hash) * 0x9e3779b97f4a7c15ull : outer;
		chains[at] ^= chains[at] >> 31;
		matches[at] = (uint8_t)(NODE_KNOWN | (parent ? matches[parent] : 0) |
					(pc->in_focus ? NODE_IN_FOCUS : 0) |
					(pc->is_ignored ? NODE_IS_IGNORED : 0));
	}
	free(way);
}

static const struct profile_frame no_frame = { .function = "[no frames shown]" };

const struct profile_frame *profile_call_site(struct profile *profile, uint32_t member,
					      uint32_t node)
{
	struct names *names = profile->names->names;
	const struct trace *trace = profile->traces[member].trace;
	const struct profile_frame *innermost = NULL;

	do {
		const struct names_pc *pc = names_of(names, member, node);

		if (pc->is_mark && innermost)
			break; /* wrappers all the way */
		if (!innermost && pc->count)
			innermost = &pc->frames[0];
		if (pc->own < pc->count)
			return &pc->frames[pc->own];
		node = node < trace->node_count ? trace->nodes[node].parent : 0;
	} while (node);
	return innermost ? innermost : &no_frame;
}

/* ---- keys ---- */

static const char *thread_label(struct profile *profile, const struct profile_stack *stack)
{
	const struct trace *trace = profile->traces[stack->member].trace;
	char text[256];

	if (stack->dimension >= trace->thread_count)
		return names_intern(profile->names->names, "[unknown thread]");
	const struct trace_thread *thread = &trace->threads[stack->dimension];

	snprintf(text, sizeof(text), "%s%s%u", thread->name ? thread->name : "",
		 thread->name && *thread->name ? " " : "", thread->tid);
	return names_intern(profile->names->names, text);
}

static const char *scope_label(struct profile *profile, const struct profile_stack *stack)
{
	const struct trace *trace = profile->traces[stack->member].trace;
	const char *name = stack->dimension < trace->scope_count ? trace->scopes[stack->dimension] :
								   "";

	return names_intern(profile->names->names, *name ? name : "[no scope]");
}

static const char *size_label(struct profile *profile, const struct profile_stack *stack)
{
	char text[64];
	uint64_t high = stack->dimension >= 64 ? UINT64_MAX : (1ull << stack->dimension) - 1;

	snprintf(text, sizeof(text), "%llu..%llu",
		 stack->dimension ? 1ull << (stack->dimension - 1) : 0ull,
		 (unsigned long long)high);
	return names_intern(profile->names->names, stack->dimension ? text : "0");
}

static const char *process_label(struct profile *profile, const struct profile_stack *stack)
{
	const struct trace *trace = profile->traces[stack->member].trace;
	char text[256];

	snprintf(text, sizeof(text), "%s %llu", path_base(trace->info.exe),
		 (unsigned long long)trace->info.pid);
	return names_intern(profile->names->names, text);
}

static const char *module_label(struct profile *profile, const struct profile_stack *stack)
{
	const struct profile_frame *where = profile_call_site(profile, stack->member, stack->node);

	return where->module ? where->module :
			       names_intern(profile->names->names, "[no module]");
}

static const char *(*const labels[])(struct profile *, const struct profile_stack *) = {
	[BY_MODULE] = module_label,   [BY_THREAD] = thread_label, [BY_SCOPE] = scope_label,
	[BY_SIZE] = size_label,       [BY_PROCESS] = process_label,
};

static const char *site_label(struct profile *profile, const struct profile_stack *stack)
{
	return labels[profile->query->by] ? labels[profile->query->by](profile, stack) : NULL;
}

static struct site_key place_key(const struct profile_frame *where, int by)
{
	struct site_key key = { .b = where->module };

	if (by == BY_LINE && where->file)
		return (struct site_key){ .c = where->file, .n = where->line };
	if (!where->function) {
		key.n = where->module_offset;
		return key;
	}
	key.a = where->function;
	key.c = where->file;
	key.n = by == BY_FUNCTION ? 0 : where->line;
	return key;
}

static struct site_key entry_key(struct profile *profile, const struct entry *entry)
{
	const char *label = site_label(profile, &entry->stack);

	if (label)
		return (struct site_key){ .a = label, .n = profile->query->by == BY_THREAD ?
								  entry->stack.member : 0 };
	if (profile->query->by == BY_STACK)
		return (struct site_key){ .n = entry->chain };
	return place_key(profile_call_site(profile, entry->stack.member, entry->stack.node),
			 profile->query->by);
}

static bool same_key(const struct site_key *x, const struct site_key *y)
{
	return x->a == y->a && x->b == y->b && x->c == y->c && x->n == y->n;
}

/* ---- entries ---- */

static bool entry_is_wanted(struct profile *profile, const struct profile_stack *stack)
{
	const struct query *query = profile->query;
	uint8_t match = stack->node ? profile->names->matches[stack->member][stack->node] : 0;

	if (query->focus.count && !(match & NODE_IN_FOCUS))
		return false;
	if (match & NODE_IS_IGNORED)
		return false;
	if (query->module.count) {
		const struct profile_frame *where =
			profile_call_site(profile, stack->member, stack->node);

		if (!where->module || !pattern_matches(&query->module, where->module))
			return false;
	}
	return true;
}

struct entry_list {
	struct entry *entries;
	size_t count;
};

static void entries_add(struct profile *profile, uint32_t member, const struct tallies *tallies,
			struct entry_list *list)
{
	struct tallies_cell cell;

	for (size_t i = 0; i < tallies_count(tallies); i++) {
		struct entry entry = { 0 };

		tallies_cell(tallies, i, &cell);
		if (cell.stack >= profile->names->node_counts[member])
			cell.stack = 0;
		node_settle(profile, member, cell.stack);
		entry.stack = (struct profile_stack){ .member = member, .node = cell.stack,
						      .dimension = cell.dimension,
						      .kind = cell.kind, .tally = cell.tally };
		if (!entry_is_wanted(profile, &entry.stack)) {
			profile->filtered = true;
			continue;
		}
		entry.chain = cell.stack ? profile->names->chains[member][cell.stack] : 0;
		entry.key = entry_key(profile, &entry);
		MEMORY_ROOM(list->entries, list->count);
		list->entries[list->count++] = entry;
	}
}

static int compare_number(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = compare_number(x->stack.kind, y->stack.kind);

	if (!order)
		order = compare_number((uintptr_t)x->key.a, (uintptr_t)y->key.a);
	if (!order)
		order = compare_number((uintptr_t)x->key.b, (uintptr_t)y->key.b);
	if (!order)
		order = compare_number((uintptr_t)x->key.c, (uintptr_t)y->key.c);
	if (!order)
		order = compare_number(x->key.n, y->key.n);
	if (!order)
		order = compare_number(x->chain, y->chain);
	if (!order)
		order = compare_number(x->stack.member, y->stack.member);
	return order ? order : compare_number(x->stack.node, y->stack.node);
}

/* ---- sites ---- */

static void place_for_query(const struct profile *profile, struct profile_frame *where)
{
	where->is_inlined = where->is_wrapper = false;
	switch (profile->query->by) {
	case BY_FUNCTION:
		where->line = 0;
		break;
	case BY_MODULE:
		*where = (struct profile_frame){ .module = where->module };
		break;
	case BY_THREAD:
	case BY_SCOPE:
	case BY_SIZE:
	case BY_PROCESS:
		*where = (struct profile_frame){ 0 };
		break;
	default:
		break;
	}
}

/* Entries are in the order of their sites: makes sites and their stacks. */
static void sites_make(struct profile *profile, struct entry_list *list)
{
	struct entry *previous = NULL;
	struct profile_stack *stacks = memory_zeroed(list->count, sizeof(*stacks));
	size_t stack_count = 0;

	profile->stacks = stacks;
	profile->cells = memory_zeroed(list->count, sizeof(*profile->cells));
	for (size_t i = 0; i < list->count; i++) {
		struct entry *entry = &list->entries[i];
		bool is_same = previous && previous->stack.kind == entry->stack.kind &&
			       same_key(&previous->key, &entry->key);
		struct profile_site *site;

		if (!is_same) {
			MEMORY_ROOM(profile->sites, profile->site_count);
			site = &profile->sites[profile->site_count++];
			*site = (struct profile_site){ .kind = entry->stack.kind,
						       .label = site_label(profile, &entry->stack),
						       .stacks = &stacks[stack_count],
						       .cells = &profile->cells[i] };
		}
		site = &profile->sites[profile->site_count - 1];
		if (is_same && previous->chain == entry->chain) {
			tally_add(&stacks[stack_count - 1].tally, &entry->stack.tally);
		} else {
			stacks[stack_count++] = entry->stack;
			site->stack_count++;
		}
		profile->cells[i] = (struct profile_cell){ entry->stack.member, entry->stack.node,
							   entry->stack.dimension,
							   entry->stack.kind };
		site->cell_count++;
		tally_add(&site->tally, &entry->stack.tally);
		tally_add(site->kind == TALLY_HEAP ? &profile->heap : &profile->mapped,
			  &entry->stack.tally);
		previous = entry;
	}
}

/* qsort has no context; a command has one query. */
static const struct query *sort_query;

static int compare_values(const struct tally *x, const struct tally *y)
{
	double a = number_value(&x->of[sort_query->sort], sort_query->by_count);
	double b = number_value(&y->of[sort_query->sort], sort_query->by_count);

	if (a != b)
		return a > b ? -1 : 1;
	a = x->of[METRIC_ALLOCATED].bytes;
	b = y->of[METRIC_ALLOCATED].bytes;
	if (a == b) {
		a = x->of[METRIC_ALLOCATED].count;
		b = y->of[METRIC_ALLOCATED].count;
	}
	return a == b ? 0 : a > b ? -1 : 1;
}

static int compare_stacks(const void *a, const void *b)
{
	const struct profile_stack *x = a, *y = b;
	int order = compare_values(&x->tally, &y->tally);

	if (!order)
		order = compare_number(x->member, y->member);
	return order ? order : compare_number(x->node, y->node);
}

static int compare_text(const char *x, const char *y)
{
	return strcmp(x ? x : "", y ? y : "");
}

static int compare_sites(const void *a, const void *b)
{
	const struct profile_site *x = a, *y = b;
	int order = compare_values(&x->tally, &y->tally);

	if (!order)
		order = compare_text(x->label, y->label);
	if (!order)
		order = compare_text(x->where.function, y->where.function);
	if (!order)
		order = compare_text(x->where.file, y->where.file);
	if (!order)
		order = compare_number(x->where.line, y->where.line);
	if (!order)
		order = compare_text(x->where.module, y->where.module);
	return order ? order : compare_number(x->where.module_offset, y->where.module_offset);
}

static void sites_order(struct profile *profile)
{
	sort_query = profile->query;
	for (size_t i = 0; i < profile->site_count; i++) {
		struct profile_site *site = &profile->sites[i];

		qsort(site->stacks, site->stack_count, sizeof(*site->stacks), compare_stacks);
		site->where = *profile_call_site(profile, site->stacks[0].member,
						 site->stacks[0].node);
		place_for_query(profile, &site->where);
	}
	if (profile->site_count)
		qsort(profile->sites, profile->site_count, sizeof(*profile->sites), compare_sites);
}

static void site_drop(struct profile *profile, struct profile_site *site,
		      profile_is_dropped is_dropped, void *context, struct tally *dropped)
{
	size_t kept = 0;

	for (size_t i = 0; i < site->stack_count; i++) {
		if (is_dropped(context, profile, &site->stacks[i]))
			tally_add(dropped, &site->stacks[i].tally);
		else
			site->stacks[kept++] = site->stacks[i];
	}
	if (kept == site->stack_count)
		return;
	site->stack_count = kept;
	site->tally = (struct tally){ 0 };
	for (size_t i = 0; i < kept; i++)
		tally_add(&site->tally, &site->stacks[i].tally);
}

void profile_drop(struct profile *profile, profile_is_dropped is_dropped, void *context,
		  struct tally *dropped)
{
	size_t kept = 0;

	*dropped = profile->heap = profile->mapped = (struct tally){ 0 };
	for (size_t i = 0; i < profile->site_count; i++) {
		struct profile_site *site = &profile->sites[i];

		site_drop(profile, site, is_dropped, context, dropped);
		if (!site->stack_count)
			continue;
		tally_add(site->kind == TALLY_HEAP ? &profile->heap : &profile->mapped,
			  &site->tally);
		profile->sites[kept++] = *site;
	}
	profile->site_count = kept;
	sort_query = profile->query;
	qsort(profile->sites, kept, sizeof(*profile->sites), compare_sites);
}

/* ---- the whole ---- */

static void totals_add(struct profile *profile)
{
	profile->exact = profile->complete = true;
	for (size_t i = 0; i < profile->trace_count; i++) {
		struct profile_trace *pt = &profile->traces[i];

		number_add(&profile->inherited, &pt->totals.inherited);
		number_add(&profile->unknown, &pt->totals.unknown);
		profile->samples += pt->totals.samples;
		profile->sampled += pt->totals.sampled;
		profile->exact &= pt->trace->info.exact && !pt->totals.sampled;
		profile->complete &= pt->trace->info.complete;
		names_count(profile->names->names, i, &pt->unresolved_frames, &pt->modules_used);
	}
}

static int profile_name(struct profile *profile, struct trace_set *set, struct tallies **tallies,
			struct error *err)
{
	struct tallies_cell cell;

	profile->names = memory_zeroed(1, sizeof(*profile->names));
	profile->names->names = names_new(set, profile->query);
	for (size_t i = 0; i < set->count; i++)
		for (size_t c = 0; c < tallies_count(tallies[i]); c++) {
			tallies_cell(tallies[i], c, &cell);
			names_want(profile->names->names, i, cell.stack);
		}
	return names_resolve(profile->names->names, err);
}

int profile_build_with(struct trace_set *set, const struct query *query,
		       struct aggregator *const *const *extra, size_t extra_count,
		       struct profile **out, struct error *err)
{
	struct profile *profile = memory_zeroed(1, sizeof(*profile));
	struct tallies **tallies = memory_zeroed(set->count, sizeof(*tallies));
	struct entry_list list = { 0 };
	int status = 0;

	profile->query = query;
	profile->trace_count = set->count;
	profile->traces = memory_zeroed(set->count, sizeof(*profile->traces));
	for (size_t i = 0; !status && i < set->count; i++)
		status = member_pass(&profile->traces[i], &set->members[i], query,
				     extra ? extra[i] : NULL, extra_count, &tallies[i], err);
	if (!status)
		status = profile_name(profile, set, tallies, err);
	if (!status) {
		names_tables(profile);
		for (size_t i = 0; i < set->count; i++)
			entries_add(profile, (uint32_t)i, tallies[i], &list);
		if (list.count)
			qsort(list.entries, list.count, sizeof(*list.entries), compare_entries);
		sites_make(profile, &list);
		sites_order(profile);
		totals_add(profile);
	}
	for (size_t i = 0; i < set->count; i++)
		tallies_free(tallies[i]);
	free(tallies);
	free(list.entries);
	if (status)
		profile_free(profile);
	else
		*out = profile;
	return status;
}

int profile_build(struct trace_set *set, const struct query *query, struct profile **profile,
		  struct error *err)
{
	return profile_build_with(set, query, NULL, 0, profile, err);
}

void profile_free(struct profile *profile)
{
	struct profile_names *pn;

	if (!profile)
		return;
	pn = profile->names;
	free(profile->stacks);
	free(profile->cells);
	if (pn) {
		for (size_t i = 0; pn->chains && i < profile->trace_count; i++) {
			free(pn->chains[i]);
			free(pn->matches[i]);
		}
		free(pn->chains);
		free(pn->matches);
		free(pn->node_counts);
		free(pn->frames);
		names_free(pn->names);
		free(pn);
	}
	free(profile->sites);
	free(profile->traces);
	free(profile);
}

/* ---- frames ---- */

static void frames_room(struct profile_names *pn, size_t count)
{
	if (count <= pn->frames_room)
		return;
	pn->frames_room = count * 2 + 64;
	pn->frames = memory_resize(pn->frames, pn->frames_room, sizeof(*pn->frames));
}

static size_t frames_of(struct profile *profile, uint32_t member, uint32_t node,
			const struct profile_frame **frames)
{
	struct profile_names *pn = profile->names;
	const struct trace *trace = profile->traces[member].trace;
	size_t count = 0;

	do {
		const struct names_pc *pc = names_of(pn->names, member, node);

		frames_room(pn, count + pc->count);
		memcpy(pn->frames + count, pc->frames, pc->count * sizeof(*pn->frames));
		count += pc->count;
		node = node < trace->node_count ? trace->nodes[node].parent : 0;
	} while (node);
	*frames = pn->frames;
	return count;
}

size_t profile_frames(struct profile *profile, const struct profile_stack *stack,
		      const struct profile_frame **frames)
{
	return frames_of(profile, stack->member, stack->node, frames);
}

size_t profile_node_frames(struct profile *profile, uint32_t member, uint32_t node,
			   const struct profile_frame **frames)
{
	struct error err;

	names_want(profile->names->names, member, node);
	names_resolve(profile->names->names, &err);
	return frames_of(profile, member, node, frames);
}

const char *path_base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}
