/*
 * One module's addresses to one answer: finds the files, reads DWARF and symbol
 * tables, demangles. Runs in the process of symbol_reader.c, since it works on
 * files that anybody can have made.
 */
#ifndef ANALYZER_SYMBOLIZE_MODULE_READER_H
#define ANALYZER_SYMBOLIZE_MODULE_READER_H

#include "symbolize/object_file.h"

#include <stddef.h>
#include <stdint.h>

/* @addresses: in the file's terms, ascending, each once. @limit (may be NULL) is
 * told how many bytes there are to read, before they are. Returns a block as in
 * symbol_answer.h, for free(). */
void *module_read(const struct object_query *query, const uint64_t *addresses, size_t count,
		  void (*limit)(uint64_t file_bytes), size_t *bytes);

#endif
