/*
 * Who this process is, as /proc and the kernel tell: the facts that go into a
 * trace's header and into its name. Read when a trace is made, and kept.
 */
#ifndef LIBMEMPROF_PROCESS_FACTS_H
#define LIBMEMPROF_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_facts {
	uint64_t pid, ppid, tid;
	uint64_t proc_start;       /* clock ticks since boot; 0 = not known */
	uint64_t stack_hi;         /* where the main thread's stack began; 0 = not known */
	uint64_t image;            /* how many programs this pid has been: 1 ... */
	uint64_t start_unix_s;
	char boot_id[40];
	char exe[4096];
	char program[256];         /* last part of exe */
	char host[65];
	char nspids[64];           /* "" when there is one namespace only */
};

/* Fills in everything. @previous_image: the value of MEMPROF_IMAGE, or NULL. */
void process_facts_read(struct process_facts *facts, const char *previous_image);

/* The start of process @pid, 0 when there is no such process (or no /proc). */
uint64_t process_start_time(uint64_t pid);

/* Is the process still running that this pid, start and boot belong to? */
bool process_is_alive(uint64_t pid, uint64_t proc_start, const char *boot_id);

#endif
