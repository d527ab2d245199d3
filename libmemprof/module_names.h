/*
 * Names kept in the trace, for whoever reads it when the program's files are
 * gone or replaced: of every function that holds a recorded place in the code.
 * Taken from the modules' files, which are read (never mapped: they may shrink)
 * and must have the same first page as the module in memory; where that fails,
 * from the dynamic symbols in memory.
 */
#ifndef LIBMEMPROF_MODULE_NAMES_H
#define LIBMEMPROF_MODULE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes one piece's records; false: it could not be written. */
typedef bool (*module_names_put)(const uint8_t *records, size_t bytes);

/*
 * Gives MODULE_NAMES records of all places known now to @put. For the end of the
 * run: reads files, bounded by MODULE_NAMES_READ_MAX. Takes no lock but its own;
 * any thread, signal handlers too. Does nothing on the second call for a module
 * that has no new places.
 */
void module_names_store(module_names_put put);

/*
 * The same for the one module that @inside lies in, which may be about to go; the
 * caller keeps it there. At most half of MODULE_NAMES_READ_MAX goes to these calls,
 * the end of the run has the rest.
 */
void module_names_store_one(uintptr_t inside, module_names_put put);

/* A new trace begins (fork): nothing is kept in it yet. */
void module_names_restart(void);

/* Most bytes read from files in one process. */
#define MODULE_NAMES_READ_MAX ((uint64_t)256 << 20)

#endif
