/*
 * cut: the unreleased allocations of one moment as a small trace of their own,
 * fit to be kept as a baseline. Everything else about the process (modules, marks
 * up to the moment, thread names) goes along; the trace ends at the moment.
 */
#include "model/live_set.h"
#include "trace/trace_write.h"
#include "util/memory.h"
#include "util/output.h"
#include "view/units.h"
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

struct cut {
	struct trace *trace;
	struct trace_writer *writer;
	struct live_set *live;
	uint32_t *frames;          /* of one stack */
	size_t room;
	enum trace_no_stack no_stack;
};

/* ---- places and stacks ---- */

static uint32_t frame_id(const struct cut *cut, uint32_t pc, enum trace_no_stack *no_stack)
{
	(void)cut;
	switch (pc) {
	case TRACE_STACK_PC_CUT:
		return TRACE_FRAME_CUT;
	case TRACE_STACK_PC_LOST:
		return TRACE_FRAME_LOST;
	case TRACE_STACK_PC_NOT_ASKED:
		*no_stack = TRACE_NO_STACK_ASKED;
		return 0;
	case TRACE_STACK_PC_BUSY:
		*no_stack = TRACE_NO_STACK_BUSY;
		return 0;
	case TRACE_STACK_PC_FAILED:
		*no_stack = TRACE_NO_STACK_FAILED;
		return 0;
	default:
		return pc + TRACE_PC_FIRST;
	}
}

static size_t stack_frames(struct cut *cut, uint32_t node)
{
	const struct trace *trace = cut->trace;
	size_t count = 0;

	cut->no_stack = TRACE_NO_STACK_FAILED;
	for (; node && node < trace->node_count; node = trace->nodes[node].parent) {
		uint32_t id = frame_id(cut, trace->nodes[node].pc, &cut->no_stack);

		if (!id)
			continue;
		if (count == cut->room) {
			cut->room = cut->room * 2 + 64;
			cut->frames = memory_resize(cut->frames, cut->room, sizeof(*cut->frames));
		}
		cut->frames[count++] = id;
	}
	return count;
}

/* Only places that some block's stack names. */
static void write_places(struct cut *cut)
{
	const struct trace *trace = cut->trace;
	uint8_t *seen = memory_zeroed(trace->pc_count, 1);
	const struct trace_event *lists[] = { cut->live->blocks, cut->live->maps };
	size_t counts[] = { cut->live->count, cut->live->map_count };

	for (int l = 0; l < 2; l++)
		for (size_t i = 0; i < counts[l]; i++) {
			size_t frames = stack_frames(cut, lists[l][i].stack);

			for (size_t f = 0; f < frames; f++)
				if (cut->frames[f] >= TRACE_PC_FIRST)
					seen[cut->frames[f] - TRACE_PC_FIRST] = 1;
		}
	for (size_t pc = 0; pc < trace->pc_count; pc++)
		if (seen[pc] && !(trace->pcs[pc].flags & TRACE_PC_UNDEFINED))
			trace_writer_pc(cut->writer, (uint32_t)pc + TRACE_PC_FIRST,
					trace->pcs[pc].address, trace->pcs[pc].flags);
	free(seen);
}

/* ---- the header ---- */

static void write_text(struct cut *cut, const char *key, const char *value)
{
	if (value && *value)
		trace_writer_meta(cut->writer, key, value, strlen(value));
}

static void write_command(struct cut *cut)
{
	char *all = NULL;
	size_t bytes = 0;

	for (char **word = cut->trace->info.command; word && *word; word++) {
		size_t length = strlen(*word) + 1;

		all = memory_resize(all, bytes + length, 1);
		memcpy(all + bytes, *word, length);
		bytes += length;
	}
	if (bytes)
		trace_writer_meta(cut->writer, "command", all, bytes - 1);
	free(all);
}

static void write_header(struct cut *cut, const struct moment *when)
{
	const struct trace_info *info = &cut->trace->info;
	char *source = memory_format("%s@%s", cut->trace->path, when->words ? when->words : "end");

	write_text(cut, "version", info->version);
	trace_writer_meta_number(cut->writer, "pid", info->pid);
	trace_writer_meta_number(cut->writer, "ppid", info->ppid);
	write_command(cut);
	write_text(cut, "exe", info->exe);
	write_text(cut, "host", info->host);
	trace_writer_meta_number(cut->writer, "start_unix_ns", info->start_unix_ns);
	trace_writer_meta_number(cut->writer, "rate", info->rate_bytes);
	trace_writer_meta_number(cut->writer, "depth", info->depth);
	write_text(cut, "allocator", info->allocator);
	write_text(cut, "own_malloc", info->own_malloc);
	write_text(cut, "cut_from", source);
	free(source);
	for (size_t i = 0; i < cut->trace->module_count; i++)
		if (cut->trace->modules[i].gone_ns == UINT64_MAX)
			trace_writer_module(cut->writer, &cut->trace->modules[i]);
	trace_writer_header_end(cut->writer);
}

