/*
 * The pool of states. They come in batches of eight, each batch one mapping,
 * each state followed by its unwind state:
 *
 *	batch  | state 0 | unwind | state 1 | unwind | ... | state 7 | unwind |
 *
 * `made` counts states handed out for the first time; a state below it belongs
 * to the thread `owner`, alive or not. A new thread takes, in this order:
 *
 *	known    the state of a thread that had the same control block: it is gone, since
 *	         no two threads that live have one. The C library uses stacks again,
 *	         control blocks with them, so this is the usual case; and no system call.
 *	orphan   one of a few, going round the pool, whose owner the kernel doesn't know;
 *	fresh    one more: so the pool is never larger than the number of threads that
 *	         lived at one time and an eighth of it.
 *
 * In a child of fork the states are zero. The thread that forked finds its own
 * through its thread-local pointer and gives it a lane in the child's trace;
 * those of its parent's other threads stay unused (owner 0), without memory.
 */
#include "thread_state.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "losses.h"
#include "next.h"
#include "os.h"
#include "process.h"
#include "settings.h"
#include "thread_id.h"
#include "unwind_arch_x86_64.h"

#define BATCH_STATES 8
#define BATCHES 8192
/* States that a search looks at: so many, and more in a large pool, which else
 * would grow with every round past living threads that stand side by side. */
#define PROBES 8
#define PROBES_SHARE 16
#define NESTING_MAX 8 /* coroutines that handlers switch between, more than handlers */
#define OWNER_NOBODY (~(uint64_t)0) /* a state that no thread could use yet */
#define KNOWN_BITS 10

struct thread_state thread_nobody = { .busy = 1 };
/* What stands for the states of threads that share their storage: always busy. */
static struct thread_state thread_shared = { .busy = 1 };
__thread struct thread_here thread_here = { .state = &thread_nobody };

static char *batches[BATCHES];
static uint32_t made;        /* states handed out so far; any thread, atomic */
static uint32_t probe_next;  /* where the search for dead owners goes on */
static bool some_share;      /* some threads share their storage, and may be processes */
/* By control block, the number of the state that a thread with it had, from 1; a
 * guess, which the state's owner confirms. */
static uint32_t known[1u << KNOWN_BITS];

static size_t state_bytes(void)
{
	return (sizeof(struct thread_state) + 63) & ~63ul;
}

static size_t place_bytes(void)
{
	return (state_bytes() + unwind_state_bytes() + OS_PAGE_BYTES - 1) &
	       ~(size_t)(OS_PAGE_BYTES - 1);
}

/* ---- the pool ---- */

