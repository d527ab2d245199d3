/*
 * See page_payload.h. Sites and stacks come from the profile, times from the
 * facts. Stacks too small to be looked at one by one are put together, one for
 * each site, so that sites still add up; of the rest the most important ones get
 * a curve of their own.
 */
#include "page/page_payload.h"

#include "page/page_memory.h"
#include "page/page_writer.h"
#include "util/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STACKS_MOST 20000
#define STACK_SHARE 0.00005 /* of everything: what a stack must reach to be kept */
/* ---- stacks ---- */

static bool is_worth_keeping(const struct profile *profile, const struct profile_stack *stack)
{
	const struct tally *all = stack->kind == TALLY_HEAP ? &profile->heap : &profile->mapped;

	for (unsigned m = 0; m < METRIC_COUNT; m++) {
		const struct number *part = &stack->tally.of[m], *whole = &all->of[m];

		if (part->bytes > whole->bytes * STACK_SHARE ||
		    part->count > whole->count * STACK_SHARE)
			return true;
	}
	return false;
}

/* Its callers are not kept: what is left is the site under a name that says so. */
static uint32_t collapsed_node(struct page_writer *w, uint32_t site)
{
	static const struct profile_frame frame = {.function = "(callers not kept)"};

	return page_child(&w->names, page_child(&w->names, 0, page_frame(&w->names, &frame)),
			  w->site_frames[site]);
}

static uint64_t row_key(uint32_t site, uint32_t node)
{
	return (uint64_t)site << 32 | node;
}

static uint32_t row_get(struct page_writer *w, uint32_t site, uint32_t node)
{
	uint32_t row = hash_map_get(&w->row_of, row_key(site, node));

	if (row != HASH_MAP_NONE)
		return row;
	row = (uint32_t)w->row_count;
	MEMORY_ROOM(w->rows, w->row_count);
	w->rows[w->row_count++] = (struct page_row){.site = site, .node = node};
	hash_map_set(&w->row_of, row_key(site, node), row);
	return row;
}

static void collect_site(struct page_writer *w, uint32_t index)
{
	const struct profile_site *site = &w->profile->sites[index];

	w->site_frames[index] = page_frame(&w->names, &site->where);
	for (size_t s = 0; s < site->stack_count; s++) {
		const struct profile_stack *stack = &site->stacks[s];
		bool keep = w->profile->heap.of[METRIC_ALLOCATED].count < 1 ||
			    w->row_count < 2000 ||
			    (w->row_count < STACKS_MOST && is_worth_keeping(w->profile, stack));
		const struct profile_frame *frames;
		size_t count = profile_frames(w->profile, stack, &frames);
		uint32_t node =
		    keep && count ? page_path(&w->names, frames, count) : collapsed_node(w, index);
		uint32_t row = row_get(w, index, node);

		tally_add(&w->rows[row].tally, &stack->tally);
	}
}

/* Which row each series belongs to: by its names, as equal stacks were merged. */
static void match_series(struct page_writer *w)
{
	for (size_t m = 0; m < w->part->set->count; m++) {
		size_t count = w->part->facts[m]->series_count;

		w->rows_of_series[m] = memory_zeroed(count + 1, sizeof(uint32_t));
		memset(w->rows_of_series[m], 0xff, (count + 1) * sizeof(uint32_t));
	}
	for (uint32_t i = 0; i < w->profile->site_count; i++) {
		const struct profile_site *site = &w->profile->sites[i];

		for (size_t c = 0; c < site->cell_count; c++) {
			const struct profile_cell *cell = &site->cells[c];
			uint32_t series =
			    page_facts_series(w->part->facts[cell->member], cell->kind, cell->node);
			const struct profile_frame *frames;
			size_t count =
			    profile_node_frames(w->profile, cell->member, cell->node, &frames);
			uint32_t row = HASH_MAP_NONE;

			if (series == UINT32_MAX)
				continue;
			if (count)
				row = hash_map_get(&w->row_of,
						   row_key(i, page_path(&w->names, frames, count)));
			if (row == HASH_MAP_NONE)
				row = row_get(w, i, collapsed_node(w, i));
			w->rows_of_series[cell->member][series] = row;
		}
	}
}

