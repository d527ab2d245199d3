/*
 * DWARF through libdw: functions, inlined functions and lines of many addresses
 * at once. The only file that sees libdw is behind this.
 */
#ifndef ANALYZER_SYMBOLIZE_SYMBOLIZE_DW_H
#define ANALYZER_SYMBOLIZE_SYMBOLIZE_DW_H

#include "symbolize/symbol_place.h"

#include <libelf.h>

struct dw_reader;

struct dw_stats {
	size_t units;              /* compilation units in the file */
	size_t units_read;         /* that hold an address */
	size_t split_missing;      /* units read whose .dwo was not found */
	unsigned version;          /* of the first unit */
	char split_name[512];      /* of the first .dwo that was not found */
};

/* @alternate (may be NULL) is the file of .gnu_debugaltlink. Both stay open
 * until dw_reader_free. NULL: no DWARF that libdw understands. */
struct dw_reader *dw_reader_new(Elf *elf, Elf *alternate);
void dw_reader_free(struct dw_reader *reader);

/* Finds out about @addresses: ascending, each once, in the file's terms; they
 * stay the caller's. Once per reader. */
void dw_reader_resolve(struct dw_reader *reader, const uint64_t *addresses, size_t count);

/* Gives what was found to @take, in the order of the addresses, those left out
 * that nothing is known of. */
void dw_reader_each(struct dw_reader *reader, symbol_take_places take, void *context);

const struct dw_stats *dw_reader_stats(const struct dw_reader *reader);

/* Tells the path of each .dwo file that was opened or wanted. */
void dw_reader_split_files(struct dw_reader *reader, void (*take)(void *context, const char *path),
			   void *context);

#endif
