/*
 * Opening a trace: find the pieces, read the facts, then bring the facts into
 * the order of time. The clock is known only when all pieces have been seen, so
 * times are units until the end and ns from then on.
 */
#include "trace/trace.h"

#include "trace/reader.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

#define FAULTS_MAX 1000

void reader_fault(void *context, uint64_t offset, bool in_companion, const char *words)
{
	struct reader *reader = context;
	struct trace *trace = &reader->trace;

	if (trace->fault_count >= FAULTS_MAX) {
		reader->faults_passed_over++;
		return;
	}
	MEMORY_ROOM(trace->faults, trace->fault_count);
	trace->faults[trace->fault_count++] = (struct trace_fault){
		.offset = offset, .in_companion = in_companion,
		.words = string_arena_print(&reader->strings, "%s", words)};
}

/* ---- the clock ---- */

/* Ticks a second over the longest baseline that the pieces give; when that is
 * too short to be exact, the library's own estimate. */
static double ticks_per_ns(const struct reader *reader)
{
	struct clock_pair first = {reader->start_ticks, reader->start_mono_ns};
	struct clock_pair last = reader->latest;
	double measured = 0, told = (double)reader->ticks_per_second / 1e9;

	for (size_t i = 0; i < reader->pieces.count; i++) {
		const struct piece *piece = &reader->pieces.items[i];
		struct clock_pair pair = {piece->ticks, piece->mono_ns};

		if (piece->kind == TRACE_PIECE_OUTSIDE || !pair.ticks || !pair.mono_ns)
			continue;
		if (!first.ticks || pair.ticks < first.ticks)
			first = pair;
		if (pair.ticks > last.ticks)
			last = pair;
	}
	if (last.ticks > first.ticks && last.mono_ns > first.mono_ns)
		measured = (double)(last.ticks - first.ticks) /
			   (double)(last.mono_ns - first.mono_ns);
	if (told > 0 && (measured <= 0 || last.mono_ns - first.mono_ns < 10000000))
		return told;
	return measured > 0 ? measured : 1;
}

static uint64_t first_ticks(const struct reader *reader)
{
	uint64_t first = UINT64_MAX;

	if (reader->has_start)
		return reader->start_ticks;
	for (size_t i = 0; i < reader->pieces.count; i++)
		if (reader->pieces.items[i].kind != TRACE_PIECE_OUTSIDE &&
		    reader->pieces.items[i].ticks < first)
			first = reader->pieces.items[i].ticks;
	return first == UINT64_MAX ? 0 : first;
}

static void set_clock(struct reader *reader)
{
	double ns = (double)(1u << TRACE_TIME_SHIFT) / ticks_per_ns(reader);

	if (!(ns > 1e-3))
		ns = 1e-3;
	if (ns > 1e9)
		ns = 1e9;
	reader->clock.base = first_ticks(reader) >> TRACE_TIME_SHIFT;
	reader->clock.ns_per_unit = (uint64_t)(ns * 4294967296.0);
}

static uint64_t to_ns(const struct reader *reader, uint64_t units)
{
	return clock_ns(&reader->clock, units);
}

