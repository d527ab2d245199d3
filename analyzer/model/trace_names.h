/*
 * Between a trace and the symbolizer: which addresses of which module are to be
 * named, what the trace itself keeps of their names, how the query wants it.
 */
#ifndef ANALYZER_MODEL_TRACE_NAMES_H
#define ANALYZER_MODEL_TRACE_NAMES_H

#include "model/query.h"
#include "symbolize/perf_map.h"
#include "symbolize/symbolizer.h"
#include "trace/trace.h"

/* A symbolizer that looks where the query says. NULL: no memory. */
struct symbolizer *trace_names_symbolizer(const struct query *query);

/* Strings and build-id stay the trace's. */
struct symbolizer_module trace_names_module(const struct trace_module *module);

/* What is looked up: the byte before a return address belongs to the call. */
uint64_t trace_names_address(const struct trace_pc *pc);

/* Hands the names that @trace keeps to @symbolizer. */
void trace_names_give(struct symbolizer *symbolizer, const struct trace *trace);

/* Names of generated code: what the trace keeps, else the compiler's file, if it
 * is still there. For perf_map_free. */
struct perf_map *trace_names_map(const struct trace *trace);

/* The places in the code of one module, or of none. */
struct trace_places {
	uint64_t *addresses;
	size_t count;
};

/* One entry per module of @trace and one more for generated code. For
 * trace_places_free. */
struct trace_places *trace_places_by_module(const struct trace *trace);
void trace_places_free(struct trace_places *places, const struct trace *trace);

#endif
