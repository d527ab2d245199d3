/*
 * A process that is being recorded, seen from outside: found by its pid through
 * /proc (also in another mount or pid namespace), steered by the control words
 * of its companion file, and given marks by appending pieces to its trace. The
 * process itself need not cooperate.
 *
 * Pids are used again: owner, boot and start time of the process are compared
 * with what the companion says before anything is written.
 */
#ifndef ANALYZER_TRACE_LIVE_PROCESS_H
#define ANALYZER_TRACE_LIVE_PROCESS_H

#include "memprof/control.h"
#include "memprof/trace_format.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct live_process;

/* Opens the companion and the trace of process @pid. The result is the
 * caller's, for live_process_close. ERROR_NOT_FOUND: no such process, or it is
 * not recorded; the words say which. */
int live_process_open(pid_t pid, struct live_process **process, struct error *err);
void live_process_close(struct live_process *process);

/* The companion's control page, mapped shared; valid until close. */
const struct control_page *live_process_control(const struct live_process *process);
const char *live_process_trace_path(const struct live_process *process);

/* Sets control words. The process notices at its next slow path: at once when
 * exact, within some 64 KiB of allocation per thread when sampled or dormant. */
void live_process_set_active(struct live_process *process, bool is_active);
void live_process_set_rate(struct live_process *process, uint64_t rate_bytes);

/* Appends one record of @kind to the trace, in a piece of its own. @payload as
 * trace_format.h lays it out. */
int live_process_append(struct live_process *process, enum trace_kind kind,
			const uint8_t *payload, size_t bytes, struct error *err);

/* Appends a MARK of the present moment. @detail may be NULL. */
int live_process_mark(struct live_process *process, enum trace_mark mark, const char *name,
		      const char *detail, uint64_t value, struct error *err);

/* Pids of @root and all its descendants that are alive now, @root first. The
 * array is the caller's, for free(). Returns how many, or a negative code. */
ssize_t live_process_tree(pid_t root, pid_t **pids);

#endif
