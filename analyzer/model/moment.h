/*
 * Moments of a trace: what WHEN may say, as a table, and the snapshots that the
 * growth rule makes afterwards.
 */
#ifndef ANALYZER_MODEL_MOMENT_H
#define ANALYZER_MODEL_MOMENT_H

#include "model/pass.h"
#include "model/trace_set.h"

/*
 * The growth rule: a snapshot whenever the live heap has grown by 40 % since the
 * last one, from 64 KiB on. The rule Dart DevTools uses, with a floor.
 */
#define AUTO_GROWTH 1.4
#define AUTO_FLOOR_BYTES 65536.0

struct auto_moment {
	uint64_t time_ns;
	double live_count, live_bytes;
};

/* The rule as an aggregator: zeroed but for what auto_rule_init sets. */
struct auto_rule {
	struct aggregator aggregator;
	double live_count, live_bytes, next_bytes;
	struct auto_moment *moments; /* to be freed by the owner */
	size_t count;
};
void auto_rule_init(struct auto_rule *rule);

/* What was live at given times, in one pass. */
struct moment_total {
	uint64_t time_ns;            /* events up to and at that time count */
	struct number heap, mapped;
};
struct moment_totals {
	struct aggregator aggregator;
	struct moment_total *totals; /* in time order; the caller's */
	size_t count, next;
	struct number heap, mapped;
};
void moment_totals_init(struct moment_totals *moments, struct moment_total *totals, size_t count);

/* To be freed by the caller. One pass over the trace. */
int auto_moments(struct trace *trace, struct auto_moment **moments, size_t *count,
		 struct error *err);

/* "12.5s", "300ms", "2m", "1h": nanoseconds. 0, or ERROR_USAGE. */
int duration_parse(const char *text, uint64_t *ns);

#endif
