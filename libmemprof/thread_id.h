/*
 * The calling thread's tid, without a system call where that can be. A thread's
 * birth is the one place on the way of an event that needs it.
 */
#ifndef LIBMEMPROF_THREAD_ID_H
#define LIBMEMPROF_THREAD_ID_H

#include <stdint.h>

/* Any thread, any time. */
uint32_t thread_id(void);

/* This thread has begun a process: it may run in a copy of another's memory. */
void thread_id_process_begun(void);

#endif
