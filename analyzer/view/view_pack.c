/*
 * pack: a trace made small for keeping. Every command reads it as it is.
 */
#include "view/common.h"

#include "util/memory.h"

#include <stdlib.h>

/* Packs one trace; says what came of it. */
static int pack(const struct trace_set_member *member, const char *output, struct error *err)
{
	char before[UNITS_BYTES], after[UNITS_BYTES];
	struct trace *trace = member->trace;
	uint64_t bytes, events = trace->info.events;
	int status;

	if (member->when.kind != MOMENT_END)
		return error_set(err, ERROR_USAGE, trace->path, ERROR_NO_OFFSET,
				 "a whole trace is packed; `cut` makes a trace of a moment");
	status = trace_pack(trace, output, &bytes, err);
	if (status)
		return status;
	printf("%s: %s, %.2f bytes an event; before %s\n", output,
	       units_bytes(after, (double)bytes, false),
	       events ? (double)bytes / (double)events : 0,
	       units_bytes(before, (double)trace->info.bytes, false));
	return 0;
}

VIEW_SHOW(view_pack)
{
	if (set->count != 1)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "pack makes one trace small at a time");
	if (!request->output)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "where to? Say -o SMALL.trace");
	return pack(&set->members[0], request->output, err);
}
