/*
 * Names for the program counters of several traces: wanted stacks are marked
 * first, then one batch per module goes to the symbolizer, whatever the number
 * of traces that module appears in.
 */
#ifndef ANALYZER_MODEL_NAMES_H
#define ANALYZER_MODEL_NAMES_H

#include "model/profile.h"

/* The frames at one program counter, innermost first, hidden ones left out. */
struct names_pc {
	const struct profile_frame *frames;
	uint32_t count;
	uint32_t own;              /* first frame that is no wrapper; count = none */
	uint64_t hash;             /* of the names: equal places in two traces agree */
	bool in_focus, is_ignored; /* some frame matches --focus, --ignore */
	bool is_mark;              /* stands for no place: "[deeper frames not kept]" */
};

struct names;

struct names *names_new(const struct trace_set *set, const struct query *query);
void names_free(struct names *names);

/* Every frame from @node outwards is wanted. */
void names_want(struct names *names, size_t member, uint32_t node);
/* Looks up what is wanted and not known yet. */
int names_resolve(struct names *names, struct error *err);

/* Of a node's own frame; valid until names_free. A place that was not wanted
 * has its module and offset alone. */
const struct names_pc *names_of(struct names *names, size_t member, uint32_t node);

/* Distinct places without a function name, and modules that places lie in. */
void names_count(const struct names *names, size_t member, uint64_t *unresolved,
		 uint64_t *modules);
const char *names_intern(struct names *names, const char *text);

#endif