/* Moments after the cut would have nothing to show. */
static void write_marks(struct cut *cut, uint64_t end_ns)
{
	for (size_t i = 0; i < cut->trace->mark_count; i++) {
		const struct trace_marker *mark = &cut->trace->marks[i];

		if (mark->time_ns <= end_ns && mark->kind != TRACE_MARK_STOP &&
		    mark->kind != TRACE_MARK_START)
			trace_writer_mark(cut->writer, mark->time_ns, mark);
	}
}

/* ---- blocks ---- */

static void write_block(struct cut *cut, const struct trace_event *e)
{
	size_t count = stack_frames(cut, e->stack);
	const struct trace *trace = cut->trace;

	trace_writer_rate(cut->writer, e->rate ? e->rate : 1);
	trace_writer_scope(cut->writer,
			   e->scope < trace->scope_count ? trace->scopes[e->scope] : NULL);
	if (e->kind == TRACE_EVENT_MAP)
		trace_writer_map(cut->writer, e->time_ns, e->address, e->size, cut->frames, count,
				 cut->no_stack);
	else
		trace_writer_allocate(cut->writer, e->time_ns, e->address, e->size, cut->frames,
				      count, cut->no_stack);
}

/* Blocks and maps of one thread, in time order. */
static void write_thread(struct cut *cut, uint32_t index)
{
	const struct live_set *live = cut->live;
	const struct trace_thread *thread = &cut->trace->threads[index];
	bool is_begun = false;
	size_t b = 0, m = 0;

	while (b < live->count || m < live->map_count) {
		const struct trace_event *e;

		if (m >= live->map_count ||
		    (b < live->count && live->blocks[b].time_ns <= live->maps[m].time_ns))
			e = &live->blocks[b++];
		else
			e = &live->maps[m++];
		if (e->thread != index)
			continue;
		if (!is_begun)
			trace_writer_lane(cut->writer, index + 1, thread->tid, thread->name);
		is_begun = true;
		write_block(cut, e);
	}
}

/* Threads with live blocks are few, blocks are many: find them first. */
static void write_threads(struct cut *cut)
{
	uint8_t *has = memory_zeroed(cut->trace->thread_count, 1);

	for (size_t i = 0; i < cut->live->count; i++)
		if (cut->live->blocks[i].thread < cut->trace->thread_count)
			has[cut->live->blocks[i].thread] = 1;
	for (size_t i = 0; i < cut->live->map_count; i++)
		if (cut->live->maps[i].thread < cut->trace->thread_count)
			has[cut->live->maps[i].thread] = 1;
	for (uint32_t t = 0; t < cut->trace->thread_count; t++)
		if (has[t])
			write_thread(cut, t);
	free(has);
}

static int write_trace(struct cut *cut, FILE *file, const struct moment *when, uint64_t end_ns,
		       struct error *err)
{
	int status;

	cut->writer = trace_writer_new(file);
	write_header(cut, when);
	write_places(cut);
	write_marks(cut, end_ns);
	trace_writer_ended(cut->writer, end_ns);
	write_threads(cut);
	status = trace_writer_finish(cut->writer, err);
	trace_writer_free(cut->writer);
	free(cut->frames);
	return status;
}

/* ---- the view ---- */

struct end_finder {
	struct aggregator aggregator;
	uint64_t end_ns;
};

static void end_finder_take(struct aggregator *self, const struct trace_event *events,
			    size_t count)
{
	(void)self;
	(void)events;
	(void)count;
}

static void end_finder_end(struct aggregator *self, uint64_t end_ns)
{
	((struct end_finder *)self)->end_ns = end_ns;
}

static int check(const struct view_request *request, const struct trace_set *set,
		 struct error *err)
{
	if (!request->output)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET, "cut needs -o FILE");
	if (set->count != 1)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "cut takes one trace, not %zu", set->count);
	return 0;
}

int view_cut(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct trace_set_member *member = &set->members[0];
	struct live_set live;
	struct end_finder end = { .aggregator = { .take = end_finder_take, .end = end_finder_end,
						    .take_pairs = pairs_pass_over } };
	struct aggregator *all[] = { &live.aggregator, &end.aggregator };
	struct event_filter filter = { 0 };
	struct cut cut = { .trace = member->trace, .live = &live };
	struct output output;
	int status = check(request, set, err);
	char text[UNITS_BYTES];

	if (!status)
		status = event_filter_init(&filter, member->trace, &request->query, err);
	if (status)
		return status;
	live_set_init(&live, &filter);
	status = pass_run(member->trace, &member->when, 0, all, 2, NULL, err);
	if (!status)
		status = output_open(&output, request->output, err);
	if (!status) {
		int closed;

		live_set_settle(&live);
		status = write_trace(&cut, output.file, &member->when, end.end_ns, err);
		closed = output_close(&output, !status, status ? NULL : err);
		status = status ? status : closed;
	}
	if (!status)
		fprintf(stderr, "%s: %zu live blocks of %s at %s\n", request->output, live.count,
			member->trace->path, units_duration(text, end.end_ns));
	live_set_release(&live);
	event_filter_release(&filter);
	return status;
}
