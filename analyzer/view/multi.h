/*
 * Frames around what is said of each trace of a set: JSON's schema and array,
 * CSV's header, a line with the name in text. For views that do not merge traces.
 */
#ifndef ANALYZER_VIEW_MULTI_H
#define ANALYZER_VIEW_MULTI_H

#include "view/common.h"

struct multi {
	const struct view_request *request;
	const struct trace_set *set;
	struct json json;
	size_t index;              /* of the trace that is being shown */
};

void multi_begin(struct multi *multi, const struct view_request *request,
		 const struct trace_set *set, const char *schema, const char *csv_header);
/* Of each trace: JSON opens an object with path and pid. */
void multi_trace_begin(struct multi *multi, const struct trace *trace);
void multi_trace_end(struct multi *multi);
void multi_end(struct multi *multi);

/* One line that says what is shown: name, pid, window. */
void multi_heading(const struct multi *multi, const struct trace *trace, uint64_t from_ns,
		   uint64_t end_ns);

#endif
