/*
 * Which file the trace is. The template of MEMPROF_OUTPUT is made an absolute
 * path when the program starts, since programs change folders; a child of fork
 * fills in the same template with its own pid.
 *
 *	%e program  %p pid  %n images of this pid  %h host  %t start, unix s  %% a %
 *
 * A file is never overwritten: one that belongs to no running process is first
 * renamed to NAME.old (with its companion); beside one that is in use the trace
 * becomes NAME.2.trace, NAME.3.trace ...
 *
 * For process.c, which lets one thread at a time in.
 */
#ifndef LIBMEMPROF_TRACE_NAME_H
#define LIBMEMPROF_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_NAME_MAX 2048

struct process_facts;

/* Expands @pattern. Returns the length, 0 when it doesn't fit. */
size_t trace_name_expand(const char *pattern, const struct process_facts *facts, char *out,
			 size_t room);

/* NAME with number @number (2, 3 ...): x.trace -> x.2.trace. 0: doesn't fit. */
size_t trace_name_number(const char *path, unsigned number, char *out, size_t room);

/* folder/.NAME.live for folder/NAME. 0: doesn't fit. */
size_t trace_name_companion(const char *path, char *out, size_t room);

/* Makes @pattern absolute with the working folder; a pattern that names an
 * existing folder gets the default name in it. Once per image. */
void trace_name_settle(const char *pattern, char *out, size_t room);

/* The same name in another folder (not a pattern): for when the first refuses. */
void trace_name_move(const char *settled, const char *folder, char *out, size_t room);

/*
 * Creates the trace (0600, new, never through a link) as @settled says and fills
 * in @path (TRACE_NAME_MAX bytes). Returns its descriptor, on which a lock is
 * held (flock) that keeps others from taking the unfinished file for a dead one:
 * release it when the header is written. Or a negative error: the folder refuses.
 */
int trace_name_create(const char *settled, const struct process_facts *facts, char *path);

#endif
