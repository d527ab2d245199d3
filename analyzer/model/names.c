/*
 * See names.h.
 */
#include "model/names.h"

#include "model/wrapper.h"
#include "model/trace_names.h"
#include "util/memory.h"
#include "util/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum place_state { PLACE_UNKNOWN, PLACE_WANTED, PLACE_NAMED };

struct member {
	const struct trace *trace;
	uint8_t *places;           /* enum place_state by pc */
	struct names_pc *pcs;
	size_t pc_count;
	uint8_t *seen;             /* by node: its way outwards is wanted */
	size_t node_count;
	struct perf_map *map;      /* of generated code; made when first needed */
};

struct arena {
	void **blocks;
	size_t count, used, room;
};

struct names {
	const struct query *query;
	struct symbolizer *symbolizer;
	struct member *members;
	size_t count;
	struct strings strings;
	struct arena arena;
	struct names_pc marks[8];
};

/* ---- frames that stand for no place ---- */

static const struct {
	uint32_t pc;
	const char *words;
} mark_rows[] = {
	{ TRACE_STACK_PC_CUT, "[deeper frames not kept]" },
	{ TRACE_STACK_PC_LOST, "[stack lost here]" },
	{ TRACE_STACK_PC_NOT_ASKED, "[no stacks recorded]" },
	{ TRACE_STACK_PC_BUSY, "[no stack: in a signal handler]" },
	{ TRACE_STACK_PC_FAILED, "[no stack]" },
};

static void *arena_take(struct arena *arena, size_t bytes)
{
	void *memory;

	bytes = (bytes + 15) & ~(size_t)15;
	if (arena->used + bytes > arena->room) {
		MEMORY_ROOM(arena->blocks, arena->count);
		arena->room = bytes > 65536 ? bytes : 65536;
		arena->blocks[arena->count++] = memory_resize(NULL, 1, arena->room);
		arena->used = 0;
	}
	memory = (char *)arena->blocks[arena->count - 1] + arena->used;
	arena->used += bytes;
	return memory;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

/* Names are in one pool: an address stands for its text, within this run. */
static uint64_t frame_hash(const struct profile_frame *frame)
{
	uint64_t hash = mix(1, (uintptr_t)frame->module);

	if (!frame->function)
		return mix(hash, frame->module_offset);
	hash = mix(hash, (uintptr_t)frame->function);
	hash = mix(hash, (uintptr_t)frame->file);
	return mix(hash, frame->line);
}

static bool frame_matches(const struct profile_frame *frame, const struct pattern *pattern)
{
	return pattern->count &&
	       (pattern_matches(pattern, frame->function) ||
		pattern_matches(pattern, frame->file) || pattern_matches(pattern, frame->module));
}

static bool frame_is_hidden(const struct names *names, const struct profile_frame *frame)
{
	return frame_matches(frame, &names->query->hide) ||
	       (names->query->show.count && !frame_matches(frame, &names->query->show));
}

/* Puts @frames in place as the names of @pc. */
static void pc_settle(struct names *names, struct names_pc *pc, struct profile_frame *frames,
		      uint32_t count)
{
	const struct query *query = names->query;
	uint32_t kept = 0;

	*pc = (struct names_pc){ .frames = frames, .hash = 7 };
	for (uint32_t i = 0; i < count; i++) {
		pc->in_focus |= frame_matches(&frames[i], &query->focus);
		pc->is_ignored |= frame_matches(&frames[i], &query->ignore);
		if (frame_is_hidden(names, &frames[i]))
			continue;
		frames[kept] = frames[i];
		frames[kept].is_wrapper =
			!query->keep_wrappers &&
			wrapper_matches(frames[i].function, frames[i].file, &query->wrappers);
		pc->hash = mix(pc->hash, frame_hash(&frames[kept]));
		kept++;
	}
	pc->count = kept;
	while (pc->own < kept && frames[pc->own].is_wrapper)
		pc->own++;
}

static void marks_init(struct names *names)
{
	for (size_t i = 0; i < sizeof(mark_rows) / sizeof(*mark_rows); i++) {
		struct profile_frame *frame = arena_take(&names->arena, sizeof(*frame));

		*frame = (struct profile_frame){
			.function = strings_intern(&names->strings, mark_rows[i].words)
		};
		pc_settle(names, &names->marks[i], frame, 1);
		names->marks[i].is_mark = true;
	}
}

/* ---- making ---- */

struct names *names_new(const struct trace_set *set, const struct query *query)
{
	struct names *names = memory_zeroed(1, sizeof(*names));

	names->query = query;
	names->symbolizer = trace_names_symbolizer(query);
	names->count = set->count;
	names->members = memory_zeroed(set->count, sizeof(*names->members));
	for (size_t i = 0; i < set->count; i++) {
		names->members[i].trace = set->members[i].trace;
		if (names->symbolizer)
			trace_names_give(names->symbolizer, names->members[i].trace);
	}
	marks_init(names);
	return names;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++) {
		free(names->members[i].places);
		free(names->members[i].pcs);
		free(names->members[i].seen);
		perf_map_free(names->members[i].map);
	}
	for (size_t i = 0; i < names->arena.count; i++)
		free(names->arena.blocks[i]);
	free(names->arena.blocks);
	free(names->members);
	strings_release(&names->strings);
	if (names->symbolizer)
		symbolizer_free(names->symbolizer);
	free(names);
}

