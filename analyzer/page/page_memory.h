/*
 * Where the resident memory was, for the page: a few readings of the mappings
 * with their accounts, and one of them mapping by mapping.
 */
#ifndef ANALYZER_PAGE_PAGE_MEMORY_H
#define ANALYZER_PAGE_PAGE_MEMORY_H

#include "trace/trace.h"
#include "view/json.h"

/* Writes "memory" and "smaps" as members of the object being written; nothing
 * when the trace has no readings of mappings. */
void page_memory_write(struct json *json, struct trace *trace);

#endif
