/*
 * A profile: the tallies of one or several traces, with names, grouped as the
 * query says. Everything a view shows about sites and stacks comes from here.
 *
 *	profile ── sites[] ── stacks[] ── frames (profile_frames)
 *
 * Sites add up to the totals of their kind, stacks to their site, exactly.
 */
#ifndef ANALYZER_MODEL_PROFILE_H
#define ANALYZER_MODEL_PROFILE_H

#include "model/query.h"
#include "model/tallies.h"
#include "model/trace_set.h"

struct profile_frame {
	const char *function;      /* NULL = not known; "[cut]" and the like for marks */
	const char *file;          /* NULL = not known */
	uint32_t line;             /* 0 = not known */
	const char *module;        /* path; NULL = in none */
	uint64_t module_offset;    /* address in the module's own terms, as addr2line takes it */
	bool is_inlined;           /* into the frame that follows */
	bool is_wrapper;           /* of the allocation family or a thin wrapper */
};

struct profile_stack {
	uint32_t member;           /* index into the profile's traces */
	uint32_t node;             /* stack in that trace; 0 = the empty stack */
	uint32_t dimension;
	enum tally_kind kind;
	struct tally tally;
};

struct profile_cell;

struct profile_site {
	enum tally_kind kind;
	struct profile_frame where;  /* function, file, line, module, module_offset */
	const char *label;           /* by thread, scope, size, process, module: its name */
	struct tally tally;
	struct profile_stack *stacks;/* largest first */
	size_t stack_count;
	const struct profile_cell *cells; /* what went into it */
	size_t cell_count;
};

/* One stack of one trace as it was tallied, before equal names were merged: for
 * aggregators that count by stack and are to be summed up by site. */
struct profile_cell {
	uint32_t member, node, dimension;
	enum tally_kind kind;
};

struct profile_trace {
	struct trace *trace;
	struct moment when;
	struct trace_replay_stats stats;
	struct tallies_totals totals;/* of this trace, before filters by name */
	uint64_t end_ns;             /* where the pass ended */
	uint64_t modules_used, unresolved_frames;
};

struct profile {
	const struct query *query;
	struct profile_trace *traces;
	size_t trace_count;
	struct tally heap, mapped;   /* totals of what is shown */
	struct number inherited, unknown;
	uint64_t samples, sampled;
	bool exact;                  /* no number is an estimate */
	bool complete;
	bool filtered;               /* names took stacks away */
	struct profile_site *sites;  /* in the order of the query */
	size_t site_count;
	struct profile_stack *stacks;/* private: all stacks, sites point into it */
	struct profile_cell *cells;  /* private: likewise */
	struct profile_names *names; /* private */
};

/* Replays, names, groups, orders. @set and @query must outlive the profile. */
int profile_build(struct trace_set *set, const struct query *query, struct profile **profile,
		  struct error *err);
/* The same when further aggregators are to be fed in the same pass: one array of
 * @extra_count for each member of the set. */
int profile_build_with(struct trace_set *set, const struct query *query,
		       struct aggregator *const *const *extra, size_t extra_count,
		       struct profile **profile, struct error *err);
void profile_free(struct profile *profile);

/*
 * Takes stacks away, from sites and totals, and orders what is left. Gives what
 * was taken in *@dropped (zeroed first).
 */
typedef bool (*profile_is_dropped)(void *context, struct profile *profile,
				   const struct profile_stack *stack);
void profile_drop(struct profile *profile, profile_is_dropped is_dropped, void *context,
		  struct tally *dropped);

/*
 * The frames of a stack, innermost first, inlined ones included, frames that
 * the query hides left out. The array belongs to the profile and is valid until
 * the next call; strings until profile_free.
 */
size_t profile_frames(struct profile *profile, const struct profile_stack *stack,
		      const struct profile_frame **frames);

/* The frames of any node, also one that no tally has (names are looked up when
 * they were not yet). */
size_t profile_node_frames(struct profile *profile, uint32_t member, uint32_t node,
			   const struct profile_frame **frames);

/* The place that stands for a stack: its call site. Never NULL. */
const struct profile_frame *profile_call_site(struct profile *profile, uint32_t member,
					      uint32_t node);

/* "main.c:12" shortened to the last part of the path; "" when not known. */
const char *path_base(const char *path);

#endif