static void collect(struct page_writer *w)
{
	w->site_frames = memory_zeroed(w->profile->site_count + 1, sizeof(*w->site_frames));
	w->rows_of_series = memory_zeroed(w->part->set->count, sizeof(*w->rows_of_series));
	for (uint32_t i = 0; i < w->profile->site_count; i++)
		collect_site(w, i);
	match_series(w);
}

/* ---- trace and totals ---- */

static void write_number(struct page_writer *w, const char *key, const struct number *number)
{
	json_number(w->json, key, number);
}

static void write_totals(struct page_writer *w, const char *key, const struct tally *tally)
{
	json_object_begin(w->json, key);
	for (unsigned m = 0; m < METRIC_COUNT; m++)
		write_number(w, metric_names[m], &tally->of[m]);
	json_object_end(w->json);
}

static const struct trace_info *first_info(const struct page_writer *w)
{
	return &w->profile->traces[0].trace->info;
}

static void write_command(struct page_writer *w)
{
	char **word = first_info(w)->command;

	json_array_begin(w->json, "command");
	for (; word && *word; word++)
		json_string(w->json, NULL, *word);
	json_array_end(w->json);
}

static uint64_t dropped_events(const struct trace *trace)
{
	uint64_t events = 0;

	for (size_t i = 0; i < trace->loss_count; i++)
		if (trace->losses[i].cause != TRACE_LOSS_STOPPED)
			events += trace->losses[i].events;
	return events;
}

static void write_warnings(struct page_writer *w)
{
	json_array_begin(w->json, "warnings");
	for (size_t i = 0; i < w->profile->trace_count; i++) {
		const struct trace *trace = w->profile->traces[i].trace;
		uint64_t dropped = dropped_events(trace);
		char text[512];

		if (!trace->info.complete && !trace->info.running) {
			snprintf(text, sizeof(text),
				 "The trace of %s %" PRIu64
				 " was cut short: the program did not end in order, or part of the "
				 "file is damaged.",
				 path_base(trace->info.exe), trace->info.pid);
			json_string(w->json, NULL, text);
		}
		if (dropped) {
			snprintf(text, sizeof(text),
				 "%" PRIu64 " events are missing from the trace of %s %" PRIu64
				 ": memprof-report info says why.",
				 dropped, path_base(trace->info.exe), trace->info.pid);
			json_string(w->json, NULL, text);
		}
	}
	if (w->profile->filtered)
		json_string(
		    w->json, NULL,
		    "Filters of the command line took stacks away: totals are of what is shown.");
	json_array_end(w->json);
}

static void write_trace(struct page_writer *w)
{
	const struct trace_info *info = first_info(w);
	uint64_t events = 0, modules = 0, unresolved = 0;

	for (size_t i = 0; i < w->profile->trace_count; i++) {
		events += w->profile->traces[i].trace->info.events;
		modules += w->profile->traces[i].modules_used;
		unresolved += w->profile->traces[i].unresolved_frames;
	}
	json_object_begin(w->json, "trace");
	json_string(w->json, "path",
		    w->part->set->name ? w->part->set->name : w->profile->traces[0].trace->path);
	json_unsigned(w->json, "pid", info->pid);
	json_string(w->json, "exe", info->exe);
	write_command(w);
	json_unsigned(w->json, "start_unix_ns", info->start_unix_ns);
	json_unsigned(w->json, "duration_ns", w->part->axis->length_ns);
	json_unsigned(w->json, "rate_bytes", info->rate_bytes);
	json_bool(w->json, "exact", w->profile->exact);
	json_bool(w->json, "complete", w->profile->complete);
	json_bool(w->json, "running", info->running);
	json_unsigned(w->json, "events", events);
	json_unsigned(w->json, "modules", modules);
	json_unsigned(w->json, "unresolved_frames", unresolved);
	write_warnings(w);
	json_object_end(w->json);
}

static void write_verdict(struct page_writer *w)
{
	json_string(w->json, "verdict", program_verdict_names[w->part->judgement->program]);
	json_array_begin(w->json, "sentences");
	for (unsigned i = 0; i < 2; i++)
		if (w->part->sentences[i] && *w->part->sentences[i])
			json_string(w->json, NULL, w->part->sentences[i]);
	json_array_end(w->json);
}

/* ---- metrics as columns ---- */

