/*
 * All that is x86-64 on the output side: the system call and the tick counter.
 * A second machine brings a second file of this shape.
 */
#ifndef LIBMEMPROF_ARCH_X86_64_H
#define LIBMEMPROF_ARCH_X86_64_H

#include <stdint.h>

static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline uint64_t arch_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static inline void arch_cpuid(uint32_t leaf, uint32_t regs[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3])
			 : "a"(leaf), "c"(0));
}

static inline void arch_pause(void)
{
	__asm__ volatile("pause");
}

#endif
