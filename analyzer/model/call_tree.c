/*
 * See call_tree.h. Children are found by a hash of (parent, place).
 */
#include "model/call_tree.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

struct builder {
	struct call_tree *tree;
	enum call_tree_direction direction;
	uint32_t *buckets;           /* node index, 0 = free */
	size_t bucket_count;
};

/* From main down, calls from several lines of a function are one node. */
static bool is_same_place(const struct builder *builder, const struct profile_frame *a,
			  const struct profile_frame *b)
{
	if (a->function != b->function || a->module != b->module)
		return false;
	if (!a->function)
		return a->module_offset == b->module_offset;
	return a->file == b->file &&
	       (builder->direction == CALL_TREE_DOWN || a->line == b->line);
}

static size_t place_hash(const struct builder *builder, uint32_t parent,
			 const struct profile_frame *frame)
{
	uint64_t hash = parent * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ (uintptr_t)frame->function) * 0x9e3779b97f4a7c15ull;
	hash = (hash ^ (uintptr_t)frame->module) * 0x9e3779b97f4a7c15ull;
	if (!frame->function)
		hash = (hash ^ frame->module_offset) * 0x9e3779b97f4a7c15ull;
	else if (builder->direction != CALL_TREE_DOWN)
		hash = (hash ^ frame->line) * 0x9e3779b97f4a7c15ull;
	return (size_t)(hash >> 24) & (builder->bucket_count - 1);
}

static void rehash(struct builder *builder)
{
	builder->bucket_count = builder->bucket_count ? builder->bucket_count * 2 : 4096;
	free(builder->buckets);
	builder->buckets = memory_zeroed(builder->bucket_count, sizeof(*builder->buckets));
	for (size_t i = 1; i < builder->tree->count; i++) {
		const struct call_node *node = &builder->tree->nodes[i];
		size_t at = place_hash(builder, node->parent, &node->frame);

		while (builder->buckets[at])
			at = (at + 1) & (builder->bucket_count - 1);
		builder->buckets[at] = (uint32_t)i;
	}
}

static uint32_t child_of(struct builder *builder, uint32_t parent,
			 const struct profile_frame *frame)
{
	struct call_tree *tree = builder->tree;
	struct call_node *node;
	size_t at;

	if (tree->count * 2 >= builder->bucket_count)
		rehash(builder);
	at = place_hash(builder, parent, frame);
	for (; builder->buckets[at]; at = (at + 1) & (builder->bucket_count - 1)) {
		node = &tree->nodes[builder->buckets[at]];
		if (node->parent == parent && is_same_place(builder, &node->frame, frame))
			return builder->buckets[at];
	}
	MEMORY_ROOM(tree->nodes, tree->count);
	node = &tree->nodes[tree->count];
	*node = (struct call_node){ .frame = *frame, .parent = parent,
				    .depth = tree->nodes[parent].depth + 1 };
	builder->buckets[at] = (uint32_t)tree->count;
	return (uint32_t)tree->count++;
}

/* Recursion once: a frame of the same function as its neighbour stays there. */
static bool is_recursion(const struct call_node *node, const struct profile_frame *frame)
{
	return node->depth && frame->function && node->frame.function == frame->function &&
	       node->frame.module == frame->module;
}

static void add_stack(struct builder *builder, struct profile *profile,
		      const struct profile_stack *stack)
{
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, stack, &frames), first = 0;
	struct call_tree *tree = builder->tree;
	uint32_t at = 0;

	while (first + 1 < count && frames[first].is_wrapper)
		first++;
	if (first + 1 == count && frames[first].is_wrapper)
		first = 0;
	tally_add(&tree->nodes[0].total, &stack->tally);
	for (size_t i = first; i < count; i++) {
		const struct profile_frame *frame =
			&frames[builder->direction == CALL_TREE_CALLERS ? i :
									   count - 1 - (i - first)];

		if (is_recursion(&tree->nodes[at], frame)) {
			tree->nodes[at].has_recursion = true;
			continue;
		}
		at = child_of(builder, at, frame);
		tally_add(&tree->nodes[at].total, &stack->tally);
	}
	tally_add(&tree->nodes[at].own, &stack->tally);
}

/* ---- order ---- */

static const struct call_node *sort_nodes;
static const struct query *sort_query;

static int compare_nodes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double vx = number_value(&sort_nodes[x].total.of[sort_query->sort], sort_query->by_count);
	double vy = number_value(&sort_nodes[y].total.of[sort_query->sort], sort_query->by_count);
	const char *nx = sort_nodes[x].frame.function, *ny = sort_nodes[y].frame.function;

	if (sort_nodes[x].parent != sort_nodes[y].parent)
		return sort_nodes[x].parent < sort_nodes[y].parent ? -1 : 1;
	if (vx != vy)
		return vx > vy ? -1 : 1;
	if (nx && ny && nx != ny)
		return strcmp(nx, ny);
	return x < y ? -1 : 1;
}

/* Links the children of each node, largest first. */
static void link_children(struct call_tree *tree, const struct query *query)
{
	uint32_t *order = memory_zeroed(tree->count, sizeof(*order));

	for (size_t i = 1; i < tree->count; i++)
		order[i] = (uint32_t)i;
	sort_nodes = tree->nodes;
	sort_query = query;
	if (tree->count > 1)
		qsort(order + 1, tree->count - 1, sizeof(*order), compare_nodes);
	for (size_t i = tree->count; i-- > 1;) {
		struct call_node *node = &tree->nodes[order[i]];

		node->next = tree->nodes[node->parent].first_child;
		tree->nodes[node->parent].first_child = order[i];
	}
	free(order);
}

void call_tree_build(struct profile *profile, enum tally_kind kind,
		     enum call_tree_direction direction, struct call_tree *tree)
{
	struct builder builder = { .tree = tree, .direction = direction };

	*tree = (struct call_tree){ 0 };
	MEMORY_ROOM(tree->nodes, tree->count);
	tree->nodes[tree->count++] = (struct call_node){ 0 };
	for (size_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		for (size_t s = 0; site->kind == kind && s < site->stack_count; s++)
			add_stack(&builder, profile, &site->stacks[s]);
	}
	free(builder.buckets);
	link_children(tree, profile->query);
}

void call_tree_release(struct call_tree *tree)
{
	free(tree->nodes);
	*tree = (struct call_tree){ 0 };
}
