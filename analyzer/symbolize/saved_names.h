/*
 * Names of one module that the trace itself keeps (MODULE_NAMES records, see
 * trace_format.h): a few symbols that the library noted, or frames that
 * `memprof-report symbolize` found out. What comes from a trace is checked as
 * any other stranger's input.
 */
#ifndef ANALYZER_SYMBOLIZE_SAVED_NAMES_H
#define ANALYZER_SYMBOLIZE_SAVED_NAMES_H

#include "symbolize/elf_symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct saved_names {
	struct elf_symbols symbols;
	bool is_sorted;
	/* FRAMES: the parts seen so far of the block being put together. */
	uint8_t *packed;
	size_t packed_bytes;
	uint32_t next_part;
};

/* Takes one SYMBOLS record. Damage ends it early. */
void saved_names_add_symbols(struct saved_names *names, const uint8_t *bytes, size_t count);

/* Takes one part of a FRAMES block, in order. With the last one the block (as in
 * symbol_answer.h, not checked yet) is returned, for free(); else NULL. */
void *saved_names_add_frames(struct saved_names *names, uint32_t part, uint32_t parts,
			     const uint8_t *bytes, size_t count, size_t *block_bytes);

/* The function at @address, or NULL. */
const char *saved_names_find(struct saved_names *names, uint64_t address);

void saved_names_release(struct saved_names *names);

#endif
