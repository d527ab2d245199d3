/*
 * What the recorder keeps for a thread, and how a hook comes by it. Thread-local
 * storage holds three words; all else lies in a mapping that is found empty in
 * a child of fork, however that was made (MADV_WIPEONFORK).
 *
 * States are taken from a pool without a lock. There is no destructor: a thread
 * may free until its very end, after everybody's destructors. When a new thread
 * needs a state, those of threads that are gone are used again, lane and slot
 * with them.
 *
 * A signal handler can interrupt a thread inside the recorder. `busy` holds the
 * stack address at which its thread went in, and a handler that allocates then
 * works with a second state, taken from the pool and kept beside the first.
 */
#ifndef LIBMEMPROF_THREAD_STATE_H
#define LIBMEMPROF_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder.h"
#include "sampler.h"
#include "unwind.h"

struct thread_state {
	struct recorder recorder;    /* first: one register serves both */
	uintptr_t busy;              /* stack address of who is inside; 0: nobody */
	uint64_t exact;              /* control generation while all is recorded, else 0 */
	struct sampler sampler;
	uint64_t generation;         /* of the control words that the sampler follows */
	const void *last_sample;     /* the last block taken, and what the countdown was then */
	uint64_t last_countdown;
	struct thread_state *nested; /* for handlers that interrupt this one */
	uint64_t owner;              /* a thread; 0: not in use, or wiped. Taken by CAS */
	uint32_t index;              /* number in the pool: stream of the sampler's seed */
	uint32_t is_sharer;          /* first state of a thread that shares its storage */
	uint32_t is_inside_new;      /* busy in an allocator's own operator new or delete:
				      * what it calls is part of it */
};

struct thread_here {
	uint64_t countdown;          /* bytes until the next look (sampler.h) */
	struct thread_state *state;  /* at first thread_nobody */
	uint32_t is_outside;         /* our own calls into libc and the loader: nobody records */
	uint32_t is_beginning;       /* this thread is getting its state */
};

/* The state of threads that have none: always busy. */
extern struct thread_state thread_nobody __attribute__((visibility("hidden")));

/*
 * From here on the calling thread has its thread-local storage together with others
 * (clone with CLONE_VM, but without CLONE_SETTLS). Nobody can tell any more by what
 * lies in it whose state is whose: each call asks for its thread's number.
 */
void thread_share(void);

extern __thread struct thread_here thread_here __attribute__((visibility("hidden")));

struct thread_state *thread_enter_slowly(const uintptr_t *frame);

/* Enters a state that nobody is in. */
static inline void thread_enter_idle(struct thread_state *state, const uintptr_t *frame)
{
	state->busy = (uintptr_t)frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/*
 * The state to work with, marked busy, or NULL: nothing can be recorded now
 * (and if that is a loss, it has been counted). @frame: __builtin_frame_address(0)
 * of the function behind the hook; its caller is the hook's.
 */
static inline struct thread_state *thread_enter(const uintptr_t *frame)
{
	struct thread_state *state = thread_here.state;

	if (__builtin_expect(state->busy, 0))
		return thread_enter_slowly(frame);
	thread_enter_idle(state, frame);
	return state;
}

/* The frame that UNWIND_CALLER was used in. */
static inline const uintptr_t *unwind_frame_of(const struct unwind_point *point)
{
	return (const uintptr_t *)point->sp - 2;
}

static inline void thread_leave(struct thread_state *state)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	state->busy = 0;
}

/* Makes sure that @state, which the caller has entered, has a lane of this
 * process: in a child of fork it was wiped. false: there is none to be had. */
bool thread_check(struct thread_state *state);

/* Calls of ours that may allocate (the loader, libc's thread attributes) stand
 * between these: what the hooks see in between is not the program's. */
static inline void thread_outside_begin(void)
{
	thread_here.is_outside++;
}

static inline void thread_outside_end(void)
{
	thread_here.is_outside--;
}

#endif
