/*
 * The stacks of a profile as a tree, from the allocation up (callers) or from
 * main down. A node's total is what all stacks through it sum up to; what ends
 * in it is its own.
 */
#ifndef ANALYZER_MODEL_CALL_TREE_H
#define ANALYZER_MODEL_CALL_TREE_H

#include "model/profile.h"

enum call_tree_direction { CALL_TREE_CALLERS, CALL_TREE_DOWN };

struct call_node {
	struct profile_frame frame;  /* of the root: no names */
	struct tally total, own;
	uint32_t parent;             /* index; of the root 0 */
	uint32_t first_child, next;  /* index, 0 = none; in the order of the query */
	uint32_t depth;
	bool has_recursion;          /* frames of the same function were folded into it */
};

struct call_tree {
	struct call_node *nodes;     /* [0] is the root */
	size_t count;
};

/*
 * Builds the tree of all stacks of @kind. Callers begin at the call site
 * (wrappers are passed over); a function that calls itself is one node.
 */
void call_tree_build(struct profile *profile, enum tally_kind kind,
		     enum call_tree_direction direction, struct call_tree *tree);
void call_tree_release(struct call_tree *tree);

#endif
