/*
 * massif's output, for ms_print and massif-visualizer: the heap over time, with
 * the composition of two snapshots: the peak, and the last one.
 */
#include "view/export.h"

#include "page/page_facts.h"
#include "page/page_names.h"
#include "util/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SNAPSHOTS 200
#define THRESHOLD 0.01 /* parts of a snapshot below this are summed up */

/* ---- the tree of one snapshot: from the call sites to their callers ---- */

struct massif_tree {
	struct page_names names;
	double *bytes;          /* by node */
	uint32_t *first, *next; /* children as lists; 0 ends */
	double total;
};

static void tree_add(struct massif_tree *tree, const struct profile_frame *frames, size_t count,
		     double bytes)
{
	uint32_t node = 0;

	tree->bytes[0] += bytes;
	for (size_t i = 0; i < count; i++) {
		size_t before = tree->names.node_count;

		node = page_child(&tree->names, node, page_frame(&tree->names, &frames[i]));
		if (tree->names.node_count > before)
			tree->bytes = memory_resize(tree->bytes, tree->names.node_count,
						    sizeof(*tree->bytes));
		if (tree->names.node_count > before)
			tree->bytes[node] = 0;
		tree->bytes[node] += bytes;
	}
}

static void tree_build(struct massif_tree *tree, struct profile *profile, enum metric metric)
{
	page_names_init(&tree->names);
	tree->bytes = memory_zeroed(1, sizeof(*tree->bytes));
	for (size_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		for (size_t s = 0; site->kind == TALLY_HEAP && s < site->stack_count; s++) {
			double bytes = site->stacks[s].tally.of[metric].bytes;
			const struct profile_frame *frames;
			size_t count = profile_frames(profile, &site->stacks[s], &frames);

			if (bytes > 0)
				tree_add(tree, frames, count, bytes);
		}
	}
	tree->total = tree->bytes[0];
	tree->first = memory_zeroed(tree->names.node_count, sizeof(*tree->first));
	tree->next = memory_zeroed(tree->names.node_count, sizeof(*tree->next));
	for (uint32_t n = 1; n < tree->names.node_count; n++) {
		uint32_t parent = tree->names.nodes[n].parent;

		tree->next[n] = tree->first[parent];
		tree->first[parent] = n;
	}
}

static void tree_release(struct massif_tree *tree)
{
	page_names_release(&tree->names);
	free(tree->bytes);
	free(tree->first);
	free(tree->next);
}

static const struct massif_tree *sort_tree;

static int compare_nodes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double p = sort_tree->bytes[x], q = sort_tree->bytes[y];

	if (p != q)
		return p > q ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The children worth a line, largest first; what is left is summed up. */
static size_t significant(const struct massif_tree *tree, uint32_t node, uint32_t **nodes,
			  size_t *below, double *below_bytes)
{
	size_t count = 0;

	*nodes = NULL;
	*below = 0;
	*below_bytes = 0;
	for (uint32_t n = tree->first[node]; n; n = tree->next[n]) {
		if (tree->bytes[n] < tree->total * THRESHOLD) {
			++*below;
			*below_bytes += tree->bytes[n];
			continue;
		}
		MEMORY_ROOM(*nodes, count);
		(*nodes)[count++] = n;
	}
	sort_tree = tree;
	if (count)
		qsort(*nodes, count, sizeof(**nodes), compare_nodes);
	return count;
}

static void write_place(FILE *out, const struct massif_tree *tree, uint32_t node)
{
	const struct page_frame *frame = &tree->names.frames[tree->names.nodes[node].frame];
	const char *const *strings = tree->names.strings;

	if (frame->offset)
		fprintf(out, "%s: ???", strings[frame->offset]);
	else
		fprintf(out, "0x%X: %.*s", tree->names.nodes[node].frame + 1,
			(int)strcspn(strings[frame->function], "\r\n"), strings[frame->function]);
	if (frame->file)
		fprintf(out, " (%s:%u)\n", path_base(strings[frame->file]), frame->line);
	else if (frame->module)
		fprintf(out, " (in %s)\n", strings[frame->module]);
	else
		fputc('\n', out);
}

#define DEPTH_MOST 200

