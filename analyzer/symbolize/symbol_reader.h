/*
 * The process that reads debug information. Object files are input that anybody
 * can have made, and the libraries that decode them were written for honest
 * ones: a module that crashes them, never ends or eats all memory must cost no
 * more than that module's names. So one child process does the reading, within
 * limits; a dead one is replaced at the next question.
 */
#ifndef ANALYZER_SYMBOLIZE_SYMBOL_READER_H
#define ANALYZER_SYMBOLIZE_SYMBOL_READER_H

#include "symbolize/object_file.h"

#include <stddef.h>
#include <stdint.h>

struct symbol_reader;

enum reader_outcome {
	READER_ANSWERED,
	READER_CRASHED,
	READER_TOOK_TOO_LONG,
	READER_OUT_OF_MEMORY,
	READER_NOT_STARTED,     /* no process to be had */
};

struct symbol_reader *symbol_reader_new(void);
void symbol_reader_free(struct symbol_reader *reader);

/* module_read in the other process. *@block is for free(); NULL unless
 * READER_ANSWERED. */
enum reader_outcome symbol_reader_ask(struct symbol_reader *reader,
				      const struct object_query *query, const uint64_t *addresses,
				      size_t count, void **block, size_t *bytes);

#endif
