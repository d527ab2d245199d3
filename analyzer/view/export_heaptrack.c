/*
 * heaptrack's text, format version 3, as its interpreter writes it: names and
 * the call tree first, then every allocation and free with the time between
 * them. Numbers are hexadecimal; strings, addresses and traces are counted from
 * 1. An inlined function is a frame like any other.
 *
 *	s LENGTH TEXT          i ADDRESS MODULE [FUNCTION FILE LINE]
 *	t IP PARENT            a SIZE TRACE           (allocations of one kind)
 *	+ KIND    - KIND       c MILLISECONDS         R PAGES
 *
 * A sampled allocation stands for several: it is written as one of their summed
 * size, so that bytes are right and counts are those of the samples.
 */
#include "view/export.h"

#include "page/page_names.h"
#include "util/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS 10
#define PAGE_BYTES 4096

struct kind {
	uint64_t size;
	uint32_t node;
};

struct heaptrack {
	FILE *out;
	const struct trace *trace;
	struct page_names names;
	uint32_t *node_of; /* by stack of the trace: node of `names` */
	size_t node_count;
	struct hash_map kind_ids; /* by hash */
	struct kind *kinds;
	size_t kind_count;
	uint64_t told_ms;
	size_t next_reading;
};

/* ---- names ---- */

static void write_strings(const struct heaptrack *ht)
{
	for (size_t i = 1; i < ht->names.string_count; i++) {
		const char *text = ht->names.strings[i];

		fprintf(ht->out, "s %zx ", strlen(text));
		for (; *text; text++)
			fputc(*text == '\n' ? ' ' : *text, ht->out);
		fputc('\n', ht->out);
	}
}

static void write_frames(const struct heaptrack *ht)
{
	for (size_t i = 0; i < ht->names.frame_count; i++) {
		const struct page_frame *frame = &ht->names.frames[i];
		uint64_t address =
		    frame->offset ? strtoull(ht->names.strings[frame->offset], NULL, 16) : i + 1;

		fprintf(ht->out, "i %" PRIx64 " %x", address, frame->module);
		if (frame->function)
			fprintf(ht->out, " %x %x %x", frame->function, frame->file, frame->line);
		fputc('\n', ht->out);
	}
}

static void write_tree(const struct heaptrack *ht)
{
	for (size_t i = 1; i < ht->names.node_count; i++)
		fprintf(ht->out, "t %x %x\n", ht->names.nodes[i].frame + 1,
			ht->names.nodes[i].parent);
}

static void collect_names(struct heaptrack *ht, struct profile *profile)
{
	ht->node_count = ht->trace->node_count;
	ht->node_of = memory_zeroed(ht->node_count + 1, sizeof(*ht->node_of));
	for (size_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		for (size_t c = 0; site->kind == TALLY_HEAP && c < site->cell_count; c++) {
			const struct profile_frame *frames;
			uint32_t node = site->cells[c].node;
			size_t count = profile_node_frames(profile, 0, node, &frames);

			if (node < ht->node_count)
				ht->node_of[node] = page_path(&ht->names, frames, count);
		}
	}
}

/* ---- events ---- */

static uint32_t kind_get(struct heaptrack *ht, uint64_t size, uint32_t node)
{
	struct kind kind = {size, node};
	uint64_t hash = hash_u64(size) ^ hash_u64(node) * 3;

	for (;; hash++) {
		uint32_t id = hash_map_get(&ht->kind_ids, hash);

		if (id == HASH_MAP_NONE)
			break;
		if (ht->kinds[id].size == size && ht->kinds[id].node == node)
			return id;
	}
	hash_map_set(&ht->kind_ids, hash, (uint32_t)ht->kind_count);
	MEMORY_ROOM(ht->kinds, ht->kind_count);
	ht->kinds[ht->kind_count] = kind;
	fprintf(ht->out, "a %" PRIx64 " %x\n", size, node);
	return (uint32_t)ht->kind_count++;
}

static void write_time(struct heaptrack *ht, uint64_t time_ns)
{
	uint64_t ms = time_ns / 1000000;
	const struct trace *trace = ht->trace;

	for (; ht->next_reading < trace->reading_count &&
	       trace->readings[ht->next_reading].time_ns <= time_ns;
	     ht->next_reading++)
		fprintf(ht->out, "R %" PRIx64 "\n",
			trace->readings[ht->next_reading].resident / PAGE_BYTES);
	if (ms < ht->told_ms + TICK_MS)
		return;
	fprintf(ht->out, "c %" PRIx64 "\n", ms);
	ht->told_ms = ms;
}

static uint64_t size_of(const struct trace_event *e)
{
	struct number n;

	if (e->rate <= 1)
		return e->size;
	number_of_sample(e->size, e->rate, &n);
	return (uint64_t)round(n.bytes);
}

static int take(void *context, const struct trace_event *events, size_t count)
{
	struct heaptrack *ht = context;

	for (const struct trace_event *e = events; e < events + count; e++) {
		uint32_t kind;

		if (e->kind > TRACE_EVENT_FREE || (e->flags & TRACE_EVENT_INHERITED) ||
		    e->stack >= ht->node_count)
			continue;
		write_time(ht, e->time_ns);
		kind = kind_get(ht, size_of(e), ht->node_of[e->stack]);
		fprintf(ht->out, "%c %x\n", e->kind == TRACE_EVENT_ALLOCATE ? '+' : '-', kind);
	}
	return 0;
}

static void write_head(const struct heaptrack *ht)
{
	fputs("v 10400 3\nX", ht->out);
	for (char **word = ht->trace->info.command; word && *word; word++)
		fprintf(ht->out, " %.*s", (int)strcspn(*word, "\r\n"), *word);
	fprintf(ht->out, "\nI %x 0\n", PAGE_BYTES);
}

int export_heaptrack(struct export_job *job, struct error *err)
{
	struct heaptrack ht = {.out = job->out, .trace = job->set->members[0].trace};
	struct trace_replay_stats stats;
	struct profile *profile;
	int status;

	if (job->set->count != 1)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "heaptrack holds one process, here are %zu traces",
				 job->set->count);
	status = profile_build(job->set, &job->request->query, &profile, err);
	if (status)
		return status;
	page_names_init(&ht.names);
	collect_names(&ht, profile);
	write_head(&ht);
	write_strings(&ht);
	write_frames(&ht);
	write_tree(&ht);
	status = trace_replay(job->set->members[0].trace, take, &ht, &stats, err);
	fprintf(ht.out, "c %" PRIx64 "\n", ht.trace->info.duration_ns / 1000000);
	profile_free(profile);
	page_names_release(&ht.names);
	hash_map_release(&ht.kind_ids);
	free(ht.kinds);
	free(ht.node_of);
	return status < 0 ? status : 0;
}