static void write_node(FILE *out, const struct massif_tree *tree, uint32_t node, int depth)
{
	uint32_t *nodes;
	size_t below;
	double below_bytes;
	size_t count = significant(tree, node, &nodes, &below, &below_bytes);

	fprintf(out, "%*sn%zu: %.0f ", depth, "", depth < DEPTH_MOST ? count + !!below : 0,
		round(tree->bytes[node]));
	if (node)
		write_place(out, tree, node);
	else
		fputs("(heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n", out);
	for (size_t i = 0; depth < DEPTH_MOST && i < count; i++)
		write_node(out, tree, nodes[i], depth + 1);
	if (depth < DEPTH_MOST && below)
		fprintf(out, "%*sn0: %.0f in %zu place%s, %sbelow massif's threshold (%.2f%%)\n",
			depth + 1, "", round(below_bytes), below, below == 1 ? "" : "s",
			below == 1 ? "" : "all ", 100 * THRESHOLD);
	free(nodes);
}

/* ---- snapshots ---- */

struct massif {
	FILE *out;
	struct profile *profile;
	unsigned number;
};

static void write_snapshot(struct massif *massif, uint64_t ns, double bytes, const char *tree,
			   enum metric metric)
{
	FILE *out = massif->out;

	fprintf(out, "#-----------\nsnapshot=%u\n#-----------\n", massif->number++);
	fprintf(out, "time=%" PRIu64 "\nmem_heap_B=%.0f\nmem_heap_extra_B=0\nmem_stacks_B=0\n",
		ns / 1000000, round(bytes));
	fprintf(out, "heap_tree=%s\n", tree);
	if (strcmp(tree, "empty")) {
		struct massif_tree nodes = {0};

		tree_build(&nodes, massif->profile, metric);
		write_node(out, &nodes, 0, 0);
		tree_release(&nodes);
	}
}

static void write_snapshots(struct massif *massif, const struct page_facts *facts)
{
	const struct profile_trace *pt = &massif->profile->traces[0];
	uint64_t length = facts->axis->length_ns, peak_ns = pt->totals.peak_ns;
	bool is_peak_told = false;

	write_snapshot(massif, 0, 0, "empty", METRIC_LIVE);
	for (size_t i = 0; i < SNAPSHOTS; i++) {
		size_t bin = (i + 1) * PAGE_BINS / SNAPSHOTS - 1;
		uint64_t ns = (uint64_t)((double)length * (double)(i + 1) / SNAPSHOTS);
		bool is_last = i + 1 == SNAPSHOTS;

		if (!is_peak_told && (peak_ns <= ns || is_last)) {
			write_snapshot(massif, peak_ns, massif->profile->heap.of[METRIC_PEAK].bytes,
				       "peak", METRIC_PEAK);
			is_peak_told = true;
		}
		write_snapshot(massif, ns, facts->bins[bin].last.heap[PAGE_LIVE_BYTES],
			       is_last ? "detailed" : "empty", METRIC_LIVE);
	}
}

static void write_head(struct massif *massif)
{
	const struct trace_info *info = &massif->profile->traces[0].trace->info;

	fputs("desc: memprof\ncmd:", massif->out);
	for (char **word = info->command; word && *word; word++)
		fprintf(massif->out, " %.*s", (int)strcspn(*word, "\r\n"), *word);
	fputs("\ntime_unit: ms\n", massif->out);
}

int export_massif(struct export_job *job, struct error *err)
{
	struct trace *trace = job->set->members[0].trace;
	struct massif massif = {.out = job->out};
	uint64_t shift = 0, end = trace->info.duration_ns;
	struct aggregator *const *extra[1];
	struct aggregator *only;
	struct page_axis axis;
	struct page_facts *facts;
	int status;

	if (job->set->count != 1)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "massif holds one process, here are %zu traces", job->set->count);
	page_axis_init(&axis, &trace, &shift, &end, 1);
	facts = page_facts_new(trace, &axis, 0);
	only = &facts->aggregator;
	extra[0] = &only;
	status = profile_build_with(job->set, &job->request->query, extra, 1, &massif.profile, err);
	if (!status) {
		write_head(&massif);
		write_snapshots(&massif, facts);
		profile_free(massif.profile);
	}
	page_facts_free(facts);
	page_axis_release(&axis);
	return status;
}