static int compare_real(const void *left, const void *right, void *context)
{
	const struct piece *items = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (items[a].real_ns != items[b].real_ns)
		return items[a].real_ns < items[b].real_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void order_by_real(struct reader *reader)
{
	struct pieces *pieces = &reader->pieces;

	if (reader->by_real)
		return;
	reader->by_real = memory_zeroed(pieces->outside_first + 1, sizeof(*reader->by_real));
	for (uint32_t i = 0; i < pieces->outside_first; i++)
		if (pieces->items[i].real_ns)
			reader->by_real[reader->by_real_count++] = i;
	if (reader->by_real_count)
		qsort_r(reader->by_real, reader->by_real_count, sizeof(*reader->by_real),
			compare_real, pieces->items);
}

/* The piece whose own wall clock time is nearest, NULL: none has any. */
static const struct piece *nearest_piece(struct reader *reader, uint64_t real_ns)
{
	const struct piece *items = reader->pieces.items, *below, *above;
	size_t low = 0, high;

	order_by_real(reader);
	high = reader->by_real_count;
	if (!high)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[reader->by_real[middle]].real_ns <= real_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return &items[reader->by_real[0]];
	below = &items[reader->by_real[low - 1]];
	if (low == reader->by_real_count)
		return below;
	above = &items[reader->by_real[low]];
	return real_ns - below->real_ns <= above->real_ns - real_ns ? below : above;
}

/* ns since the start of a wall clock time, by the piece whose own is nearest. */
static uint64_t real_to_ns(struct reader *reader, uint64_t real_ns)
{
	const struct piece *nearest = nearest_piece(reader, real_ns);
	int64_t ns;

	if (!nearest)
		return 0;
	ns = (int64_t)to_ns(reader, nearest->ticks >> TRACE_TIME_SHIFT) +
	     (int64_t)(real_ns - nearest->real_ns);
	return ns > 0 ? (uint64_t)ns : 0;
}

/* ---- bringing facts into order ---- */

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_modules(const void *left, const void *right)
{
	const struct trace_module *a = left, *b = right;
	int order = compare(a->first_ns, b->first_ns);

	return order ? order : compare(a->start, b->start);
}

static int compare_marks(const void *left, const void *right)
{
	const struct trace_marker *a = left, *b = right;

	return compare(a->time_ns, b->time_ns);
}

static int compare_readings(const void *left, const void *right)
{
	const struct trace_reading *a = left, *b = right;

	return compare(a->time_ns, b->time_ns);
}

static int compare_smaps(const void *left, const void *right)
{
	const struct trace_smaps *a = left, *b = right;

	return a->real_ns == b->real_ns ? compare(a->part, b->part)
					: compare(a->real_ns, b->real_ns);
}

static int compare_gone(const void *left, const void *right)
{
	const struct module_gone *a = left, *b = right;

	return compare(a->time, b->time);
}

static void sort(void *items, size_t count, size_t size, int (*order)(const void *, const void *))
{
	if (count)
		qsort(items, count, size, order);
}

static bool is_same_module(const struct trace_module *a, const struct trace_module *b)
{
	return a->start == b->start && a->end == b->end && a->inode == b->inode &&
	       !strcmp(a->path, b->path);
}

/* A module that is told again while it is there is one module. */
static void drop_repeated_modules(struct trace *trace, struct hash_map *at_start)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->module_count; i++) {
		struct trace_module *module = &trace->modules[i];
		uint32_t before = hash_map_get(at_start, module->start);

		if (before != HASH_MAP_NONE && is_same_module(&trace->modules[before], module) &&
		    trace->modules[before].gone_ns >= module->first_ns)
			continue;
		trace->modules[kept] = *module;
		hash_map_set(at_start, module->start, (uint32_t)kept++);
	}
	trace->module_count = kept;
}

/* Gives every module its end: the first MODULE_GONE of its start behind its
 * beginning. Both lists are in the order of time. */
static void end_modules(struct reader *reader)
{
	struct trace *trace = &reader->trace;
	struct hash_map newest = {0};
	size_t next = 0;

	for (size_t i = 0; i < reader->gone_count; i++) {
		const struct module_gone *gone = &reader->gone[i];
		uint32_t module;

		while (next < trace->module_count && trace->modules[next].first_ns <= gone->time) {
			hash_map_set(&newest, trace->modules[next].start, (uint32_t)next);
			next++;
		}
		module = hash_map_get(&newest, gone->start);
		if (module != HASH_MAP_NONE && trace->modules[module].gone_ns == UINT64_MAX)
			trace->modules[module].gone_ns = gone->time;
	}
	hash_map_release(&newest);
}

static int compare_starts(const void *left, const void *right, void *context)
{
	const struct trace *trace = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare(trace->modules[a].start, trace->modules[b].start);

	return order ? order : compare(a, b);
}

/* So that reader_module_at finds the module of an address quickly. */
static void order_modules(struct reader *reader)
{
	struct trace *trace = &reader->trace;
	uint64_t reach = 0;

	reader->module_order = memory_zeroed(trace->module_count, sizeof(*reader->module_order));
	reader->module_reach = memory_zeroed(trace->module_count, sizeof(*reader->module_reach));
	for (size_t i = 0; i < trace->module_count; i++)
		reader->module_order[i] = (uint32_t)i;
	if (trace->module_count)
		qsort_r(reader->module_order, trace->module_count, sizeof(*reader->module_order),
			compare_starts, trace);
	for (size_t i = 0; i < trace->module_count; i++) {
		uint64_t end = trace->modules[reader->module_order[i]].end;

		reach = end > reach ? end : reach;
		reader->module_reach[i] = reach;
	}
}

