/*
 * Tables for people: columns as wide as their content, the last of them cut in
 * the middle where the terminal ends. The same table is written as CSV.
 */
#ifndef ANALYZER_VIEW_TABLE_H
#define ANALYZER_VIEW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum table_align { TABLE_LEFT, TABLE_RIGHT };

enum table_style {
	TABLE_PLAIN, TABLE_BOLD, TABLE_DIM, TABLE_RED, TABLE_GREEN, TABLE_YELLOW, TABLE_CYAN,
};

struct table_column {
	const char *title;
	enum table_align align;
	bool may_cut;          /* gives way when the line is too long (in the middle) */
};

struct table;

struct table *table_new(const struct table_column *columns, size_t count);
void table_free(struct table *table);

/* Cells are added from left to right; table_row begins a new row. */
void table_row(struct table *table);
void table_cell(struct table *table, enum table_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A line of its own, not in columns: stacks below a row, "and 12 more". */
void table_line(struct table *table, enum table_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* @width 0 = don't cut. Where it is too narrow for all columns, the last ones that
 * hold no names are left out. */
void table_print(const struct table *table, FILE *out, unsigned width, bool color);

#endif
