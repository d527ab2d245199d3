/*
 * Which memory a walk may read. On the thread's own stack everything between the
 * stack pointer and the stack's end is there. Of any other stack (a coroutine's, an
 * alternate one) nobody tells us where it ends, so each page is tried before it is
 * read: guard pages may lie next door.
 */
#ifndef LIBMEMPROF_STACK_MEMORY_H
#define LIBMEMPROF_STACK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* The part of a thread's own stack that is known to be there: [low, high). */
struct own_stack {
	uintptr_t low;
	uintptr_t high;
};

/* What may be read at this point of a walk: [low, high). */
struct stack_window {
	uintptr_t low;
	uintptr_t high;
	bool is_foreign; /* [low, high) is but one page of an unknown stack */
};

/* Once per process, by its main thread if that can be. */
void stack_memory_start(void);

/* For the calling thread. */
void own_stack_find(struct own_stack *own);

/* Does @sp lie on the stack of the calling thread, whose @own is? */
bool own_stack_has(struct own_stack *own, uintptr_t sp);

/* The window for a walk whose stack pointer is @sp. @is_live: we run on this very
 * stack, further in. */
void stack_window_find(struct stack_window *window, struct own_stack *own, uintptr_t sp,
		       bool is_live);

/* The slow half of stack_window_has: moves a foreign window to @address's page. */
bool stack_window_move(struct stack_window *window, uintptr_t address);

/* May the word at @address be read? */
static inline bool stack_window_has(struct stack_window *window, uintptr_t address)
{
	return __builtin_expect(address - window->low < window->high - window->low - 7, 1) ||
	       stack_window_move(window, address);
}

/* Can a frame that starts at @sp end at @cfa? */
#define STACK_FOREIGN_FRAME_MAX (1ul << 30)

static inline bool stack_window_frame(const struct stack_window *window, uintptr_t sp,
				      uintptr_t cfa)
{
	uintptr_t most = window->is_foreign ? STACK_FOREIGN_FRAME_MAX : window->high - sp;

	return cfa - sp - 1 < most;
}

/* Reads a word of somebody's frame, which is what sanitizers warn of. */
#define READS_STACKS __attribute__((no_sanitize("address", "thread")))

static inline uint64_t stack_load(uintptr_t address) READS_STACKS;
static inline uint64_t stack_load(uintptr_t address)
{
	return *(const volatile uint64_t *)address;
}

#endif