static void finish_modules(struct reader *reader)
{
	struct trace *trace = &reader->trace;
	struct hash_map at_start = {0};

	sort(trace->modules, trace->module_count, sizeof(*trace->modules), compare_modules);
	sort(reader->gone, reader->gone_count, sizeof(*reader->gone), compare_gone);
	end_modules(reader);
	drop_repeated_modules(trace, &at_start);
	hash_map_release(&at_start);
	for (size_t i = 0; i < trace->module_count; i++) {
		struct trace_module *module = &trace->modules[i];

		module->first_ns = to_ns(reader, module->first_ns);
		if (module->gone_ns != UINT64_MAX)
			module->gone_ns = to_ns(reader, module->gone_ns);
	}
	order_modules(reader);
}

static void finish_pcs(struct reader *reader)
{
	struct trace *trace = &reader->trace;

	for (size_t i = 0; i < trace->pc_count; i++) {
		struct trace_pc *pc = &trace->pcs[i];
		uint64_t inside = pc->address - !(pc->flags & TRACE_PC_EXACT);

		pc->module = reader_module_at(reader, inside, to_ns(reader, reader->pc_times[i]));
	}
	free(reader->pc_times);
	reader->pc_times = NULL;
}

static void finish_marks(struct reader *reader)
{
	struct trace *trace = &reader->trace;
	uint32_t snapshots = 0;

	for (size_t i = 0; i < trace->mark_count; i++) {
		struct trace_marker *mark = &trace->marks[i];

		mark->time_ns = mark->real_ns ? real_to_ns(reader, mark->real_ns) :
						to_ns(reader, mark->time_ns);
	}
	sort(trace->marks, trace->mark_count, sizeof(*trace->marks), compare_marks);
	for (size_t i = 0; i < trace->mark_count; i++)
		if (trace->marks[i].kind == TRACE_MARK_SNAPSHOT)
			trace->marks[i].number = ++snapshots;
	for (size_t i = 0; i < trace->names_count; i++)
		trace->names[i].time_ns = to_ns(reader, trace->names[i].time_ns);
	for (size_t i = 0; i < trace->reading_count; i++)
		trace->readings[i].time_ns = to_ns(reader, trace->readings[i].time_ns);
	sort(trace->readings, trace->reading_count, sizeof(*trace->readings), compare_readings);
	for (size_t i = 0; i < trace->smaps_count; i++)
		trace->smaps[i].time_ns = real_to_ns(reader, trace->smaps[i].real_ns);
	sort(trace->smaps, trace->smaps_count, sizeof(*trace->smaps), compare_smaps);
}

static void finish_threads(struct reader *reader)
{
	struct trace *trace = &reader->trace;

	for (size_t i = 0; i < trace->thread_count; i++) {
		struct trace_thread *thread = &trace->threads[i];

		thread->first_ns = to_ns(reader, thread->first_ns);
		thread->last_ns = to_ns(reader, thread->last_ns);
		if (trace->info.duration_ns < thread->last_ns)
			trace->info.duration_ns = thread->last_ns;
	}
}

/* The lanes' own counts of what they dropped, as far as no record says why. */
static void finish_losses(struct reader *reader)
{
	struct trace *trace = &reader->trace;
	uint64_t lost = 0, told = 0;

	for (size_t i = 0; i < reader->pieces.lane_count; i++) {
		const struct piece_row *lane = &reader->pieces.lanes[i];

		lost += reader->pieces.items[lane->first + lane->count - 1].lost;
	}
	for (size_t i = 0; i < trace->loss_count; i++)
		told += trace->losses[i].events;
	if (lost > told) {
		MEMORY_ROOM(trace->losses, trace->loss_count);
		trace->losses[trace->loss_count++] =
			(struct trace_loss_count){0, lost - told};
	}
}

