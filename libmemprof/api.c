/*
 * The functions behind memprof.h, by which a program takes part: each writes a
 * mark into the calling thread's lane, or changes the control words as
 * `memprof ctl` does from outside. memprof.h itself is for programs: it finds
 * these by name.
 */
#include <stdbool.h>
#include <stdint.h>

#include "companion.h"
#include "heap_calls.h"
#include "settings.h"
#include "thread_state.h"

#define API __attribute__((visibility("default")))
#define HERE ((const uintptr_t *)__builtin_frame_address(0))

API void memprof_snapshot(const char *name);
API void memprof_event(const char *name, const char *detail);
API void memprof_start(void);
API void memprof_stop(void);
API void memprof_set_rate(uint64_t bytes);
API void memprof_reset(void);
API void memprof_scope_begin(const char *name);
API void memprof_scope_end(void);
API void memprof_is_active(int *is_active);

/* A mark is written whether recording is on or not. */
static void mark(enum trace_mark kind, const char *name, const char *detail, uint64_t value)
{
	struct thread_state *state = thread_enter(HERE);

	if (!state)
		return;
	if (thread_check(state))
		recorder_mark(&state->recorder, kind, name, detail, value);
	thread_leave(state);
}

/* A child of fork that has no trace of its own yet still looks at its parent's
 * control words, which are not its to change. */
static void have_own_trace(void)
{
	struct thread_state *state = thread_enter(HERE);

	if (!state)
		return;
	thread_check(state);
	thread_leave(state);
}

/* This thread follows a change of the control words at once. */
static void follow(void)
{
	struct thread_state *state = thread_enter(HERE);

	if (!state)
		return;
	heap_is_recording(state);
	thread_leave(state);
}

void memprof_snapshot(const char *name)
{
	mark(TRACE_MARK_SNAPSHOT, name, NULL, 0);
}

void memprof_event(const char *name, const char *detail)
{
	mark(TRACE_MARK_EVENT, name, detail, 0);
}

void memprof_start(void)
{
	if (control_is_active())
		return;
	mark(TRACE_MARK_START, NULL, NULL, control_rate_bytes());
	control_set_active(true);
	follow();
}

void memprof_stop(void)
{
	have_own_trace();
	if (!control_is_active())
		return;
	control_set_active(false);
	mark(TRACE_MARK_STOP, NULL, NULL, 0);
	follow();
}

void memprof_set_rate(uint64_t bytes)
{
	if (!bytes)
		bytes = 1;
	if (bytes > SETTINGS_RATE_MAX)
		bytes = SETTINGS_RATE_MAX;
	mark(TRACE_MARK_RATE, NULL, NULL, bytes);
	control_set_rate(bytes);
	follow();
}

void memprof_reset(void)
{
	mark(TRACE_MARK_RESET, NULL, NULL, 0);
}

void memprof_scope_begin(const char *name)
{
	struct thread_state *state = thread_enter(HERE);

	if (!state)
		return;
	if (thread_check(state))
		recorder_scope_begin(&state->recorder, name);
	thread_leave(state);
}

void memprof_scope_end(void)
{
	struct thread_state *state = thread_enter(HERE);

	if (!state)
		return;
	if (thread_check(state))
		recorder_scope_end(&state->recorder);
	thread_leave(state);
}

void memprof_is_active(int *is_active)
{
	*is_active = control_is_active();
}
