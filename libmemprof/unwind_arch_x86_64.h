/*
 * All that is x86-64 in the unwinder, beside the register numbers of cfi.c. A
 * second machine brings a second file of this shape.
 */
#ifndef LIBMEMPROF_UNWIND_ARCH_X86_64_H
#define LIBMEMPROF_UNWIND_ARCH_X86_64_H

#include <stdbool.h>
#include <stdint.h>

/* The thread control block of a thread that glibc made lies at the upper end of
 * its stack. */
static inline uintptr_t unwind_thread_pointer(void)
{
	uintptr_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

/*
 * The kernel's signal frame as seen from the return address into the sigreturn
 * stub: struct ucontext begins at the stack pointer, its registers 40 bytes
 * further, in the order of <sys/ucontext.h>: REG_RBP 10, REG_RSP 15, REG_RIP 16.
 */
#define UNWIND_SIGNAL_FP (40 + 10 * 8)
#define UNWIND_SIGNAL_SP (40 + 15 * 8)
#define UNWIND_SIGNAL_PC (40 + 16 * 8)

/* The same of the registers of enum cfi_register: rbx, rbp, r12 ... r15, rip. */
#define UNWIND_SIGNAL_REGISTERS                                                                    \
	{ 40 + 11 * 8, 40 + 10 * 8, 40 + 4 * 8, 40 + 5 * 8, 40 + 6 * 8, 40 + 7 * 8, 40 + 16 * 8 }

/* Those registers as they are at this place, into @values, and the stack pointer. */
#define UNWIND_READ_REGISTERS(values, stack_pointer)                                               \
	__asm__ volatile("movq %%rbx, 0(%1)\n\t"                                                   \
			 "movq %%rbp, 8(%1)\n\t"                                                   \
			 "movq %%r12, 16(%1)\n\t"                                                  \
			 "movq %%r13, 24(%1)\n\t"                                                  \
			 "movq %%r14, 32(%1)\n\t"                                                  \
			 "movq %%r15, 40(%1)\n\t"                                                  \
			 "leaq 0(%%rip), %0\n\t"                                                   \
			 "movq %0, 48(%1)\n\t"                                                     \
			 "movq %%rsp, %0"                                                          \
			 : "=&r"(stack_pointer)                                                    \
			 : "r"(values)                                                             \
			 : "memory")

/* Is @pc at `mov $__NR_rt_sigreturn,%rax; syscall`? Its bytes must be readable. */
static inline bool unwind_is_sigreturn(uintptr_t pc)
{
	static const uint8_t code[9] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	const uint8_t *at = (const uint8_t *)pc;

	for (unsigned i = 0; i < sizeof(code); i++) {
		if (at[i] != code[i])
			return false;
	}
	return true;
}

/*
 * Does a call instruction end right before @pc? The seven bytes before it must
 * be readable. call rel32 is e8; call r/m is ff /2 with a ModRM byte, perhaps a
 * SIB byte and a displacement of 0, 1 or 4 bytes.
 */
static inline bool unwind_is_after_call(uintptr_t pc)
{
	const uint8_t *at = (const uint8_t *)pc;

	if (at[-5] == 0xe8)
		return true;
	for (int length = 2; length <= 7; length++) {
		if (at[-length] == 0xff && (at[-length + 1] & 0x38) == 0x10)
			return true;
	}
	return false;
}

#endif