static bool has_real_loss(const struct trace *trace)
{
	for (size_t i = 0; i < trace->loss_count; i++)
		if (trace->losses[i].cause != TRACE_LOSS_STOPPED &&
		    trace->losses[i].cause != TRACE_LOSS_LATE && trace->losses[i].events)
			return true;
	return false;
}

static void finish_info(struct reader *reader)
{
	struct trace_info *info = &reader->trace.info;

	if (!info->command) {
		info->command = memory_zeroed(1, sizeof(*info->command));
	}
	info->rate_bytes = reader->rate;
	info->exact = reader->rate == 1 && !reader->was_sampled;
	info->running = reader->pieces.is_running;
	info->bytes = reader->pieces.used_bytes;
	info->pieces = reader->pieces.count;
	info->lanes = reader->pieces.lane_count;
	info->packed = reader->pieces.is_packed;
	info->has_companion = reader->pieces.companion_fd >= 0;
	info->complete = reader->has_end && !reader->trace.fault_count &&
			 !reader->is_missing_pieces && !has_real_loss(&reader->trace);
	if (reader->faults_passed_over) {
		reader->trace.fault_count--;
		reader_fault(reader, ERROR_NO_OFFSET, false,
			     "there is more damage than is listed here");
	}
}

int trace_open(const char *path, struct trace **result, struct error *err)
{
	struct reader *reader = memory_zeroed(1, sizeof(*reader));
	struct trace_info *info = &reader->trace.info;
	int status;

	reader->trace.path = string_arena_copy(&reader->strings, path, strlen(path));
	reader->pieces.tell = reader_fault;
	reader->pieces.context = reader;
	info->rate_bytes = 1;
	reader_scope(reader, (const uint8_t *)"", 0);
	stacks_init(&reader->stacks);
	live_heap_init(&reader->heap);
	status = pieces_open(&reader->pieces, path, err);
	if (status)
		goto done;
	reader->digest.is_off = true;
	facts_scan_headers(reader);
	reader->rate = info->rate_bytes ? info->rate_bytes : 1;
	reader->depth = info->depth && info->depth < UINT32_MAX / 2 ? (uint32_t)info->depth :
								       UINT32_MAX / 2;
	pieces_join(&reader->pieces, path, info->companion, info->pid, reader->start_ticks);
	status = pieces_index(&reader->pieces, err);
	if (status)
		goto done;
	if (!reader->pieces.count) {
		status = error_set(err, ERROR_FORMAT, path, 0,
				   reader->pieces.file_bytes ? "is not a trace of memprof" :
							       "is empty: not a trace");
		goto done;
	}
	trace_index_find(reader);
	facts_scan(reader);
	set_clock(reader);
	finish_modules(reader);
	finish_pcs(reader);
	finish_marks(reader);
	finish_threads(reader);
	finish_losses(reader);
	finish_info(reader);
	reader->scanned_pcs = reader->trace.pc_count;
	reader->trace.nodes = reader->stacks.nodes;
	reader->trace.node_count = reader->stacks.node_count;
	*result = &reader->trace;
	return 0;
done:
	trace_close(&reader->trace);
	return status;
}

void trace_close(struct trace *trace)
{
	struct reader *reader = reader_of(trace);

	if (!trace)
		return;
	pieces_close(&reader->pieces);
	stacks_release(&reader->stacks);
	live_heap_release(&reader->heap);
	live_maps_release(&reader->maps);
	hash_map_release(&reader->pc_of_id);
	hash_map_release(&reader->pc_of_literal);
	hash_map_release(&reader->scope_of_hash);
	hash_map_release(&reader->thread_of_tid);
	free(reader->by_real);
	string_arena_release(&reader->strings);
	free(reader->pc_of_low_id);
	free(reader->pc_times);
	free(reader->links);
	free(reader->gone);
	free(reader->module_order);
	free(reader->module_reach);
	free(reader->lane_events);
	digest_release(&reader->digest);
	index_file_close(reader->index);
	free(trace->modules);
	free(trace->names);
	free(trace->pcs);
	free(trace->threads);
	free(trace->marks);
	free(trace->readings);
	free(trace->smaps);
	free(trace->faults);
	free(trace->losses);
	free(trace->scopes);
	free(trace->info.command);
	free(reader);
}
