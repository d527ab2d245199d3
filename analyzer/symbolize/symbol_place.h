/*
 * One function at one address, as the readers of DWARF tell it.
 */
#ifndef ANALYZER_SYMBOLIZE_SYMBOL_PLACE_H
#define ANALYZER_SYMBOLIZE_SYMBOL_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_place {
	const char *function;      /* DW_AT_name; NULL = not known */
	const char *linkage_name;  /* NULL = none */
	const char *file;          /* NULL = not known */
	uint32_t line;             /* 0 = not known */
	bool is_inlined;           /* into the place that follows */
};

/* Most frames told at one address; the outermost one is always among them. */
#define SYMBOL_PLACES_MAX 256

/* Takes the places at addresses[index], innermost first. The strings live as
 * long as the reader that gives them. */
typedef void (*symbol_take_places)(void *context, size_t index, const struct symbol_place *places,
				   unsigned count);

#endif
