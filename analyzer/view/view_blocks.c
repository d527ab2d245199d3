/*
 * blocks: the live blocks themselves, largest first; and `blocks 0xADDRESS`:
 * whose block that is, and whose it was before.
 */
#include "model/live_set.h"
#include "model/filtered_pass.h"
#include "util/memory.h"
#include "view/multi.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct address_list {
	uint64_t *items;
	size_t count;
};

/* ---- the life of one address ---- */

struct life {
	struct trace_event birth;
	uint64_t freed_ns;         /* UINT64_MAX = lives */
	uint32_t freed_by, free_stack;
};

struct history {
	struct aggregator aggregator;
	const struct address_list *addresses;
	struct life *lives;
	size_t count;
};

static bool covers(const struct trace_event *e, uint64_t address)
{
	uint64_t bytes = e->size ? e->size : 1;

	return address >= e->address && address - e->address < bytes;
}

static bool is_wanted(const struct history *history, const struct trace_event *e)
{
	for (size_t i = 0; i < history->addresses->count; i++)
		if (covers(e, history->addresses->items[i]))
			return true;
	return false;
}

static void history_end_life(struct history *history, const struct trace_event *e)
{
	for (size_t i = history->count; i-- > 0;) {
		struct life *life = &history->lives[i];

		if (life->birth.address != e->address || life->freed_ns != UINT64_MAX)
			continue;
		life->freed_ns = e->time_ns;
		life->freed_by = e->thread;
		life->free_stack = e->free_stack;
		return;
	}
}

static void history_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct history *history = (struct history *)self;

	for (const struct trace_event *e = events; e < events + count; e++) {
		if (!is_wanted(history, e))
			continue;
		if (e->kind == TRACE_EVENT_ALLOCATE || e->kind == TRACE_EVENT_MAP) {
			MEMORY_ROOM(history->lives, history->count);
			history->lives[history->count++] =
				(struct life){ .birth = *e, .freed_ns = UINT64_MAX };
		} else {
			history_end_life(history, e);
		}
	}
}

/* ---- names for blocks: a profile of the same trace ---- */

struct block_names {
	struct trace_set one;
	struct trace_set_member member;
	struct profile *profile;
};

static int names_open(struct block_names *names, const struct trace_set_member *member,
		      struct query *query, struct error *err)
{
	names->member = *member;
	names->one = (struct trace_set){ .members = &names->member, .count = 1 };
	query->by = BY_SITE;
	return profile_build(&names->one, query, &names->profile, err);
}

static char *thread_words(const struct trace *trace, uint32_t thread)
{
	const struct trace_thread *t;

	if (thread >= trace->thread_count)
		return memory_string("?");
	t = &trace->threads[thread];
	return memory_format("%s%s%u", t->name ? t->name : "", t->name && *t->name ? " " : "",
			     t->tid);
}

/* ---- the list of live blocks ---- */

static int compare_size(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* What a block that lives and one that is gone have in common. */
static void json_block_begin(struct json *json, const struct trace_event *e)
{
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, e->address);
	json_object_begin(json, NULL);
	json_string(json, "address", address);
	json_string(json, "kind", e->kind == TRACE_EVENT_MAP ? "mmap" : "malloc");
	json_unsigned(json, "bytes", e->size);
	json_unsigned(json, "born_ns", e->time_ns);
}

static void json_block(struct json *json, struct profile *profile, const struct trace *trace,
		       const struct trace_event *e, uint64_t end_ns)
{
	const struct profile_frame *frames;
	size_t count = profile_node_frames(profile, 0, e->stack, &frames);

	json_block_begin(json, e);
	json_unsigned(json, "age_ns", end_ns > e->time_ns ? end_ns - e->time_ns : 0);
	if (e->thread < trace->thread_count)
		json_unsigned(json, "tid", trace->threads[e->thread].tid);
	else
		json_null(json, "tid");
	json_frames(json, "frames", frames, count);
	json_object_end(json);
}