const char *names_intern(struct names *names, const char *text)
{
	return strings_intern(&names->strings, text);
}

/* ---- what is wanted ---- */

/* A replay adds nodes and places: the tables follow. */
static void member_follow(struct member *member)
{
	size_t pcs = member->trace->pc_count, nodes = member->trace->node_count;

	if (pcs > member->pc_count) {
		size_t more = pcs - member->pc_count;

		member->places = memory_resize(member->places, pcs, 1);
		member->pcs = memory_resize(member->pcs, pcs, sizeof(*member->pcs));
		memset(member->places + member->pc_count, 0, more);
		memset(member->pcs + member->pc_count, 0, more * sizeof(*member->pcs));
		member->pc_count = pcs;
	}
	if (nodes > member->node_count) {
		member->seen = memory_resize(member->seen, nodes, 1);
		memset(member->seen + member->node_count, 0, nodes - member->node_count);
		member->node_count = nodes;
	}
}

void names_want(struct names *names, size_t index, uint32_t node)
{
	struct member *member = &names->members[index];

	member_follow(member);
	while (node && node < member->node_count && !member->seen[node]) {
		uint32_t pc = member->trace->nodes[node].pc;

		member->seen[node] = 1;
		if (pc < member->pc_count && member->places[pc] == PLACE_UNKNOWN)
			member->places[pc] = PLACE_WANTED;
		node = member->trace->nodes[node].parent;
	}
}

/* ---- one batch per module ---- */

struct place {
	uint32_t member, pc;
};

struct module_batch {
	const struct trace_module *module; /* the first trace's */
	struct place *places;
	size_t count;
};

static bool is_same_module(const struct trace_module *a, const struct trace_module *b)
{
	if (a->build_id_bytes != b->build_id_bytes || strcmp(a->path, b->path))
		return false;
	if (a->build_id_bytes)
		return !memcmp(a->build_id, b->build_id, a->build_id_bytes);
	return a->file_bytes == b->file_bytes && a->mtime_ns == b->mtime_ns;
}

static const struct trace_module *module_of(const struct trace *trace, const struct trace_pc *pc)
{
	return pc->module >= 0 && (size_t)pc->module < trace->module_count ?
		       &trace->modules[pc->module] :
		       NULL;
}

/* Code that lies in no module was generated: its compiler may have named it. */
static const char *generated_name(struct names *names, struct member *member,
				  const struct trace_pc *pc, const struct trace_module *module)
{
	if (module || (pc->flags & TRACE_PC_UNDEFINED))
		return NULL;
	if (!member->map)
		member->map = trace_names_map(member->trace);
	return strings_intern(&names->strings, perf_map_find(member->map, trace_names_address(pc)));
}

static void place_without_names(struct names *names, struct member *member, uint32_t index)
{
	const struct trace_pc *pc = &member->trace->pcs[index];
	const struct trace_module *module = module_of(member->trace, pc);
	struct profile_frame *frame = arena_take(&names->arena, sizeof(*frame));

	*frame = (struct profile_frame){
		.function = generated_name(names, member, pc, module),
		.module = module ? strings_intern(&names->strings, module->path) : NULL,
		.module_offset = trace_names_address(pc) - (module ? module->bias : 0),
	};
	pc_settle(names, &member->pcs[index], frame, 1);
	member->places[index] = PLACE_NAMED;
}

static void place_with_names(struct names *names, const struct place *place,
			     const struct trace_module *module, const struct symbol_frames *found)
{
	struct member *member = &names->members[place->member];
	const struct trace_pc *pc = &member->trace->pcs[place->pc];
	uint64_t offset = trace_names_address(pc) - module_of(member->trace, pc)->bias;
	const char *path = strings_intern(&names->strings, module->path);
	struct profile_frame *frames =
		arena_take(&names->arena, found->count * sizeof(*frames));

	for (unsigned i = 0; i < found->count; i++) {
		const struct symbol_frame *f = found->frames[i];

		frames[i] = (struct profile_frame){
			.function = strings_intern(&names->strings, f->function),
			.file = strings_intern(&names->strings, f->file),
			.line = f->line,
			.module = path,
			.module_offset = offset,
			.is_inlined = f->is_inlined,
		};
	}
	pc_settle(names, &member->pcs[place->pc], frames, found->count);
	member->places[place->pc] = PLACE_NAMED;
}

