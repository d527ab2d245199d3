/*
 * The call stack of an allocation, as the difference to the stack before it.
 * A full unwind is the repetition of one pure step; the memo keeps the states
 * of the last walk together with the stack slots that each step read, so a walk
 * that meets a state whose slots still hold their values is at its end. A cache
 * of recent whole stacks, checked in the same way, stands in front of the memo.
 *
 * One state belongs to one thread, and is used by one capture at a time: the
 * caller keeps signal handlers out (a busy flag). Takes no lock, makes no system
 * call once a place in the code has been seen, calls nobody's malloc.
 */
#ifndef LIBMEMPROF_UNWIND_H
#define LIBMEMPROF_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller of a hook: its return address and its registers after the return. */
struct unwind_point {
	uintptr_t pc;
	uintptr_t sp;
	uintptr_t fp;
};

/* For hooks: the point behind the current function, which must have a frame
 * pointer. A macro, since the frame meant is that of the function it stands in. */
#define UNWIND_CALLER()                                                                            \
	((struct unwind_point){                                                                    \
		.pc = ((uintptr_t *)__builtin_frame_address(0))[1],                                \
		.sp = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t),               \
		.fp = ((uintptr_t *)__builtin_frame_address(0))[0],                                \
	})

/* A frame as the walk left it. */
struct stack_step {
	uint64_t key;         /* its place and row: pc_table.h */
	uintptr_t sp;
	uintptr_t fp;
	uint32_t id;          /* of a PC record, or an enum trace_frame_mark */
};

/* What a capture found, in the trace's terms (trace_format.h). */
struct stack_delta {
	uint8_t mode;         /* enum trace_stack_mode */
	uint8_t slot;         /* SAME, CACHED, DELTA: the cache slot; NONE: enum trace_no_stack */
	/* The rest is for DELTA only. */
	uint32_t popped;
	uint32_t pushed;
	const struct stack_step *steps; /* pushed frames, innermost first; valid until the next
					 * capture */
};

struct unwind_state; /* one mapping of unwind_state_bytes() bytes, zero = empty */

size_t unwind_state_bytes(void);

/* Once per process, before the first capture; @depth: most frames kept. */
void unwind_start(unsigned depth);

/* The calling thread takes @state over: its stack's bounds are found anew. */
void unwind_thread_begin(struct unwind_state *state);

/* The same where what @state has of the last thread's stacks may stay: it is
 * compared with the stack before it counts. */
void unwind_thread_change(struct unwind_state *state);

/* Does @address lie on the calling thread's own stack, whose state this is? */
bool unwind_stack_is_own(struct unwind_state *state, uintptr_t address);

/* Forgets memo and cache: the decoder starts anew here. */
void unwind_restart(struct unwind_state *state);

/* Takes the stack at @point. Never fails: a stack that can't be told has mode
 * NONE or ends in a mark. */
void stack_take(struct unwind_state *state, struct stack_delta *delta, uintptr_t pc, uintptr_t sp,
		uintptr_t fp);

static inline void stack_capture(struct unwind_state *state, struct unwind_point point,
				 struct stack_delta *delta)
{
	stack_take(state, delta, point.pc, point.sp, point.fp); /* all in registers */
}

/* Stores the stack field of @delta at @at (without mode, which goes into the
 * tag). Returns the first byte behind it, or NULL when it might need more room
 * than up to @end (9 bytes for each number): then flush, restart, capture again. */
uint8_t *stack_delta_store(const struct stack_delta *delta, uint8_t *at, uint8_t *end);

/*
 * Places in the code that got their ids since the last call by anybody: each is
 * handed out exactly once, to one thread, which writes its PC record. Returns
 * false when there is none; pc_table_has_fresh says so cheaply.
 */
struct pc_entry {
	uint32_t id;
	uint32_t flags;       /* enum trace_pc_flag */
	uintptr_t pc;
};
bool pc_table_take_fresh(struct pc_entry *entry);

struct pc_fresh {
	uint32_t made;  /* written under the table's lock */
	uint32_t taken; /* advanced by whoever takes one */
};
extern struct pc_fresh pc_fresh __attribute__((visibility("hidden")));

/* The place with number @index (from 0, without gaps); false: there is none yet. */
bool pc_table_entry(uint32_t index, struct pc_entry *entry);

static inline bool pc_table_has_fresh(void)
{
	return __atomic_load_n(&pc_fresh.made, __ATOMIC_RELAXED) !=
	       __atomic_load_n(&pc_fresh.taken, __ATOMIC_RELAXED);
}

/* In the child of a fork, before its first capture: its trace begins anew, so all
 * places still loaded are handed out as fresh ones again. */
void unwind_forked(void);

/*
 * The loader may be changing the set of modules: to be called from every hook
 * whose caller lies in the loader, before the allocation (recorded or not, so that
 * no module can go and another come in its place unseen). Where a module has gone,
 * places in it are forgotten by everybody before the next capture. A state notices
 * by itself and says so. Cheap while no module loaded at run time is in use.
 */
void unwind_modules_changed(void);

/* true once after the state was emptied by such a change: write a RESTART. */
bool unwind_take_restarted(struct unwind_state *state);

#endif
