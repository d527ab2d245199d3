/*
 * See stacks.h. Both tables hold numbers only and compare in the arrays behind
 * them, so a node costs 8 bytes and at most 8 of table.
 */
#include "trace/stacks.h"

#include "util/hash_map.h"
#include "util/memory.h"

#include <stdlib.h>

#define FIRST_SLOTS 1024

void stacks_init(struct stacks *stacks)
{
	*stacks = (struct stacks){0};
	MEMORY_ROOM(stacks->nodes, 0);
	stacks->nodes[0] = (struct trace_stack_node){0};
	stacks->node_count = 1;
	stacks->edges = memory_zeroed(STACK_EDGES, sizeof(*stacks->edges));
	stacks->node_mask = FIRST_SLOTS - 1;
	stacks->node_slots = memory_zeroed(FIRST_SLOTS, sizeof(*stacks->node_slots));

	MEMORY_ROOM(stacks->contexts, 0);
	stacks->contexts[0] = (struct stack_context){0};
	stacks->context_count = 1;

	MEMORY_ROOM(stacks->origins, 0);
	stacks->origins[0] = (struct stack_origin){0};
	stacks->origin_count = 1;
	stacks->origin_mask = FIRST_SLOTS - 1;
	stacks->origin_slots = memory_zeroed(FIRST_SLOTS, sizeof(*stacks->origin_slots));
	stacks->first_room = FIRST_SLOTS;
	stacks->first_origin = memory_zeroed(FIRST_SLOTS, sizeof(*stacks->first_origin));
}

void stacks_release(struct stacks *stacks)
{
	free(stacks->nodes);
	free(stacks->edges);
	free(stacks->node_slots);
	free(stacks->origins);
	free(stacks->origin_slots);
	free(stacks->first_origin);
	free(stacks->contexts);
	hash_map_release(&stacks->context_of);
	hash_map_release(&stacks->kept_of);
	*stacks = (struct stacks){0};
}

static void grow_nodes(struct stacks *stacks)
{
	size_t mask = stacks->node_mask * 2 + 1;
	uint32_t *slots = memory_zeroed(mask + 1, sizeof(*slots));

	for (size_t i = 1; i < stacks->node_count; i++) {
		size_t at = stacks_hash(stacks->nodes[i].parent, stacks->nodes[i].pc) & mask;

		while (slots[at])
			at = (at + 1) & mask;
		slots[at] = (uint32_t)i;
	}
	free(stacks->node_slots);
	stacks->node_slots = slots;
	stacks->node_mask = mask;
}

uint32_t stacks_node_slowly(struct stacks *stacks, uint32_t parent, uint32_t pc, uint64_t hash)
{
	size_t at = hash & stacks->node_mask;
	uint32_t node;

	while ((node = stacks->node_slots[at])) {
		if (stacks->nodes[node].parent == parent && stacks->nodes[node].pc == pc)
			return node;
		at = (at + 1) & stacks->node_mask;
	}
	node = (uint32_t)stacks->node_count;
	MEMORY_ROOM(stacks->nodes, stacks->node_count);
	stacks->nodes[stacks->node_count++] = (struct trace_stack_node){parent, pc};
	stacks->node_slots[at] = node;
	if (stacks->node_count * 2 > stacks->node_mask)
		grow_nodes(stacks);
	return node;
}

uint32_t stacks_context(struct stacks *stacks, uint32_t thread, uint16_t scope, uint64_t rate)
{
	uint64_t key = hash_u64((uint64_t)thread << 16 | scope) ^ rate;
	uint32_t number;

	for (; (number = hash_map_get(&stacks->context_of, key)) != HASH_MAP_NONE; key++) {
		const struct stack_context *context = &stacks->contexts[number];

		if (context->thread == thread && context->scope == scope && context->rate == rate)
			return number;
	}
	number = (uint32_t)stacks->context_count;
	MEMORY_ROOM(stacks->contexts, stacks->context_count);
	stacks->contexts[stacks->context_count++] =
		(struct stack_context){.thread = thread, .scope = scope, .rate = rate};
	hash_map_set(&stacks->context_of, key, number);
	return number;
}

static void grow_origins(struct stacks *stacks)
{
	size_t mask = stacks->origin_mask * 2 + 1;
	uint32_t *slots = memory_zeroed(mask + 1, sizeof(*slots));

	for (size_t i = 1; i < stacks->origin_count; i++) {
		const struct stack_origin *origin = &stacks->origins[i];
		size_t at = stacks_hash(origin->stack, origin->context) & mask;

		while (slots[at])
			at = (at + 1) & mask;
		slots[at] = (uint32_t)i;
	}
	free(stacks->origin_slots);
	stacks->origin_slots = slots;
	stacks->origin_mask = mask;
}

static uint32_t add_origin(struct stacks *stacks, size_t at, uint32_t stack, uint32_t context)
{
	uint32_t number = (uint32_t)stacks->origin_count;

	MEMORY_ROOM(stacks->origins, stacks->origin_count);
	stacks->origins[stacks->origin_count++] = (struct stack_origin){
		.stack = stack,
		.context = context,
		.thread = stacks->contexts[context].thread,
		.scope = stacks->contexts[context].scope,
		.rate = stacks->contexts[context].rate,
	};
	stacks->origin_slots[at] = number;
	if (stacks->origin_count * 2 > stacks->origin_mask)
		grow_origins(stacks);
	return number;
}

static void make_first_room(struct stacks *stacks, size_t stack)
{
	size_t room = stacks->first_room;

	while (room <= stack)
		room *= 2;
	stacks->first_origin =
		memory_resize(stacks->first_origin, room, sizeof(*stacks->first_origin));
	for (size_t i = stacks->first_room; i < room; i++)
		stacks->first_origin[i] = 0;
	stacks->first_room = room;
}

uint32_t stacks_origin(struct stacks *stacks, uint32_t stack, uint32_t context)
{
	uint32_t number;
	size_t at;

	if (stack >= stacks->first_room)
		make_first_room(stacks, stack);
	number = stacks->first_origin[stack];
	if (number && stacks->origins[number].context == context)
		return number;
	at = stacks_hash(stack, context) & stacks->origin_mask;
	while ((number = stacks->origin_slots[at])) {
		if (stacks->origins[number].stack == stack &&
		    stacks->origins[number].context == context)
			return number;
		at = (at + 1) & stacks->origin_mask;
	}
	number = add_origin(stacks, at, stack, context);
	if (!stacks->first_origin[stack])
		stacks->first_origin[stack] = number;
	return number;
}
