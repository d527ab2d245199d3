/*
 * callgrind's format ("cl-format" in valgrind's manual), for callgrind_annotate
 * and kcachegrind. What a stack is worth is the own cost of its innermost frame;
 * each step of a stack is a call whose inclusive cost it adds to. A function
 * that is in a stack twice (recursion) takes the cost of its calls once.
 */
#include "view/export.h"

#include "memprof/version.h"
#include "page/page_names.h"
#include "util/memory.h"
#include "view/export_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Own costs: callee 0. Calls: callee is a function. Lines of one caller. */
struct cost {
	uint32_t caller, line, callee, callee_line;
	uint64_t values[EXPORT_VALUES];
};

struct function {
	uint32_t name, file, module; /* strings */
};

struct callgrind {
	struct page_names names;
	struct hash_map cost_of; /* by hash, see cost_get */
	struct cost *costs;
	size_t cost_count;
	struct hash_map function_of;  /* by frame */
	struct hash_map function_ids; /* by hash */
	struct function *functions;   /* 0 is none */
	size_t function_count;
	uint64_t totals[EXPORT_VALUES];
};

static uint32_t function_add(struct callgrind *cg, const struct function *function)
{
	uint64_t hash = hash_u64((uint64_t)function->name << 32 | function->file) ^
			hash_u64(function->module) * 3;

	for (;; hash++) {
		uint32_t id = hash_map_get(&cg->function_ids, hash);

		if (id == HASH_MAP_NONE)
			break;
		if (!memcmp(&cg->functions[id], function, sizeof(*function)))
			return id;
	}
	hash_map_set(&cg->function_ids, hash, (uint32_t)cg->function_count);
	MEMORY_ROOM(cg->functions, cg->function_count);
	cg->functions[cg->function_count] = *function;
	return (uint32_t)cg->function_count++;
}

static uint32_t function_get(struct callgrind *cg, uint32_t frame_id)
{
	const struct page_frame *frame = &cg->names.frames[frame_id];
	struct function function = {frame->function, frame->file, frame->module};
	uint32_t id = hash_map_get(&cg->function_of, frame_id);
	char place[512];

	if (id != HASH_MAP_NONE)
		return id;
	if (!function.name) {
		snprintf(place, sizeof(place), "%.400s+%s",
			 path_base(cg->names.strings[frame->module]),
			 cg->names.strings[frame->offset]);
		function.name = page_string(&cg->names, place);
	}
	id = function_add(cg, &function);
	hash_map_set(&cg->function_of, frame_id, id);
	return id;
}

static struct cost *cost_get(struct callgrind *cg, const struct cost *key)
{
	uint64_t hash = hash_u64((uint64_t)key->caller << 32 | key->line) ^
			hash_u64((uint64_t)key->callee << 32 | (key->callee_line + 1)) * 3;

	for (;; hash++) {
		uint32_t id = hash_map_get(&cg->cost_of, hash);

		if (id == HASH_MAP_NONE)
			break;
		if (!memcmp(&cg->costs[id], key, offsetof(struct cost, values)))
			return &cg->costs[id];
	}
	hash_map_set(&cg->cost_of, hash, (uint32_t)cg->cost_count);
	MEMORY_ROOM(cg->costs, cg->cost_count);
	cg->costs[cg->cost_count] = *key;
	return &cg->costs[cg->cost_count++];
}

static void cost_add(struct callgrind *cg, const struct cost *key, const struct tally *tally)
{
	struct cost *cost = cost_get(cg, key);

	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		cost->values[v] += export_whole(tally, v);
}

/* A call further in already carries this stack's cost. */
static bool was_called_before(const struct cost *calls, size_t count, const struct cost *call)
{
	for (size_t i = 0; i < count; i++)
		if (calls[i].caller == call->caller && calls[i].callee == call->callee)
			return true;
	return false;
}

