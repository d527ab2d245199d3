/*
 * A reading of a process's mappings held against what was live at that moment.
 */
#ifndef ANALYZER_VIEW_MEMORY_READING_H
#define ANALYZER_VIEW_MEMORY_READING_H

#include "model/memory_account.h"
#include "trace/trace.h"
#include "util/error.h"

/* The mappings of the reading that begins with part trace->smaps[@reading]; the
 * contents of @map are the caller's, for memory_map_release. */
int memory_reading_map(const struct trace *trace, size_t reading, struct memory_map *map,
		       struct error *err);
/* The same with their account: a pass over the trace up to then. */
int memory_reading_account(struct trace *trace, size_t reading, struct memory_account *account,
			   struct memory_map *map, struct error *err);

#endif