static void text_blocks(const struct multi *multi, struct profile *profile,
			const struct trace *trace, const struct live_set *live, size_t rows,
			uint64_t end_ns)
{
	static const struct table_column columns[] = {
		{ "address", TABLE_RIGHT, false }, { "bytes", TABLE_RIGHT, false },
		{ "age", TABLE_RIGHT, false },     { "thread", TABLE_LEFT, false },
		{ "call site", TABLE_LEFT, true },
	};
	struct table *table = table_new(columns, 5);
	double rest = 0, total = 0;
	char text[UNITS_BYTES];

	for (size_t i = 0; i < live->count; i++) {
		const struct trace_event *e = &live->blocks[i];
		char *thread, *site;

		total += (double)e->size;
		if (i >= rows) {
			rest += (double)e->size;
			continue;
		}
		thread = thread_words(trace, e->thread);
		site = frame_words(profile_call_site(profile, 0, e->stack));
		table_row(table);
		table_cell(table, TABLE_PLAIN, "0x%" PRIx64, e->address);
		table_cell(table, TABLE_PLAIN, "%s",
			   units_bytes(text, (double)e->size, multi->request->raw));
		table_cell(table, TABLE_PLAIN, "%s",
			   units_duration(text, end_ns > e->time_ns ? end_ns - e->time_ns : 0));
		table_cell(table, TABLE_PLAIN, "%s", thread);
		table_cell(table, TABLE_CYAN, "%s", site);
		free(thread);
		free(site);
	}
	if (rows < live->count) {
		table_row(table);
		table_cell(table, TABLE_DIM, "%zu more", live->count - rows);
		table_cell(table, TABLE_DIM, "%s", units_bytes(text, rest, multi->request->raw));
		table_cell(table, TABLE_DIM, "%s", "");
		table_cell(table, TABLE_DIM, "%s", "");
		table_cell(table, TABLE_DIM, "(-n 0 shows all)");
	}
	table_row(table);
	table_cell(table, TABLE_BOLD, "%zu blocks", live->count);
	table_cell(table, TABLE_BOLD, "%s", units_bytes(text, total, multi->request->raw));
	table_print(table, multi->request->out, multi->request->width, multi->request->color);
	table_free(table);
	if (!trace->info.exact)
		fputs("\nSampled: these are the blocks that were recorded, not all there are.\n",
		      multi->request->out);
}

static void csv_blocks(const struct multi *multi, struct profile *profile,
		       const struct trace *trace, const struct live_set *live, size_t rows)
{
	FILE *out = multi->request->out;

	for (size_t i = 0; i < rows; i++) {
		const struct trace_event *e = &live->blocks[i];
		const struct profile_frame *where = profile_call_site(profile, 0, e->stack);

		csv_text(out, trace->path, true);
		fprintf(out, ",0x%" PRIx64 ",%" PRIu64 ",%" PRIu64, e->address, e->size,
			e->time_ns);
		csv_double(out,
			   e->thread < trace->thread_count ? trace->threads[e->thread].tid : 0);
		csv_text(out, where->function, false);
		csv_text(out, where->file, false);
		csv_double(out, where->line);
		fputc('\n', out);
	}
}

static void show_blocks(struct multi *multi, struct profile *profile, const struct trace *trace,
			struct live_set *live, const struct filtered_pass *pass)
{
	size_t choice = multi->request->format == FORMAT_TEXT ? 20 : live->count;
	size_t rows = query_rows(multi->request->query.limit, choice, live->count);

	if (live->count)
		qsort(live->blocks, live->count, sizeof(*live->blocks), compare_size);
	if (multi->request->format == FORMAT_JSON) {
		json_unsigned(&multi->json, "count", live->count);
		json_array_begin(&multi->json, "blocks");
		for (size_t i = 0; i < rows; i++)
			json_block(&multi->json, profile, trace, &live->blocks[i], pass->end_ns);
		json_array_end(&multi->json);
	} else if (multi->request->format == FORMAT_CSV) {
		csv_blocks(multi, profile, trace, live, rows);
	} else {
		multi_heading(multi, trace, pass->from_ns, pass->end_ns);
		text_blocks(multi, profile, trace, live, rows, pass->end_ns);
	}
}

/* ---- whose address ---- */

static void text_frames(FILE *out, struct profile *profile, uint32_t node)
{
	const struct profile_frame *frames;
	size_t count = profile_node_frames(profile, 0, node, &frames);

	for (size_t i = 0; i < count; i++) {
		char *words = frame_words(&frames[i]);

		fprintf(out, "      %s%s\n", words, frames[i].is_inlined ? " (inlined)" : "");
		free(words);
	}
}

