/*
 * See table.h. Rows are kept until the widths of all columns are known.
 */
#include "view/table.h"

#include "util/memory.h"
#include "view/units.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2
#define LEAST_CUT_COLUMNS 16u

struct table_item {
	char *text;
	enum table_style style;
};

struct table_line {
	struct table_item *cells;  /* `columns` of them, NULL texts at the end */
	struct table_item words;   /* a line of its own */
};

struct table {
	const struct table_column *columns;
	size_t column_count, at;
	struct table_line *lines;
	size_t line_count;
};

static const char *const escapes[] = {
	[TABLE_PLAIN] = "",         [TABLE_BOLD] = "\033[1m",    [TABLE_DIM] = "\033[2m",
	[TABLE_RED] = "\033[31m",   [TABLE_GREEN] = "\033[32m",  [TABLE_YELLOW] = "\033[33m",
	[TABLE_CYAN] = "\033[36m",
};

struct table *table_new(const struct table_column *columns, size_t count)
{
	struct table *table = memory_zeroed(1, sizeof(*table));

	table->columns = columns;
	table->column_count = count;
	return table;
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->line_count; i++) {
		for (size_t c = 0; table->lines[i].cells && c < table->column_count; c++)
			free(table->lines[i].cells[c].text);
		free(table->lines[i].cells);
		free(table->lines[i].words.text);
	}
	free(table->lines);
	free(table);
}

static struct table_line *add_line(struct table *table)
{
	MEMORY_ROOM(table->lines, table->line_count);
	table->lines[table->line_count] = (struct table_line){ 0 };
	return &table->lines[table->line_count++];
}

/* Control characters in names must not steer the terminal. */
static void tame(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

static char *format_text(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = memory_string("");
	tame(text);
	return text;
}

void table_row(struct table *table)
{
	struct table_line *line = add_line(table);

	line->cells = memory_zeroed(table->column_count, sizeof(*line->cells));
	table->at = 0;
}

void table_cell(struct table *table, enum table_style style, const char *format, ...)
{
	struct table_line *line = &table->lines[table->line_count - 1];
	va_list args;

	if (table->at >= table->column_count)
		return;
	va_start(args, format);
	line->cells[table->at++] = (struct table_item){ format_text(format, args), style };
	va_end(args);
}

void table_line(struct table *table, enum table_style style, const char *format, ...)
{
	struct table_line *line = add_line(table);
	va_list args;

	va_start(args, format);
	line->words = (struct table_item){ format_text(format, args), style };
	va_end(args);
}

/* ---- printing ---- */

#define HIDDEN UINT32_MAX

static void find_widths(const struct table *table, unsigned *widths)
{
	for (size_t c = 0; c < table->column_count; c++) {
		if (widths[c] == HIDDEN)
			continue;
		widths[c] = text_columns(table->columns[c].title);
		for (size_t i = 0; i < table->line_count; i++) {
			const struct table_item *cells = table->lines[i].cells;
			unsigned width = cells && cells[c].text ? text_columns(cells[c].text) : 0;

			if (width > widths[c])
				widths[c] = width;
		}
	}
}

/* Columns that may be cut give way, the widest first. false: that's not enough. */
static bool cut_widths(const struct table *table, unsigned *widths, unsigned width)
{
	for (;;) {
		unsigned total = 0;
		size_t widest = table->column_count;

		for (size_t c = 0; c < table->column_count; c++) {
			if (widths[c] == HIDDEN)
				continue;
			total += widths[c] + (c ? GAP : 0);
			if (table->columns[c].may_cut && widths[c] > LEAST_CUT_COLUMNS &&
			    (widest == table->column_count || widths[c] > widths[widest]))
				widest = c;
		}
		if (total <= width || widest == table->column_count)
			return total <= width;
		widths[widest]--;
	}
}

/* Takes the last column away that isn't a name, but the first stays. */
static bool hide_column(const struct table *table, unsigned *widths)
{
	for (size_t c = table->column_count; c-- > 1;)
		if (widths[c] != HIDDEN && !table->columns[c].may_cut) {
			widths[c] = HIDDEN;
			return true;
		}
	return false;
}

static void fit_widths(const struct table *table, unsigned *widths, unsigned width)
{
	while (!cut_widths(table, widths, width) && hide_column(table, widths))
		find_widths(table, widths);
}

static void print_item(FILE *out, const char *text, enum table_style style, bool color)
{
	if (color && style != TABLE_PLAIN)
		fprintf(out, "%s%s\033[0m", escapes[style], text);
	else
		fputs(text, out);
}

static void print_padding(FILE *out, unsigned columns)
{
	fprintf(out, "%*s", (int)columns, "");
}

static void print_cells(const struct table *table, const struct table_item *cells, FILE *out,
			const unsigned *widths, bool color)
{
	unsigned owed = 0; /* blanks not printed yet: a line never ends in them */

	for (size_t c = 0; c < table->column_count && cells[c].text; c++) {
		size_t size = strlen(cells[c].text) + 8;
		char *cut;
		unsigned width;

		if (widths[c] == HIDDEN)
			continue;
		cut = memory_zeroed(size, 1);
		text_cut_place(cells[c].text, widths[c], cut, size);
		width = text_columns(cut);
		owed += c ? GAP : 0;
		if (table->columns[c].align == TABLE_RIGHT && width < widths[c])
			owed += widths[c] - width;
		if (*cut) {
			print_padding(out, owed);
			owed = 0;
		}
		print_item(out, cut, cells[c].style, color);
		if (table->columns[c].align == TABLE_LEFT && width < widths[c])
			owed += widths[c] - width;
		free(cut);
	}
	fputc('\n', out);
}

static void print_title(const struct table *table, FILE *out, const unsigned *widths, bool color)
{
	struct table_item *titles = memory_zeroed(table->column_count, sizeof(*titles));

	for (size_t c = 0; c < table->column_count; c++)
		titles[c] = (struct table_item){ (char *)table->columns[c].title, TABLE_BOLD };
	print_cells(table, titles, out, widths, color);
	free(titles);
}

static void print_words(const struct table_item *words, FILE *out, unsigned width, bool color)
{
	size_t size = strlen(words->text) + 8;
	char *cut = memory_zeroed(size, 1);

	text_cut(words->text, width ? width : UINT32_MAX, cut, size);
	print_item(out, cut, words->style, color);
	fputc('\n', out);
	free(cut);
}

void table_print(const struct table *table, FILE *out, unsigned width, bool color)
{
	unsigned *widths = memory_zeroed(table->column_count, sizeof(*widths));

	find_widths(table, widths);
	if (width)
		fit_widths(table, widths, width);
	print_title(table, out, widths, color);
	for (size_t i = 0; i < table->line_count; i++) {
		const struct table_line *line = &table->lines[i];

		if (line->cells)
			print_cells(table, line->cells, out, widths, color);
		else
			print_words(&line->words, out, width, color);
	}
	free(widths);
}
