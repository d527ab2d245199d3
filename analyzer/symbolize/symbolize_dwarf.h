/*
 * DWARF through libdwarf: the second reader. It knows .dwp packages, which libdw
 * does not; and as it shares no line of code with the first reader, comparing
 * the two finds mistakes of either. The only file that sees libdwarf is behind
 * this; its functions are hidden when it is linked, since libdw has many of the
 * same names.
 */
#ifndef ANALYZER_SYMBOLIZE_SYMBOLIZE_DWARF_H
#define ANALYZER_SYMBOLIZE_SYMBOLIZE_DWARF_H

#include "symbolize/symbol_place.h"

struct libdwarf_reader;

/* @package: path of the .dwp file, or NULL. NULL: no DWARF that libdwarf
 * understands. */
struct libdwarf_reader *libdwarf_reader_new(const char *path, const char *package);
void libdwarf_reader_free(struct libdwarf_reader *reader);

/* As dw_reader_resolve. */
void libdwarf_reader_resolve(struct libdwarf_reader *reader, const uint64_t *addresses,
			     size_t count, symbol_take_places take, void *context);

#endif
