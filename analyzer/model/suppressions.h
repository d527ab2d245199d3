/*
 * Stacks that a report shall not hold against the program: lists in the syntax
 * of LeakSanitizer, one pattern a line, and blocks in the syntax of valgrind;
 * both may stand in one file.
 *
 *	# a comment
 *	leak:PATTERN            any frame whose function, file or module holds PATTERN
 *	function:PATTERN        the function alone; likewise file:, module:
 *
 *	{
 *	   a name
 *	   Memcheck:Leak
 *	   match-leak-kinds: reachable      (read, not used)
 *	   fun:malloc                       frames in order, innermost first;
 *	   obj:*libcrypto*                  * and ? as in a shell
 *	   ...                              any number of frames
 *	}
 *
 * In PATTERN `*` stands for anything, `^` and `$` tie it to the start and end.
 */
#ifndef ANALYZER_MODEL_SUPPRESSIONS_H
#define ANALYZER_MODEL_SUPPRESSIONS_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A frame as suppressions see it; any of them may be NULL. */
struct suppression_frame {
	const char *function;     /* demangled */
	const char *linkage_name;
	const char *file;
	const char *module;
	bool is_wrapper;           /* of the allocation family, or a thin wrapper */
};

struct suppressions;

/* An empty list; the caller's, for suppressions_free. NULL: out of memory. */
struct suppressions *suppressions_new(void);
void suppressions_free(struct suppressions *list);

/* Adds what file @path says. A line that can't be understood is an error that
 * names it ("FILE: line N: ..."), and nothing of the file is added. */
int suppressions_load(struct suppressions *list, const char *path, struct error *err);

/* The same from memory; @name stands for the file in errors. */
int suppressions_parse(struct suppressions *list, const char *name, const char *text,
		       size_t bytes, struct error *err);

/* Which suppression covers this stack (innermost frame first): its number, or
 * -1. Counts the use: @blocks and @bytes are added to what it has covered. */
int suppressions_match(struct suppressions *list, const struct suppression_frame *frames,
		       size_t count, double blocks, double bytes);

size_t suppressions_count(const struct suppressions *list);

struct suppression_use {
	const char *text;         /* as a person wrote it: the line, or the block's name */
	const char *file;
	unsigned line;
	uint64_t stacks;          /* stacks covered; 0 = never used */
	double blocks, bytes;
};
struct suppression_use suppressions_use(const struct suppressions *list, size_t number);

/* Writes the stack as a leak: line, and as a valgrind block in comments. */
void suppressions_generate(FILE *out, const struct suppression_frame *frames, size_t count,
			   const char *name);

#endif