static int batch_resolve(struct names *names, const struct module_batch *batch, struct error *err)
{
	const struct trace_module *m = batch->module;
	struct symbolizer_module module = trace_names_module(m);
	uint64_t *addresses = memory_zeroed(batch->count, sizeof(*addresses));
	struct symbol_frames *frames = memory_zeroed(batch->count, sizeof(*frames));
	int status = 0;

	for (size_t i = 0; i < batch->count; i++) {
		const struct trace *trace = names->members[batch->places[i].member].trace;
		const struct trace_pc *pc = &trace->pcs[batch->places[i].pc];

		addresses[i] = trace_names_address(pc) - module_of(trace, pc)->bias;
	}
	if (names->symbolizer)
		status = symbolizer_resolve(names->symbolizer, &module, addresses, batch->count,
					    frames, NULL, err);
	for (size_t i = 0; i < batch->count; i++) {
		const struct place *place = &batch->places[i];

		if (!status && frames[i].count)
			place_with_names(names, place, m, &frames[i]);
		else
			place_without_names(names, &names->members[place->member], place->pc);
	}
	free(addresses);
	free(frames);
	return status == ERROR_MEMORY ? status : 0;
}

static struct module_batch *batch_for(struct module_batch **batches, size_t *count,
				      const struct trace_module *module)
{
	for (size_t i = 0; i < *count; i++)
		if (is_same_module((*batches)[i].module, module))
			return &(*batches)[i];
	MEMORY_ROOM(*batches, *count);
	(*batches)[*count] = (struct module_batch){ .module = module };
	return &(*batches)[(*count)++];
}

static void gather(struct names *names, uint32_t index, struct module_batch **batches,
		   size_t *count)
{
	struct member *member = &names->members[index];
	const struct trace *trace = member->trace;
	uint32_t *batch_of = memory_zeroed(trace->module_count, sizeof(*batch_of));

	for (uint32_t pc = 0; pc < member->pc_count; pc++) {
		const struct trace_module *module = module_of(trace, &trace->pcs[pc]);
		struct module_batch *batch;

		if (member->places[pc] != PLACE_WANTED)
			continue;
		if (!module || (trace->pcs[pc].flags & TRACE_PC_UNDEFINED)) {
			place_without_names(names, member, pc);
			continue;
		}
		if (!batch_of[module - trace->modules])
			batch_of[module - trace->modules] =
				(uint32_t)(batch_for(batches, count, module) - *batches) + 1;
		batch = &(*batches)[batch_of[module - trace->modules] - 1];
		MEMORY_ROOM(batch->places, batch->count);
		batch->places[batch->count++] = (struct place){ index, pc };
	}
	free(batch_of);
}

int names_resolve(struct names *names, struct error *err)
{
	struct module_batch *batches = NULL;
	size_t count = 0;
	int status = 0;

	for (size_t i = 0; i < names->count; i++)
		gather(names, (uint32_t)i, &batches, &count);
	for (size_t i = 0; i < count; i++) {
		if (!status)
			status = batch_resolve(names, &batches[i], err);
		free(batches[i].places);
	}
	free(batches);
	return status;
}

/* ---- reading ---- */

const struct names_pc *names_of(struct names *names, size_t index, uint32_t node)
{
	struct member *member = &names->members[index];
	uint32_t pc;

	member_follow(member);
	if (!node || node >= member->node_count)
		return &names->marks[4];
	pc = member->trace->nodes[node].pc;
	for (size_t i = 0; i < sizeof(mark_rows) / sizeof(*mark_rows); i++)
		if (mark_rows[i].pc == pc)
			return &names->marks[i];
	if (pc >= member->pc_count)
		return &names->marks[4];
	if (member->places[pc] != PLACE_NAMED)
		place_without_names(names, member, pc);
	return &member->pcs[pc];
}

void names_count(const struct names *names, size_t index, uint64_t *unresolved, uint64_t *modules)
{
	const struct member *member = &names->members[index];

	*unresolved = 0;
	*modules = member->trace->module_count;
	for (size_t pc = 0; pc < member->pc_count; pc++)
		if (member->places[pc] == PLACE_NAMED && member->pcs[pc].count &&
		    !member->pcs[pc].frames[0].function)
			++*unresolved;
}
