/*
 * Function names out of ELF symbol tables: what there is without DWARF. The
 * full table where one is found (the file itself, its debug file, the small one
 * in .gnu_debugdata), else the dynamic one; stubs of the procedure linkage table
 * get the name of what they call: "malloc@plt".
 */
#ifndef ANALYZER_SYMBOLIZE_ELF_SYMBOLS_H
#define ANALYZER_SYMBOLIZE_ELF_SYMBOLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbol {
	uint64_t start, end;       /* end == start: no size was given */
	uint64_t reach;            /* largest end up to here: where a search may stop */
	const char *name;          /* lies in the ELF's own data */
	uint8_t binding;
	uint8_t is_own;            /* name was made here and is freed with the table */
};

struct elf_symbols {
	struct elf_symbol *list;   /* by start, one a start */
	size_t count, room;
	bool has_full_table;       /* .symtab, not .dynsym alone */
};

/* Adds the functions of @elf. May be called for several files of one module;
 * then elf_symbols_sort once. The files stay open while names are used. */
void elf_symbols_add(struct elf_symbols *symbols, Elf *elf);
void elf_symbols_add_plt(struct elf_symbols *symbols, Elf *elf);
/* Adds one; @name is copied (@name_bytes of it). */
void elf_symbols_add_one(struct elf_symbols *symbols, uint64_t value, uint64_t size,
			 uint8_t binding, const char *name, size_t name_bytes);
void elf_symbols_sort(struct elf_symbols *symbols);
void elf_symbols_release(struct elf_symbols *symbols);

/* The function that @address lies in, or NULL. */
const char *elf_symbols_find(const struct elf_symbols *symbols, uint64_t address);

#endif
