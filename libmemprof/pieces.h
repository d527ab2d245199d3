/*
 * All lanes at once, for process.c: what event_buffer.h doesn't show to threads.
 */
#ifndef LIBMEMPROF_PIECES_H
#define LIBMEMPROF_PIECES_H

#include <stdbool.h>

/* A new trace begins: no lanes. false: no memory. */
bool pieces_restart(void);

/* Writes what every slot holds into the trace. false: some of it could not be
 * written, and still needs its slot. */
bool pieces_fold(void);

#endif