static void add_stack(struct callgrind *cg, struct profile *profile,
		      const struct profile_stack *stack)
{
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, stack, &frames);
	struct cost *calls = memory_zeroed(count + 1, sizeof(*calls));
	uint32_t callee = 0, callee_line = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t function = function_get(cg, page_frame(&cg->names, &frames[i]));

		calls[i] = (struct cost){function, frames[i].line, callee, callee_line, {0}};
		if (!was_called_before(calls, i, &calls[i]))
			cost_add(cg, &calls[i], &stack->tally);
		callee = function;
		callee_line = frames[i].line;
	}
	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		cg->totals[v] += export_whole(&stack->tally, v);
	free(calls);
}

/* ---- writing ---- */

static int compare_costs(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Names may hold anything but the end of a line. */
static void write_name(const struct callgrind *cg, FILE *out, const char *key, uint32_t id,
		       uint32_t string)
{
	const char *name = string ? cg->names.strings[string] : "???";

	fprintf(out, "%s=(%u) ", key, id);
	for (; *name; name++)
		fputc(*name == '\n' || *name == '\r' ? ' ' : *name, out);
	fputc('\n', out);
}

static void write_values(FILE *out, uint32_t line, const uint64_t *values)
{
	fprintf(out, "%u", line);
	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		fprintf(out, " %" PRIu64, values[v]);
	fputc('\n', out);
}

static void write_cost(const struct callgrind *cg, FILE *out, const struct cost *cost)
{
	if (cost->callee) {
		const struct function *callee = &cg->functions[cost->callee];

		write_name(cg, out, "cob", callee->module + 1, callee->module);
		write_name(cg, out, "cfi", callee->file + 1, callee->file);
		write_name(cg, out, "cfn", cost->callee, callee->name);
		fprintf(out, "calls=%" PRIu64 " %u\n", cost->values[3], cost->callee_line);
	}
	write_values(out, cost->line, cost->values);
}

static void write_header(const struct callgrind *cg, FILE *out, const struct trace_info *info)
{
	fputs("# callgrind format\nversion: 1\ncreator: memprof " MEMPROF_VERSION "\n", out);
	fprintf(out, "pid: %" PRIu64 "\ncmd:", info->pid);
	for (char **word = info->command; word && *word; word++)
		fprintf(out, " %.*s", (int)strcspn(*word, "\r\n"), *word);
	fputs("\npart: 1\n\npositions: line\n", out);
	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		fprintf(out, "event: %s : %s\n", export_values[v].name, export_values[v].title);
	fputs("events:", out);
	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		fprintf(out, " %s", export_values[v].name);
	fputs("\nsummary:", out);
	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		fprintf(out, " %" PRIu64, cg->totals[v]);
	fputs("\n\n", out);
}

static void write_all(const struct callgrind *cg, FILE *out)
{
	uint32_t caller = 0;

	for (size_t i = 0; i < cg->cost_count; i++) {
		const struct cost *cost = &cg->costs[i];

		if (cost->caller != caller) {
			const struct function *function = &cg->functions[cost->caller];

			fputc('\n', out);
			write_name(cg, out, "ob", function->module + 1, function->module);
			write_name(cg, out, "fl", function->file + 1, function->file);
			write_name(cg, out, "fn", cost->caller, function->name);
			caller = cost->caller;
		}
		write_cost(cg, out, cost);
	}
}

int export_callgrind(struct export_job *job, struct error *err)
{
	struct callgrind cg = {0};

	(void)err;
	page_names_init(&cg.names);
	MEMORY_ROOM(cg.functions, cg.function_count);
	cg.functions[cg.function_count++] = (struct function){0};
	for (size_t i = 0; i < job->profile->site_count; i++) {
		const struct profile_site *site = &job->profile->sites[i];

		for (size_t s = 0; site->kind == TALLY_HEAP && s < site->stack_count; s++)
			add_stack(&cg, job->profile, &site->stacks[s]);
	}
	if (cg.cost_count)
		qsort(cg.costs, cg.cost_count, sizeof(*cg.costs), compare_costs);
	write_header(&cg, job->out, &job->profile->traces[0].trace->info);
	write_all(&cg, job->out);
	page_names_release(&cg.names);
	hash_map_release(&cg.cost_of);
	hash_map_release(&cg.function_of);
	hash_map_release(&cg.function_ids);
	free(cg.costs);
	free(cg.functions);
	return 0;
}
