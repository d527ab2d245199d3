/*
 * A pass that gives its aggregators only those events that the query wants, by
 * size, thread, time and also by the names on the stack: for views that sum up
 * events and need no sites. Filters by name cost a pass of their own.
 */
#ifndef ANALYZER_MODEL_FILTERED_PASS_H
#define ANALYZER_MODEL_FILTERED_PASS_H

#include "model/pass.h"

struct filtered_pass {
	struct trace_replay_stats stats;
	uint64_t from_ns, end_ns;  /* the window that was looked at */
};

int filtered_pass_run(const struct trace_set_member *member, const struct query *query,
		      struct aggregator *const *aggregators, size_t count,
		      struct filtered_pass *pass, struct error *err);

#endif