static void text_life(const struct multi *multi, struct profile *profile,
		      const struct trace *trace, const struct life *life)
{
	const struct trace_event *e = &life->birth;
	FILE *out = multi->request->out;
	char born[UNITS_BYTES], freed[UNITS_BYTES];
	char *thread = thread_words(trace, e->thread);

	fprintf(out, "  0x%" PRIx64 ", %" PRIu64 " bytes, allocated at %s by thread %s\n",
		e->address, e->size, units_duration(born, e->time_ns), thread);
	free(thread);
	text_frames(out, profile, e->stack);
	if (life->freed_ns == UINT64_MAX) {
		fputs("    and still live\n", out);
		return;
	}
	thread = thread_words(trace, life->freed_by);
	fprintf(out, "    freed at %s by thread %s\n", units_duration(freed, life->freed_ns),
		thread);
	free(thread);
	if (life->free_stack)
		text_frames(out, profile, life->free_stack);
}

static void json_life(struct json *json, struct profile *profile, const struct life *life)
{
	const struct trace_event *e = &life->birth;
	const struct profile_frame *frames;
	size_t count = profile_node_frames(profile, 0, e->stack, &frames);

	json_block_begin(json, e);
	if (life->freed_ns == UINT64_MAX)
		json_null(json, "freed_ns");
	else
		json_unsigned(json, "freed_ns", life->freed_ns);
	json_frames(json, "frames", frames, count);
	if (life->free_stack) {
		count = profile_node_frames(profile, 0, life->free_stack, &frames);
		json_frames(json, "free_frames", frames, count);
	}
	json_object_end(json);
}

static void show_history(struct multi *multi, struct profile *profile, const struct trace *trace,
			 const struct history *history)
{
	if (multi->request->format == FORMAT_JSON) {
		json_array_begin(&multi->json, "lives");
		for (size_t i = history->count; i-- > 0;)
			json_life(&multi->json, profile, &history->lives[i]);
		json_array_end(&multi->json);
		return;
	}
	fprintf(multi->request->out, "%s: pid %" PRIu64 "\n", path_base(trace->info.exe),
		trace->info.pid);
	if (!history->count)
		fprintf(multi->request->out, "  no block that was recorded lay there%s\n",
			trace->info.exact ? "" : " (sampled: it may have been one that was not)");
	for (size_t i = history->count; i-- > 0;)
		text_life(multi, profile, trace, &history->lives[i]);
}

/* ---- the view ---- */

static int take_addresses(const struct option_list *words, struct address_list *addresses,
			  struct option_list *traces, struct error *err)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->items[i];
		char *end;

		if (strncmp(word, "0x", 2)) {
			option_list_add(traces, word);
			continue;
		}
		MEMORY_ROOM(addresses->items, addresses->count);
		errno = 0;
		addresses->items[addresses->count++] = strtoull(word, &end, 16);
		if (*end || errno)
			return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
					 "\"%s\" is no address", word);
	}
	return 0;
}

static int show_one(struct multi *multi, struct view_request *request,
		    const struct trace_set_member *member, const struct address_list *addresses,
		    struct error *err)
{
	struct live_set live;
	struct history history = { .aggregator.take = history_take, .addresses = addresses };
	struct aggregator *only;
	struct filtered_pass pass;
	struct block_names names = { .profile = NULL };
	int status;

	live_set_init(&live, NULL);
	only = addresses->count ? &history.aggregator : &live.aggregator;
	status = names_open(&names, member, &request->query, err);
	if (!status)
		status = filtered_pass_run(member, &request->query, &only, 1, &pass, err);
	if (!status) {
		live_set_settle(&live);
		multi_trace_begin(multi, member->trace);
		if (addresses->count)
			show_history(multi, names.profile, member->trace, &history);
		else
			show_blocks(multi, names.profile, member->trace, &live, &pass);
		multi_trace_end(multi);
	}
	live_set_release(&live);
	free(history.lives);
	profile_free(names.profile);
	return status;
}

int view_blocks(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct address_list addresses = { 0 };
	struct option_list traces = { 0 };
	struct multi multi;
	int status = take_addresses(&request->words, &addresses, &traces, err);

	if (!status)
		status = trace_set_open(traces.items, traces.count, set, err);
	if (!status) {
		multi_begin(&multi, request, set, "memprof.blocks/1",
			    "trace,address,bytes,born_ns,tid,function,file,line");
		for (size_t i = 0; !status && i < set->count; i++)
			status = show_one(&multi, request, &set->members[i], &addresses, err);
		multi_end(&multi);
	}
	free(addresses.items);
	free(traces.items);
	return status;
}
