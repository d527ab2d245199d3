/*
 * Readings of /proc/PID/smaps, taken from outside into the trace of a process
 * that is being recorded. trace.h gives them back.
 */
#ifndef ANALYZER_TRACE_SMAPS_H
#define ANALYZER_TRACE_SMAPS_H

#include "trace/live_process.h"
#include "trace/trace.h"

/* Reads the mappings of @pid and appends them to its trace. */
int smaps_record(struct live_process *process, pid_t pid, struct error *err);

#endif
