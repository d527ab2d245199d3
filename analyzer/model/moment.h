/*
 * Moments of a trace: what WHEN may say, as a table, and the snapshots that the
 * growth rule makes afterwards.
 */
#ifndef ANALYZER_MODEL_MOMENT_H
#define ANALYZER_MODEL_MOMENT_H

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

/* To be freed by the caller. One pass over the trace. */
int auto_moments(struct trace *trace, struct auto_moment **moments, size_t *count,
		 struct error *err);

/* "12.5s", "300ms", "2m", "1h": nanoseconds. 0, or ERROR_USAGE. */
int duration_parse(const char *text, uint64_t *ns);

#endif