static void write_metric_columns(struct page_writer *w, size_t count,
				 const struct tally *(*tally_of)(const struct page_writer *,
								 size_t))
{
	for (unsigned m = 0; m < METRIC_COUNT; m++) {
		for (unsigned by_count = 0; by_count < 2; by_count++) {
			char name[64];

			snprintf(name, sizeof(name), "%s_%s", metric_names[m],
				 by_count ? "count" : "bytes");
			column_begin(w, name);
			for (size_t i = 0; i < count; i++)
				json_double(w->json, NULL,
					    number_value(&tally_of(w, i)->of[m], by_count));
			column_end(w);
			if (w->profile->exact)
				continue;
			strncat(name, "_error", sizeof(name) - strlen(name) - 1);
			column_begin(w, name);
			for (size_t i = 0; i < count; i++)
				json_double(w->json, NULL,
					    round(number_error(&tally_of(w, i)->of[m], by_count)));
			column_end(w);
		}
	}
}

static const struct tally *site_tally(const struct page_writer *w, size_t i)
{
	return &w->profile->sites[i].tally;
}

static const struct tally *row_tally(const struct page_writer *w, size_t i)
{
	return &w->rows[i].tally;
}

static void write_sites(struct page_writer *w)
{
	size_t count = w->profile->site_count;

	json_object_begin(w->json, "sites");
	column_begin(w, "kind");
	for (size_t i = 0; i < count; i++)
		json_unsigned(w->json, NULL, w->profile->sites[i].kind == TALLY_MAPPED);
	column_end(w);
	column_begin(w, "frame");
	for (size_t i = 0; i < count; i++)
		json_unsigned(w->json, NULL, w->site_frames[i]);
	column_end(w);
	column_begin(w, "verdict");
	for (size_t i = 0; i < count; i++)
		json_unsigned(
		    w->json, NULL,
		    w->part->judgement->sites[i] == VERDICT_UNKNOWN
			? 0
			: page_string(&w->names, verdict_names[w->part->judgement->sites[i]]));
	column_end(w);
	write_metric_columns(w, count, site_tally);
	json_object_end(w->json);
}

static void write_stacks(struct page_writer *w)
{
	double before = 0;

	json_object_begin(w->json, "stacks");
	column_begin(w, "site");
	for (size_t i = 0; i < w->row_count; i++)
		json_unsigned(w->json, NULL, w->rows[i].site);
	column_end(w);
	column_begin(w, "node");
	for (size_t i = 0; i < w->row_count; i++)
		column_step(w, &before, w->rows[i].node);
	column_end(w);
	write_metric_columns(w, w->row_count, row_tally);
	json_object_end(w->json);
}

/* ---- all of it ---- */

static void release(struct page_writer *w)
{
	for (size_t m = 0; m < w->part->set->count; m++)
		free(w->rows_of_series[m]);
	free(w->rows_of_series);
	free(w->rows);
	free(w->site_frames);
	hash_map_release(&w->row_of);
	page_names_release(&w->names);
}

/* Names last: everything before may add to them. */
static void write_part(struct json *json, const struct page_part *part)
{
	struct page_writer w = {.part = part, .profile = part->judgement->profile, .json = json};

	page_names_init(&w.names);
	collect(&w);
	json_object_begin(json, NULL);
	write_trace(&w);
	write_totals(&w, "totals", &w.profile->heap);
	write_totals(&w, "mapped", &w.profile->mapped);
	if (part->set->count == 1)
		json_unsigned(json, "peak_us", micros(w.profile->traces[0].totals.peak_ns));
	write_verdict(&w);
	write_sites(&w);
	write_stacks(&w);
	page_write_times(&w);
	page_write_tables(&w);
	if (part->set->count == 1)
		page_memory_write(json, part->set->members[0].trace);
	page_write_sources(&w);
	page_names_write(&w.names, json);
	json_object_end(json);
	release(&w);
}

void page_payload_write(FILE *out, const char *tool, const struct page_part *parts, size_t count)
{
	struct json json;

	json_init(&json, out);
	json.is_compact = true;
	json_object_begin(&json, NULL);
	json_string(&json, "schema", "memprof.page/2");
	json_string(&json, "tool", tool);
	json_array_begin(&json, "traces");
	for (size_t i = 0; i < count; i++)
		write_part(&json, &parts[i]);
	json_array_end(&json);
	json_object_end(&json);
}
