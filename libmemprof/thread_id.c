/*
 * The C library keeps a thread's tid in its control block, and the kernel writes
 * it there. Where in it is nobody's promise, so it is found out: the place that
 * has the first thread's tid must be the only one, and it must have the next
 * thread's too. Until then, and for ever if it is not so, the kernel is asked.
 *
 * It is also asked by the thread that began a process: in a child made by a
 * system call of the program's own the control block is a copy, with the tid that
 * the thread had in its parent.
 */
#include "thread_id.h"

#include "os.h"
#include "unwind_arch_x86_64.h"

/* Words of the control block that are looked at. It is at least twice as long in
 * every C library that the loader of ours comes with. */
#define FIRST_BYTE 64
#define LAST_BYTE 1024

#define PROVEN 1u  /* beside a multiple of 4 */
#define USELESS 2u

static uintptr_t beginner; /* control block of the thread that began the process */
static uint32_t place;     /* offset in the control block, 0: not known; PROVEN or USELESS */

static uint32_t word_at(uintptr_t control_block, uint32_t offset)
{
	return __atomic_load_n((const uint32_t *)(control_block + offset), __ATOMIC_RELAXED);
}

static uint32_t find_place(uintptr_t control_block, uint32_t tid)
{
	uint32_t found = 0;

	for (uint32_t offset = FIRST_BYTE; offset < LAST_BYTE; offset += 4) {
		if (word_at(control_block, offset) != tid)
			continue;
		if (found)
			return USELESS;
		found = offset;
	}
	return found ? found : USELESS;
}

static uint32_t ask(uintptr_t control_block, uint32_t known)
{
	uint32_t tid = (uint32_t)os_tid();

	if (!known)
		known = find_place(control_block, tid);
	else if (!(known & (PROVEN | USELESS)) && control_block != beginner)
		known = word_at(control_block, known) == tid ? known | PROVEN : USELESS;
	__atomic_store_n(&place, known, __ATOMIC_RELAXED);
	return tid;
}

uint32_t thread_id(void)
{
	uintptr_t control_block = unwind_thread_pointer();
	uint32_t known = __atomic_load_n(&place, __ATOMIC_RELAXED);

	if (!(known & PROVEN) || control_block == beginner)
		return ask(control_block, known);
	return word_at(control_block, known - PROVEN);
}

void thread_id_process_begun(void)
{
	beginner = unwind_thread_pointer();
}
