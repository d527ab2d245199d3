/*
 * Stacks, and what else an event's maker is known by, as small numbers.
 *
 * All stacks are one tree: a node is a frame and the stack that called it, so a
 * stack is the number of its innermost node and common callers are kept once.
 *
 * An ORIGIN is a stack in a CONTEXT, and a context is a thread, a scope and a
 * rate: what changes rarely is told once. An event carries one number, its
 * origin.
 */
#ifndef ANALYZER_TRACE_STACKS_H
#define ANALYZER_TRACE_STACKS_H

#include "trace/trace.h"
#include "util/hash_map.h"

#include <stddef.h>
#include <stdint.h>

struct stack_context {
	uint64_t rate;
	uint32_t thread;
	uint16_t scope;
};

/* What its context says is here once more: events are made from this. */
struct stack_origin {
	uint64_t rate;
	uint32_t stack;
	uint32_t thread;
	uint32_t context;
	uint16_t scope;
};

/* A step in the tree that was made lately. */
struct stack_edge {
	uint32_t parent, pc, node;
};
#define STACK_EDGES 32768

struct stacks {
	struct trace_stack_node *nodes; /* 0: the empty stack */
	struct stack_edge *edges;       /* by hash; fits into a core's own cache */
	size_t node_count;
	uint32_t *node_slots;           /* open addressing, 0 = empty */
	size_t node_mask;

	struct stack_origin *origins;   /* 0: the empty stack in context 0 */
	size_t origin_count;
	uint32_t *origin_slots;
	size_t origin_mask;
	uint32_t *first_origin;         /* by node: the origin made first, 0 = none */
	size_t first_room;

	struct hash_map kept_of;        /* node of a stack that is too deep: what is kept */

	struct stack_context *contexts; /* 0: not known */
	size_t context_count;
	struct hash_map context_of;
};

void stacks_init(struct stacks *stacks);
void stacks_release(struct stacks *stacks);

/* The same as stacks_node, by the table of all nodes. */
uint32_t stacks_node_slowly(struct stacks *stacks, uint32_t parent, uint32_t pc, uint64_t hash);

static inline uint64_t stacks_hash(uint32_t a, uint32_t b)
{
	return hash_u64((uint64_t)a << 32 | b) >> 16;
}

/* The stack that is frame @pc called from stack @parent. */
static inline uint32_t stacks_node(struct stacks *stacks, uint32_t parent, uint32_t pc)
{
	uint64_t hash = stacks_hash(parent, pc);
	struct stack_edge *edge = &stacks->edges[hash >> 24 & (STACK_EDGES - 1)];

	if (edge->parent != parent || edge->pc != pc || !edge->node) {
		edge->node = stacks_node_slowly(stacks, parent, pc, hash);
		edge->parent = parent;
		edge->pc = pc;
	}
	return edge->node;
}

uint32_t stacks_context(struct stacks *stacks, uint32_t thread, uint16_t scope, uint64_t rate);
uint32_t stacks_origin(struct stacks *stacks, uint32_t stack, uint32_t context);

#endif
