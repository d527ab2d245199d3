/*
 * The life of a process: it gets a trace when its first event comes (the
 * program itself already in the library's constructor), a child of fork gets
 * its own, and every orderly end folds the slots into the trace.
 *
 * How a child is noticed: per-thread states and a page of this module are
 * zeroed in it by the kernel (MADV_WIPEONFORK), whichever way it was made. A
 * vfork child shares the memory of its parent, so nothing is wiped: it goes on
 * in the parent's stream, and calls of process_fold from it do nothing.
 */
#ifndef LIBMEMPROF_PROCESS_H
#define LIBMEMPROF_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <memprof/trace_format.h>

/*
 * Does this process have a trace to write to? Makes one when it is asked for the
 * first time and again in a child of fork: so call it when a thread's state or
 * buffer is found empty, and in the library's constructor. One load when all is
 * well. false: dormant for good (nothing can be written, MEMPROF_CHILDREN=0 in a
 * child), or being started by this very thread, or not in time: drop the event
 * with loss_count. The caller keeps its own signal handlers out (busy flag).
 */
bool process_ready(void);

/* The same without making one. */
bool process_is_begun(void);

/* The process's pid, once it has begun; in a vfork child its parent's. */
int process_pid(void);

/* Is this a child of fork that started with its parent's blocks? */
bool process_is_forked(void);

/* Nothing is recorded in this process, ever: its calls need not try. */
bool process_is_silent(void);

/*
 * Counts forks: differs from its value before in a child that has begun its own
 * trace. 0: not started. What is written once per trace (PC records, names) has
 * to be written again when it has changed.
 */
uint32_t process_generation(void);

/*
 * Before the process ends or becomes another program: writes all slots into the
 * trace, then the losses, the clocks and END, and removes the companion. @kind
 * TRACE_END_EXIT also switches to late mode, in which event_buffer_commit writes
 * each event through. After TRACE_END_EXEC recording goes on, should exec fail:
 * then call process_exec_failed. Does nothing in a vfork child and where there is no trace. Safe in
 * a signal handler; can be called again.
 *
 * `return` from main and exit() need no call: the library's destructor sees to
 * it that this happens behind all other destructors.
 */
void process_fold(enum trace_end kind);

/* Before the module around @inside may be unloaded: writes names of its functions
 * into the trace (module_names.h). The caller sees to it that it stays until then. */
void process_keep_names(uintptr_t inside);

/* To be called when exec came back: there is a companion again. */
void process_exec_failed(void);

/*
 * A META fact that another module knows ("allocator", "own_malloc", ...). Before
 * the trace is made it is kept for the header, here and in children; later it is
 * written at once. @value is copied, up to 1000 bytes; keys are string constants.
 */
void process_note_fact(const char *key, const char *value);

/*
 * The environment for a program that this process becomes or starts (exec*,
 * posix_spawn): with MEMPROF_CHILDREN=0 the library is taken out of LD_PRELOAD;
 * before an exec of this pid MEMPROF_IMAGE is added, which counts programs (%n).
 * Two steps, since a vfork child can't allocate: the room that it needs on the
 * caller's stack (0: pass @envp as it is), then the copy. @is_exec: exec, not
 * spawn.
 */
size_t process_environment_room(char *const envp[], bool is_exec);
char **process_environment_copy(char *const envp[], bool is_exec, void *room, size_t bytes);

#endif
