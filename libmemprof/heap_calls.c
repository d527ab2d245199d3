/*
 * The recording half of the malloc family. Two modes, told by one comparison:
 *
 *   exact    all is recorded: the countdown stays 0, so that every allocation
 *            comes here, and `heap_routes` bring every free;
 *   else     the sampler decides, and the set of sampled blocks says which
 *            frees matter.
 *
 * Orders that count, for an address that another thread can get at once:
 *
 *   - an allocation is recorded, and its block in the set, before the program
 *     gets the block;
 *   - a free is recorded, and its block out of the set, before the real free;
 *   - a realloc takes the old block out of the set before, and is recorded
 *     after; when it fails, the block goes back and nothing is recorded.
 *
 * errno is what the real call made of it: nothing here calls libc.
 */
#define _GNU_SOURCE
#include "heap_calls.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "companion.h"
#include "losses.h"
#include "next.h"
#include "recorder_encode.h"
#include "sampled_set.h"
#include "settings.h"
#include "thread_state.h"
#include "unwind.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define likely(x) __builtin_expect(!!(x), 1)
#define noinline __attribute__((noinline))

static void first_free(void *block);
static void *first_realloc(void *block, size_t size);
static void route_free(void *block);
static void *route_realloc(void *block, size_t size);

/* At first nobody knows yet what to record. */
struct heap_routes heap_routes = { first_free, first_realloc };

static bool free_stacks; /* MEMPROF_FREE_STACKS */

/* Blocks that were recorded exactly may be live while a sampler is at work: then
 * every free is recorded. Any thread; a lost race costs superfluous records. */
static uint32_t exact_blocks;

/* ---- following the control words ---- */

/*
 * Once exact, always by way of the recording functions: a change back, racing
 * with a change by somebody else, could lose frees. It is the compare-exchange
 * from the first value that makes a late thread harmless.
 */