static char *batch_map(uint32_t number)
{
	char *batch = __atomic_load_n(&batches[number], __ATOMIC_ACQUIRE);
	size_t bytes = BATCH_STATES * place_bytes();
	char *fresh;

	if (batch)
		return batch;
	fresh = os_map(bytes);
	if (!fresh)
		return NULL;
	if (os_wipe_on_fork(fresh, bytes) &&
	    __atomic_compare_exchange_n(&batches[number], &batch, fresh, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return fresh;
	os_unmap(fresh, bytes);
	return batch;
}

static struct thread_state *state_at(uint32_t index)
{
	char *batch = __atomic_load_n(&batches[index / BATCH_STATES], __ATOMIC_ACQUIRE);

	return batch ? (void *)(batch + index % BATCH_STATES * place_bytes()) : NULL;
}

/*
 * An owner: where its control block is, above its tid, which has 22 bits (Linux'
 * PID_MAX_LIMIT). No two control blocks lie in the same 64 bytes.
 */
#define OWNER_TID_BITS 22

static uint64_t owner_block(void)
{
	return (uint64_t)unwind_thread_pointer() >> 6;
}

static uint64_t owner_of(uint32_t tid)
{
	return owner_block() << OWNER_TID_BITS | tid;
}

static uint32_t owner_tid(uint64_t owner)
{
	return (uint32_t)owner & ((1u << OWNER_TID_BITS) - 1);
}

static bool claim(struct thread_state *state, uint64_t from, uint32_t tid)
{
	return __atomic_compare_exchange_n(&state->owner, &from, owner_of(tid), false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static bool is_orphan(uint64_t owner, uint32_t tid)
{
	if (!owner || owner_tid(owner) == tid)
		return false;
	if (owner == OWNER_NOBODY)
		return true;
	return !os_thread_exists(process_pid(), (int)owner_tid(owner)) &&
	       !(__atomic_load_n(&some_share, __ATOMIC_RELAXED) &&
		 os_tid_exists((int)owner_tid(owner)));
}

static uint32_t *known_place(void)
{
	return &known[owner_block() * 0x9e3779b97f4a7c15ull >> (64 - KNOWN_BITS)];
}

static void make_known(const struct thread_state *state)
{
	__atomic_store_n(known_place(), state->index + 1, __ATOMIC_RELAXED);
}

/* The state of a thread that had the control block that this one has. */
static struct thread_state *take_known(uint32_t tid)
{
	uint32_t number = __atomic_load_n(known_place(), __ATOMIC_RELAXED);
	struct thread_state *state = number ? state_at(number - 1) : NULL;
	uint64_t owner = state ? __atomic_load_n(&state->owner, __ATOMIC_RELAXED) : 0;

	if (owner >> OWNER_TID_BITS != owner_block() || owner_tid(owner) == tid)
		return NULL;
	return claim(state, owner, tid) ? state : NULL;
}

/* Goes round the pool. (Not a growing number modulo the pool's size: both grow
 * together, and could name the same eight states for ever.) Lost races only make
 * two threads look at the same state. */
static uint32_t next_probe(uint32_t count)
{
	uint32_t index = __atomic_load_n(&probe_next, __ATOMIC_RELAXED);

	if (index >= count)
		index = 0;
	__atomic_store_n(&probe_next, index + 1, __ATOMIC_RELAXED);
	return index;
}

/* A state whose thread is gone. */
static struct thread_state *take_orphan(uint32_t tid)
{
	uint32_t count = __atomic_load_n(&made, __ATOMIC_ACQUIRE);
	struct thread_state *state;
	uint32_t probes = count / PROBES_SHARE > PROBES ? count / PROBES_SHARE : PROBES;
	uint64_t owner;

	for (uint32_t i = 0; i < probes && i < count; i++) {
		state = state_at(next_probe(count));
		if (!state)
			continue;
		owner = __atomic_load_n(&state->owner, __ATOMIC_RELAXED);
		if (is_orphan(owner, tid) && claim(state, owner, tid))
			return state;
	}
	return NULL;
}

static struct thread_state *take_fresh(uint32_t tid)
{
	uint32_t index = __atomic_load_n(&made, __ATOMIC_RELAXED);
	struct thread_state *state;

	do {
		if (index >= BATCHES * BATCH_STATES || !batch_map(index / BATCH_STATES))
			return NULL;
	} while (!__atomic_compare_exchange_n(&made, &index, index + 1, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	state = state_at(index);
	state->index = index;
	__atomic_store_n(&state->owner, owner_of(tid), __ATOMIC_RELEASE);
	return state;
}

/* ---- a state's life ---- */

static void prepare(struct thread_state *state, uint32_t index)
{
	state->recorder.unwind = (void *)((char *)state + state_bytes());
	state->index = index;
	state->nested = NULL;
	state->exact = 0;
	state->generation = 0;
	state->last_sample = NULL;
	state->is_sharer = 0;
	sampler_init(&state->sampler, settings_get()->seed, index);
}

/* The state's first lane in this process's trace. */
static bool begin_lane(struct thread_state *state, uint32_t tid)
{
	unwind_thread_begin(state->recorder.unwind);
	return recorder_begin(&state->recorder, tid);
}

/*
 * The state of a thread that is gone, which may have ended inside the recorder.
 * Handlers may interrupt this: they find the state busy.
 */
static void take_over(struct thread_state *state, uint32_t tid, const uintptr_t *frame)
{
	bool is_torn = state->busy;

	state->busy = (uintptr_t)frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	state->nested = NULL;
	state->exact = 0;
	state->generation = 0;
	state->last_sample = NULL;
	state->is_sharer = 0;
	state->is_inside_new = 0;
	unwind_thread_change(state->recorder.unwind);
	recorder_take_over(&state->recorder, tid, is_torn);
	thread_leave(state);
}

static struct thread_state *take_state(uint32_t tid, const uintptr_t *frame)
{
	struct thread_state *state = thread_here.state == &thread_shared ? NULL : take_known(tid);

	if (!state)
		state = take_orphan(tid);
	if (state && state->recorder.buffer.limit) {
		take_over(state, tid, frame);
		return state;
	}
	if (!state)
		state = take_fresh(tid);
	if (!state)
		return NULL;
	prepare(state, state->index);
	if (begin_lane(state, tid))
		return state;
	__atomic_store_n(&state->owner, OWNER_NOBODY, __ATOMIC_RELEASE);
	return NULL;
}

/* process_ready may read files, and say a line. A handler that left it for good
 * would leave this thread outside. */
static bool process_is_ready(void)
{
	uint64_t signals = os_block_signals();
	int saved = errno;
	bool is_ready;

	thread_outside_begin();
	is_ready = process_ready();
	thread_outside_end();
	errno = saved;
	os_restore_signals(signals);
	return is_ready;
}

bool thread_check(struct thread_state *state)
{
	uint32_t tid;

	if (state->recorder.buffer.limit)
		return true;
	tid = (uint32_t)os_tid();
	if (!process_is_ready())
		return false;
	/* Whatever was wiped is set up again; `busy` is the caller's. */
	__atomic_store_n(&state->owner, owner_of(tid), __ATOMIC_RELEASE);
	prepare(state, tid);
	return begin_lane(state, tid);
}

static bool revive(struct recorder *recorder)
{
	struct thread_state *state =
		(void *)((char *)recorder - __builtin_offsetof(struct thread_state, recorder));

	if (thread_check(state))
		return true;
	loss_count(TRACE_LOSS_NO_SPACE, 1);
	return false;
}

static struct thread_state *find_state(const uintptr_t *frame)
{
	struct thread_state *state = NULL;

	thread_here.is_beginning = 1;
	recorder_revive = revive;
	if (next_find() && process_is_ready()) {
		state = take_state(thread_id(), frame);
		if (!state)
			loss_count(TRACE_LOSS_NO_MEMORY, 1);
		if (state) {
			thread_here.state = state;
			make_known(state);
		}
	}
	thread_here.is_beginning = 0;
	/* No trace, no memory: not every call needs to try again. */
	if (!state)
		thread_here.countdown = SAMPLER_LEG;
	return state;
}

/*
 * The usual birth. A handler may interrupt it anywhere, and leave for good: then at
 * worst a state has an owner who doesn't use it, until he is gone.
 */
static struct thread_state *follow_in_known(const uintptr_t *frame)
{
	uint32_t tid;
	struct thread_state *state;

	if (!process_is_begun())
		return NULL;
	tid = thread_id();
	state = take_known(tid);
	if (!state)
		return NULL;
	if (!state->recorder.buffer.limit) {
		__atomic_store_n(&state->owner, OWNER_NOBODY, __ATOMIC_RELEASE);
		return NULL;
	}
	thread_here.state = state;
	take_over(state, tid, frame);
	return state;
}

static struct thread_state *begin_thread(const uintptr_t *frame)
{
	struct thread_state *state;
	uint64_t signals;

	if (next_searching || thread_here.is_outside || process_is_silent())
		return NULL;
	if (thread_here.is_beginning) {
		loss_count(TRACE_LOSS_BUSY, 1);
		return NULL;
	}
	state = follow_in_known(frame);
	if (state)
		return state;
	signals = os_block_signals();
	state = find_state(frame);
	os_restore_signals(signals);
	return state;
}

/* ---- threads that share their storage ---- */

#define SHARERS 64

/* By tid, the number of the state that a sharer found last, from 1. */
static uint32_t sharers[SHARERS];

static bool is_state_of_sharer(const struct thread_state *state, uint32_t tid)
{
	return state && __atomic_load_n(&state->owner, __ATOMIC_ACQUIRE) == owner_of(tid) &&
	       state->is_sharer;
}

static struct thread_state *find_sharer(uint32_t tid)
{
	uint32_t count = __atomic_load_n(&made, __ATOMIC_ACQUIRE);
	uint32_t *place = &sharers[tid % SHARERS];
	uint32_t number = __atomic_load_n(place, __ATOMIC_RELAXED);

	if (number && is_state_of_sharer(state_at(number - 1), tid))
		return state_at(number - 1);
	for (uint32_t i = 0; i < count; i++) {
		if (!is_state_of_sharer(state_at(i), tid))
			continue;
		__atomic_store_n(place, i + 1, __ATOMIC_RELAXED);
		return state_at(i);
	}
	return NULL;
}

/* Signals are blocked. */
static struct thread_state *begin_sharer(uint32_t tid, const uintptr_t *frame)
{
	struct thread_state *state = find_sharer(tid);

	if (state)
		return state;
	if (!process_is_begun() && !process_is_ready())
		return NULL;
	state = take_state(tid, frame);
	if (state)
		state->is_sharer = 1;
	else
		loss_count(TRACE_LOSS_NO_MEMORY, 1);
	return state;
}

static struct thread_state *state_of_sharer(const uintptr_t *frame)
{
	uint32_t tid = (uint32_t)os_tid();
	struct thread_state *state = find_sharer(tid);
	uint64_t signals;

	if (state || next_searching || thread_here.is_outside || process_is_silent())
		return state;
	signals = os_block_signals();
	state = begin_sharer(tid, frame);
	os_restore_signals(signals);
	return state;
}

void thread_share(void)
{
	struct thread_state *state = thread_here.state;

	if (state == &thread_shared)
		return;
	__atomic_store_n(&some_share, true, __ATOMIC_RELAXED);
	if (state != &thread_nobody)
		state->is_sharer = 1;
	thread_here.state = &thread_shared;
}

/* ---- entering a state that is busy ---- */

enum stack_kind {
	STACK_OWN,
	STACK_ALTERNATE,
	STACK_OTHER, /* a coroutine's, say */
};

/* sigaltstack says nothing of a stack that is disarmed while a handler is on it. */
static enum stack_kind kind_of(struct thread_state *state, const stack_t *alternate,
			       uintptr_t address)
{
	if (address - (uintptr_t)alternate->ss_sp < alternate->ss_size)
		return STACK_ALTERNATE;
	return unwind_stack_is_own(state->recorder.unwind, address) ? STACK_OWN : STACK_OTHER;
}

/*
 * Was the frame that went in at stack address @busy left by siglongjmp? Then
 * somebody stands at its place or further out, on the same stack, or has come
 * back from the alternate one. A handler that interrupted it stands deeper, or
 * elsewhere. Other stacks may be several, and who stands on one can come back:
 * only its very place taken by another is a proof.
 */
static bool frame_is_gone(struct thread_state *state, uintptr_t stack)
{
	uintptr_t busy = state->busy;
	enum stack_kind busy_kind, stack_kind;
	stack_t alternate = { 0 };

	if (stack == busy)
		return true;
	if (os_is_error(os_call2(SYS_sigaltstack, NULL, &alternate)))
		alternate.ss_size = 0;
	busy_kind = kind_of(state, &alternate, busy);
	stack_kind = kind_of(state, &alternate, stack);
	if (busy_kind == stack_kind)
		return busy_kind != STACK_OTHER && stack > busy;
	return busy_kind == STACK_ALTERNATE && stack_kind == STACK_OWN;
}

static struct thread_state *nested_of(struct thread_state *state, const uintptr_t *frame)
{
	uint64_t signals;

	if (state->nested)
		return state->nested;
	signals = os_block_signals();
	state->nested = take_state(owner_tid(state->owner), frame);
	os_restore_signals(signals);
	return state->nested;
}

/* An exception that left the allocator's operator new harmed nothing of ours. */
static void repair(struct thread_state *state)
{
	uint32_t tid = owner_tid(state->owner);

	if (!state->is_inside_new && state->recorder.buffer.limit) {
		if (state->recorder.buffer.tid == tid)
			recorder_restart(&state->recorder);
		else /* left while it took over */
			recorder_take_over(&state->recorder, tid, true);
	}
	state->is_inside_new = 0;
}

struct thread_state *thread_enter_slowly(const uintptr_t *frame)
{
	struct thread_state *state = thread_here.state, *first;

	if (state == &thread_nobody)
		state = begin_thread(frame);
	else if (state == &thread_shared)
		state = state_of_sharer(frame);
	if (!state || thread_here.is_outside)
		return NULL;
	first = state;
	for (unsigned depth = 0; state->busy; depth++) {
		if (frame_is_gone(state, (uintptr_t)frame)) {
			repair(state);
			break;
		}
		/* What the allocator's operator new calls is part of it; what a
		 * handler calls, or somebody after an exception, is not. */
		if (state->is_inside_new && next_module_has(&next_facts.allocator, frame[1]))
			return NULL;
		state = depth < NESTING_MAX - 1 ? nested_of(state, frame) : NULL;
		if (!state) {
			event_buffer_drop(&first->recorder.buffer, TRACE_LOSS_BUSY);
			return NULL;
		}
	}
	state->busy = (uintptr_t)frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return state;
}
