/*
 * Where stacks lie, without asking the C library: pthread_getattr_np allocates and
 * takes locks that its caller may hold.
 *
 *	main thread    up to __libc_stack_end
 *	other threads  up to the thread control block, which glibc puts at the upper
 *	               end of the stack, also of one that the program supplied
 */
#include "stack_memory.h"

#include <errno.h>
#include <sys/resource.h>

#include "os.h"
#include "unwind_arch_x86_64.h"

extern void *__libc_stack_end;

/* Below the main stack the kernel keeps at least this much free of mappings that
 * it places itself, or the stack's limit where that is more. */
#define MAIN_STACK_GAP (128ul << 20)
#define MAIN_STACK_GAP_MAX (1ul << 30)

/* The ABI lets a function use so much below its stack pointer. */
#define RED_ZONE 128

static uintptr_t main_low, main_high, main_control_block;

static inline uintptr_t page_of(uintptr_t address)
{
	return address & ~(uintptr_t)(OS_PAGE_BYTES - 1);
}

void stack_memory_start(void)
{
	struct rlimit limit = { 0 };
	uintptr_t gap = MAIN_STACK_GAP;

	if (os_call4(SYS_prlimit64, 0, RLIMIT_STACK, 0, &limit) == 0 && limit.rlim_cur > gap)
		gap = limit.rlim_cur < MAIN_STACK_GAP_MAX ? limit.rlim_cur : MAIN_STACK_GAP_MAX;
	main_high = page_of((uintptr_t)__libc_stack_end) + OS_PAGE_BYTES;
	main_low = main_high - gap;
	if (os_tid() == os_pid())
		main_control_block = unwind_thread_pointer();
}

/*
 * Is the word at @address readable? rt_sigprocmask copies the set before it finds
 * that what to do with it makes no sense; hardly any sandbox forbids it (in one that
 * does, nothing is known to be there).
 */
static bool probe(uintptr_t address)
{
	return !os_is_forbidden &&
	       os_call4(SYS_rt_sigprocmask, -1, address & ~7ul, 0, 8) == -EINVAL;
}

void own_stack_find(struct own_stack *own)
{
	uintptr_t control_block = unwind_thread_pointer();

	/* The main thread's control block lies elsewhere; its stack is known. */
	own->high = control_block == main_control_block ? 0 : control_block;
	own->low = page_of(own->high);
}

/* Pages tried at most to join a stack pointer with the known part of a stack. */
#define PROBES_MAX 256

/*
 * The pages of a thread's own stack stay mapped as long as it lives; so those
 * between @sp and the part known already are tried once. A guard page between says
 * that @sp is on some other stack. The page that we run on (@is_live) is there.
 */
static bool own_stack_extend(struct own_stack *own, uintptr_t sp, bool is_live)
{
	const uintptr_t live = is_live ? page_of(sp - 8) : 0;

	if (sp >= own->low || own->low - sp > PROBES_MAX * OS_PAGE_BYTES)
		return false;
	while (own->low > sp) {
		if (own->low - OS_PAGE_BYTES != live && !probe(own->low - OS_PAGE_BYTES))
			return false;
		own->low -= OS_PAGE_BYTES;
	}
	return true;
}

bool own_stack_has(struct own_stack *own, uintptr_t sp)
{
	if (!own->high)
		return sp - main_low < main_high - main_low;
	return sp - own->low < own->high - own->low || own_stack_extend(own, sp, false);
}

void stack_window_find(struct stack_window *window, struct own_stack *own, uintptr_t sp,
		       bool is_live)
{
	window->is_foreign = false;
	window->low = sp - RED_ZONE;
	if (sp - main_low < main_high - main_low) {
		window->high = main_high;
	} else if (sp - own->low < own->high - own->low || own_stack_extend(own, sp, is_live)) {
		window->high = own->high;
		if (window->low < own->low)
			window->low = own->low;
	} else {
		/* A hook runs on it, so the word below its caller's stack pointer is
		 * there; else nothing is known yet (a window that holds no word). */
		window->is_foreign = true;
		window->low = is_live ? page_of(sp - 8) : 0;
		window->high = is_live ? window->low + OS_PAGE_BYTES : 7;
	}
}

bool stack_window_move(struct stack_window *window, uintptr_t address)
{
	if (!window->is_foreign || (address & 7) || !probe(address))
		return false;
	window->low = page_of(address);
	window->high = window->low + OS_PAGE_BYTES;
	return true;
}