static void choose_routes(bool is_exact)
{
	void (*free_now)(void *) = first_free;
	void *(*realloc_now)(void *, size_t) = first_realloc;

	if (is_exact) {
		__atomic_store_n(&heap_routes.free, free_stacks ? record_free : route_free,
				 __ATOMIC_RELEASE);
		__atomic_store_n(&heap_routes.realloc, route_realloc, __ATOMIC_RELEASE);
		return;
	}
	__atomic_compare_exchange_n(&heap_routes.free, &free_now, next.free, false,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(&heap_routes.realloc, &realloc_now, next.realloc, false,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static noinline void look(struct thread_state *state)
{
	uint64_t generation = control_generation();
	bool is_active = control_is_active();
	uint64_t rate = control_rate_bytes();
	bool is_exact = is_active && rate == SETTINGS_RATE_EXACT;

	if (is_exact || !is_active)
		__atomic_store_n(&exact_blocks, is_exact, __ATOMIC_RELAXED);
	free_stacks = settings_get()->free_stacks;
	choose_routes(is_exact);
	if (is_active)
		recorder_set_rate(&state->recorder, rate);
	sampler_set_rate(&state->sampler, is_active ? rate : 0, &thread_here.countdown);
	state->exact = is_exact ? generation : 0;
	state->generation = generation;
}

bool heap_is_recording(struct thread_state *state)
{
	if (!thread_check(state))
		return false;
	if (state->generation != control_generation())
		look(state);
	return state->sampler.rate != 0;
}

static inline bool is_exact(const struct thread_state *state)
{
	return likely(state->exact == control_generation());
}

/* ---- the loader ---- */

/* Threads are made by the loader's malloc, too: only while it says that the list
 * of modules is in motion are there any news. One list per namespace. */
static bool loader_is_changing(void)
{
	const struct r_debug_extended *list = (const void *)&_r_debug;

	while (list) {
		if (list->base.r_state != RT_CONSISTENT)
			return true;
		list = list->base.r_version > 1 ? list->r_next : NULL;
	}
	return false;
}

/* The record of a module is the first thing that the loader allocates for it, by
 * calloc, which is why no other hook looks at its caller. */
noinline void heap_look_at_loader(uintptr_t caller)
{
	if (!next_module_has(&next_facts.loader, caller) || !loader_is_changing())
		return;
	unwind_modules_changed();
	modules_changed();
}

/* ---- allocations ---- */

static void remember_sample(struct thread_state *state, const void *block)
{
	state->last_sample = block;
	state->last_countdown = thread_here.countdown;
}

/* Not exact: is this block a sample? */
static noinline bool take_sample(struct thread_state *state, const void *block, uint64_t size)
{
	uint64_t bytes = sampler_bytes(size);

	if (!heap_is_recording(state)) {
		thread_here.countdown = SAMPLER_LEG;
		return false;
	}
	if (is_exact(state))
		return true;
	if (bytes <= thread_here.countdown) {
		/* A fresh gap, drawn by the look at the control words. */
		thread_here.countdown -= bytes;
		return false;
	}
	if (!sampler_take(&state->sampler, bytes, &thread_here.countdown))
		return false;
	if (!sampled_set_add(block)) {
		event_buffer_drop(&state->recorder.buffer, TRACE_LOSS_NO_MEMORY);
		return false;
	}
	remember_sample(state, block);
	return true;
}

/* Each function that stands behind a hook has a frame, which tells its caller. */
#define FRAME ((const uintptr_t *)__builtin_frame_address(0))

/* By a thread that has entered; leaves. Returns @block. */
static noinline void *allocated_inside(struct thread_state *state, void *block, uint64_t size,
				       const uintptr_t *frame)
{
	if (is_exact(state) || take_sample(state, block, size))
		recorder_allocate_frame(&state->recorder, block, size, frame);
	thread_leave(state);
	return block;
}

/* What follows a record only at the process's end, or with a second opinion. */
static noinline void *allocated_late(struct thread_state *state, void *block,
				     const uintptr_t *frame __attribute__((unused)))
{
	if (recorder_is_late())
		recorder_finish_late(&state->recorder);
	oracle_check(&state->recorder.buffer, frame[1]);
	thread_leave(state);
	return block;
}

/* By a thread that has not entered. */
static noinline void *allocated_rarely(void *block, uint64_t size, const uintptr_t *frame)
{
	struct thread_state *state = block ? thread_enter(frame) : NULL;

	return state ? allocated_inside(state, block, size, frame) : block;
}

/* What is usual is done in line, and calls nothing but the real function; all that
 * is not ends in a call that does the rest: no register has to be kept for it. */
void *record_malloc(size_t size)
{
	void *block = next.malloc(size);
	struct thread_state *state = thread_here.state;

	if (unlikely(state->busy || !block))
		return allocated_rarely(block, size, FRAME);
	thread_enter_idle(state, FRAME);
	if (unlikely(!is_exact(state)) ||
	    !recorder_put_allocate(&state->recorder, block, size, FRAME))
		return allocated_inside(state, block, size, FRAME);
	if (WITH_ORACLE || recorder_is_late())
		return allocated_late(state, block, FRAME);
	thread_leave(state);
	return block;
}

void *record_calloc(size_t count, size_t size)
{
	return allocated_rarely(next.calloc(count, size), count * size, FRAME);
}

void *record_memalign(size_t alignment, size_t size)
{
	return allocated_rarely(next.memalign(alignment, size), size, FRAME);
}

void *record_aligned_alloc(size_t alignment, size_t size)
{
	return allocated_rarely(next.aligned_alloc(alignment, size), size, FRAME);
}

int record_posix_memalign(void **out, size_t alignment, size_t size)
{
	int result = next.posix_memalign(out, alignment, size);

	if (!result)
		allocated_rarely(*out, size, FRAME);
	return result;
}

void *record_valloc(size_t size)
{
	return allocated_rarely(next.valloc(size), size, FRAME);
}

void *record_pvalloc(size_t size)
{
	return allocated_rarely(next.pvalloc(size), size, FRAME);
}

/* ---- frees ---- */

/* The last sample, and nothing allocated since: see TRACE_NOTE_TEMPORARY. */
static unsigned notes_of(struct thread_state *state, const void *block)
{
	if (state->last_sample != block || state->last_countdown != thread_here.countdown)
		return 0;
	state->last_sample = NULL;
	return TRACE_NOTE_TEMPORARY;
}

/* Not exact, or the block has a tag. */
static noinline void freed_rarely(struct thread_state *state, const void *block, bool was_sample,
				  const struct unwind_point *point)
{
	if (!heap_is_recording(state))
		return;
	if (!is_exact(state) && !was_sample &&
	    !__atomic_load_n(&exact_blocks, __ATOMIC_RELAXED))
		return;
	if (free_stacks)
		recorder_free_stack(&state->recorder, point);
	recorder_free(&state->recorder, block, was_sample ? notes_of(state, block) : 0);
}

/* Any block; the set is told. */
static void freed(const void *block, const struct unwind_point *point)
{
	bool was_sample = sampled_set_may_hold(block) && sampled_set_remove(block);
	struct thread_state *state = thread_enter(unwind_frame_of(point));

	if (!state)
		return;
	freed_rarely(state, block, was_sample, point);
	thread_leave(state);
}

/* Blocks of the boot arena go nowhere. */
static noinline bool is_ours(const void *block)
{
	return boot_arena_has(block);
}

void record_free(void *block)
{
	struct unwind_point point = UNWIND_CALLER();

	if (!block || is_ours(block))
		return;
	freed(block, &point);
	next.free(block);
}

/* By a thread that has entered; leaves. */
static noinline void free_inside(struct thread_state *state, void *block, const uintptr_t *frame)
{
	struct unwind_point point = unwind_point_of(frame);

	freed_rarely(state, block, false, &point);
	thread_leave(state);
	next.free(block);
}

static noinline void free_late(struct thread_state *state, void *block)
{
	recorder_finish_late(&state->recorder);
	thread_leave(state);
	next.free(block);
}

/* The block has no tag, and exact blocks are about. In line as in record_malloc. */
static void route_free(void *block)
{
	struct thread_state *state = thread_here.state;

	if (unlikely(!block))
		return;
	if (unlikely(state->busy)) {
		state = thread_enter_slowly(FRAME);
		if (state)
			free_inside(state, block, FRAME);
		else
			next.free(block);
		return;
	}
	thread_enter_idle(state, FRAME);
	if (unlikely(!is_exact(state)) || !recorder_put_free(&state->recorder, block)) {
		free_inside(state, block, FRAME);
		return;
	}
	if (recorder_is_late()) {
		free_late(state, block);
		return;
	}
	thread_leave(state);
	next.free(block);
}

static void first_free(void *block)
{
	struct unwind_point point = UNWIND_CALLER();

	if (!block)
		return;
	freed(block, &point);
	next.free(block);
}

/* ---- realloc ---- */

/* A block that dlsym got during the search moves to the real heap. */
static void *move_out(const void *block, size_t size)
{
	size_t rest = boot_arena_rest(block);
	void *fresh = next.malloc(size);

	if (fresh)
		memcpy(fresh, block, size < rest ? size : rest);
	return fresh;
}

static void record_move(struct thread_state *state, const void *old, bool old_counts,
			const void *block, size_t size, uint64_t when,
			const struct unwind_point *point)
{
	bool new_counts = block && (is_exact(state) || take_sample(state, block, size));

	if (old_counts && free_stacks)
		recorder_free_stack(&state->recorder, point);
	if (old_counts && new_counts)
		recorder_reallocate(&state->recorder, old, block, size, point);
	else if (old_counts)
		recorder_free_at(&state->recorder, old, when);
	else if (new_counts)
		recorder_allocate(&state->recorder, block, size, point);
}

static void moved(const void *old, bool was_sample, const void *block, size_t size,
		  uint64_t when, const struct unwind_point *point)
{
	struct thread_state *state = thread_enter(unwind_frame_of(point));

	if (!state)
		return;
	if (heap_is_recording(state)) {
		bool old_counts = is_exact(state) || was_sample ||
				  __atomic_load_n(&exact_blocks, __ATOMIC_RELAXED);

		record_move(state, old, old_counts, block, size, when, point);
	}
	thread_leave(state);
}

static noinline void *reallocate(void *block, size_t size, const uintptr_t *frame)
{
	struct unwind_point point = unwind_point_of(frame);
	bool was_sample;
	uint64_t when;
	void *result;

	if (!block)
		return allocated_rarely(next.realloc(NULL, size), size, frame);
	if (boot_arena_has(block))
		return move_out(block, size);
	was_sample = sampled_set_may_hold(block) && sampled_set_remove(block);
	when = recorder_now();
	result = next.realloc(block, size);
	if (result || !size)
		moved(block, was_sample, result, size, when, &point);
	else if (was_sample)
		sampled_set_add(block); /* into the place that it had */
	return result;
}

void *record_realloc(void *block, size_t size)
{
	return reallocate(block, size, FRAME);
}

/*
 * By way of realloc, as libc's own does: were it called instead, its realloc
 * would come back to our hook.
 */
void *record_reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return reallocate(block, bytes, FRAME);
}

static void *route_realloc(void *block, size_t size)
{
	return reallocate(block, size, FRAME);
}

static void *first_realloc(void *block, size_t size)
{
	return reallocate(block, size, FRAME);
}

/* ---- operator new and delete of the allocator ---- */

/* While the allocator is inside, its calls of malloc and free are its own. The
 * state is marked busy by it; an exception that passes leaves it so, which the
 * next call notices (thread_state.c). */
static struct thread_state *enter_new(const struct unwind_point *point)
{
	struct thread_state *state;

	next_find();
	state = thread_enter(unwind_frame_of(point));
	if (state)
		state->is_inside_new = 1;
	return state;
}

static void leave_new(struct thread_state *state)
{
	if (!state)
		return;
	state->is_inside_new = 0;
	thread_leave(state);
}

#define NEW(name, parameters, arguments)                                                           \
	void *record_##name parameters                                                             \
	{                                                                                          \
		struct unwind_point point = UNWIND_CALLER();                                       \
		struct thread_state *state = enter_new(&point);                                    \
		uint64_t countdown = thread_here.countdown;                                        \
		void *block = next.name arguments;                                                 \
                                                                                                   \
		leave_new(state);                                                                  \
		if (!state || !block)                                                              \
			return block;                                                              \
		thread_here.countdown = countdown;                                                 \
		if (countdown < sampler_bytes(size))                                               \
			return allocated_rarely(block, size, FRAME);                              \
		thread_here.countdown -= sampler_bytes(size);                                      \
		return block;                                                                      \
	}
#define DELETE(name, parameters, arguments)                                                        \
	void record_##name parameters                                                              \
	{                                                                                          \
		struct unwind_point point = UNWIND_CALLER();                                       \
		struct thread_state *state;                                                        \
                                                                                                   \
		if (block && (sampled_set_may_hold(block) || heap_routes.free != next.free))       \
			freed(block, &point);                                                      \
		state = enter_new(&point);                                                         \
		next.name arguments;                                                               \
		leave_new(state);                                                                  \
	}
#include "hooks.def"

/* ---- the start ---- */

void heap_calls_start(void)
{
	struct thread_state *state;

	state = thread_enter(FRAME);
	if (!state)
		return;
	heap_is_recording(state);
	thread_leave(state);
}
