/*
 * Makes the slices of a trace, in one replay.
 */
#ifndef ANALYZER_MODEL_SLICE_BUILDER_H
#define ANALYZER_MODEL_SLICE_BUILDER_H

#include "trace/trace.h"

/* Curves' bucket of the slices of @trace, ns. */
uint64_t slice_bucket_ns(const struct trace *trace);

/* Replays @trace and keeps what slices.h says in @writer, which is ended. Where too
 * many blocks outlive their slice an index without slices is kept, so that nobody
 * tries again. */
void slices_build(struct trace *trace, struct index_writer *writer);

#endif
