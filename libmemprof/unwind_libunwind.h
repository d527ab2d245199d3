/*
 * libunwind as a second opinion: it takes the same stacks by its own means, some
 * ten times slower. For tests, and for builds with -DMEMPROF_ORACLE, which write a
 * checksum of its frames behind every allocation. Never opened by a usual build:
 * the unwinder has a general walk of its own for rules that don't fit its rows.
 */
#ifndef LIBMEMPROF_UNWIND_LIBUNWIND_H
#define LIBMEMPROF_UNWIND_LIBUNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* Opens libunwind.so.8 apart from all other modules: it exports names of the C++
 * exception machinery, which must go on to mean libgcc's. Allocates. */
bool libunwind_open(void);

/*
 * Program counters of the calling function's callers, innermost first, as many as
 * fit: the first is the return address of the function that calls this one.
 * Returns their number. Uses some KiB of stack; may allocate.
 */
unsigned libunwind_frames(uintptr_t *pcs, unsigned room);

/*
 * With -DMEMPROF_ORACLE: writes a STACK_CHECK record of libunwind's frames from @pc
 * outwards behind the record just written; `memprof-report info --verify` compares.
 */
#ifdef MEMPROF_ORACLE
struct event_buffer;
void oracle_check(struct event_buffer *buffer, uintptr_t pc);
#define WITH_ORACLE true
#else
#define oracle_check(buffer, pc) ((void)0)
#define WITH_ORACLE false
#endif

#endif
