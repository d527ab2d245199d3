/*
 * See module_reader.h. What DWARF says comes first; where it is silent the
 * symbol tables name the function. All of it is told in one answer.
 */
#include "symbolize/module_reader.h"

#include "symbolize/demangle.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/reader_memory.h"
#include "symbolize/symbol_answer.h"
#include "symbolize/symbolize_dw.h"
#include "symbolize/symbolize_dwarf.h"
#include "symbolize/symbolizer.h"

#include <stdio.h>
#include <string.h>

/* What the second reader said of one address; count 0: nothing. */
struct packed_places {
	struct symbol_place *places;
	unsigned count;
};

struct module_reader {
	const struct object_query *query;
	const uint64_t *addresses;
	size_t count;
	struct answer_builder builder;
	struct object_files files;
	struct elf_symbols symbols;
	size_t next;               /* first address that has no frames in the answer yet */
	uint32_t *readable;        /* linkage name (string offset) to its readable form + 1 */
	size_t readable_room;
	size_t with_dwarf;
	size_t *unnamed;           /* indices of addresses that libdw has no function for */
	size_t unnamed_count, unnamed_used;
	struct packed_places *packed; /* of those, by the second reader */
	char words[256];
};

static void note_path(void *context, const char *path)
{
	struct module_reader *reader = context;

	answer_builder_witness(&reader->builder, path);
}

/* The readable form of an interned linkage name; each is demangled once. */
static uint32_t readable_name(struct module_reader *reader, uint32_t linkage)
{
	char *name;

	if (linkage >= reader->readable_room) {
		size_t room = (size_t)linkage * 2 + 1024;

		reader->readable = reader_realloc(reader->readable, room * sizeof(uint32_t));
		memset(reader->readable + reader->readable_room, 0,
		       (room - reader->readable_room) * sizeof(uint32_t));
		reader->readable_room = room;
	}
	if (reader->readable[linkage])
		return reader->readable[linkage] - 1;
	name = demangle(reader->builder.strings + linkage);
	reader->readable[linkage] = 1 + (name ? answer_builder_intern(&reader->builder, name) : 0);
	free(name);
	return reader->readable[linkage] - 1;
}

static void add_frame(struct module_reader *reader, const struct symbol_place *place)
{
	struct answer_builder *builder = &reader->builder;
	struct answer_frame frame = {
		.linkage_name = answer_builder_intern(builder, place->linkage_name),
		.file = answer_builder_intern(builder, place->file),
		.line = place->line & ~ANSWER_INLINED,
	};

	if (frame.linkage_name)
		frame.function = readable_name(reader, frame.linkage_name);
	if (!frame.function)
		frame.function = answer_builder_intern(builder, place->function);
	if (!frame.function)
		frame.function = frame.linkage_name;
	if (!frame.linkage_name)
		frame.linkage_name = frame.function;
	if (place->is_inlined)
		frame.line |= ANSWER_INLINED;
	answer_builder_frame(builder, &frame);
}

/*
 * Where DWARF has no name, the symbol has one. It also has the full name of what
 * DWARF gives a short one only (gcc: functions in anonymous namespaces): then
 * the short one is within the mangled one.
 */
static void name_by_symbol(struct module_reader *reader, struct symbol_place *place,
			   uint64_t address)
{
	const char *symbol;

	if (place->linkage_name)
		return;
	symbol = elf_symbols_find(&reader->symbols, address);
	if (!symbol)
		return;
	if (!place->function || (symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R') &&
				 strstr(symbol, place->function)))
		place->linkage_name = symbol;
}

static void add_address(struct module_reader *reader, const struct symbol_place *places,
			unsigned count)
{
	uint64_t address = reader->addresses[reader->next++];
	struct symbol_place outermost = { 0 };

	answer_builder_address(&reader->builder, address);
	for (unsigned i = 0; i + 1 < count; i++)
		add_frame(reader, &places[i]);
	if (count)
		outermost = places[count - 1];
	name_by_symbol(reader, &outermost, address);
	add_frame(reader, &outermost);
}

static void take_places(void *context, size_t index, const struct symbol_place *places,
			unsigned count)
{
	struct module_reader *reader = context;

	while (reader->next < index)
		add_address(reader, NULL, 0);
	add_address(reader, places, count);
	reader->with_dwarf++;
}

static void read_symbols(struct module_reader *reader)
{
	struct object_files *files = &reader->files;

	if (files->module.elf) {
		elf_symbols_add(&reader->symbols, files->module.elf);
		elf_symbols_add_plt(&reader->symbols, files->module.elf);
	}
	if (files->mini.elf)
		elf_symbols_add(&reader->symbols, files->mini.elf);
	if (files->debug.elf)
		elf_symbols_add(&reader->symbols, files->debug.elf);
	elf_symbols_sort(&reader->symbols);
}

/* ---- split DWARF in a package ------------------------------------------------ */

static void take_unnamed(void *context, size_t index, const struct symbol_place *places,
			 unsigned count)
{
	struct module_reader *reader = context;

	if (count == 1 && !places->function && !places->linkage_name)
		reader->unnamed[reader->unnamed_count++] = index;
}

/*
 * Packages of some compilers make libdwarf mix up units (clang, DWARF 4), so a
 * name must agree with the symbol at its place, where there is one.
 */
static bool agrees_with_symbol(const struct module_reader *reader, uint64_t address,
			       const struct symbol_place *outermost)
{
	const char *symbol = elf_symbols_find(&reader->symbols, address);

	if (!symbol)
		return true;
	return (outermost->linkage_name && !strcmp(symbol, outermost->linkage_name)) ||
	       (outermost->function && strstr(symbol, outermost->function));
}

static void take_packed(void *context, size_t index, const struct symbol_place *places,
			unsigned count)
{
	struct module_reader *reader = context;
	struct packed_places *packed = &reader->packed[index];
	uint64_t address = reader->addresses[reader->unnamed[index]];

	if (!places[count - 1].function || !agrees_with_symbol(reader, address, &places[count - 1]))
		return;
	packed->places = reader_realloc(NULL, count * sizeof(*places));
	memcpy(packed->places, places, count * sizeof(*places));
	packed->count = count;
}

/* As take_places, with what the package says where it says anything. */
static void take_merged(void *context, size_t index, const struct symbol_place *places,
			unsigned count)
{
	struct module_reader *reader = context;
	size_t at = reader->unnamed_used;

	if (at < reader->unnamed_count && reader->unnamed[at] == index) {
		reader->unnamed_used++;
		if (reader->packed[at].count) {
			reader->packed[at].places->file = places->file;
			reader->packed[at].places->line = places->line;
			places = reader->packed[at].places;
			count = reader->packed[at].count;
		}
	}
	take_places(context, index, places, count);
}

static void give_with_package(struct module_reader *reader, struct dw_reader *dw,
			      struct libdwarf_reader *package)
{
	uint64_t *addresses = reader_calloc(reader->count, sizeof(*addresses));
	size_t found = 0;

	reader->unnamed = reader_calloc(reader->count, sizeof(*reader->unnamed));
	dw_reader_each(dw, take_unnamed, reader);
	for (size_t i = 0; i < reader->unnamed_count; i++)
		addresses[i] = reader->addresses[reader->unnamed[i]];
	reader->packed = reader_calloc(reader->unnamed_count, sizeof(*reader->packed));
	libdwarf_reader_resolve(package, addresses, reader->unnamed_count, take_packed, reader);
	dw_reader_each(dw, take_merged, reader);
	for (size_t i = 0; i < reader->unnamed_count; i++) {
		found += reader->packed[i].count != 0;
		free(reader->packed[i].places);
	}
	if (found)
		reader->words[0] = 0;
	free(reader->packed);
	free(reader->unnamed);
	free(addresses);
}

/* ---- DWARF ------------------------------------------------------------------------ */

static void give_with_missing_splits(struct module_reader *reader, struct dw_reader *dw,
				     const struct object_file *file)
{
	const struct dw_stats *stats = dw_reader_stats(dw);
	struct libdwarf_reader *package = NULL;
	char path[PATH_MAX];

	snprintf(reader->words, sizeof(reader->words),
		 "%zu of its .dwo files are missing (%.100s): keep them where they were built, or "
		 "pack them into %.60s.dwp", stats->split_missing, stats->split_name,
		 strrchr(reader->query->path, '/') ? strrchr(reader->query->path, '/') + 1 :
						     reader->query->path);
	if (object_find_package(&reader->files, reader->query, note_path, reader, path,
				sizeof(path)))
		package = libdwarf_reader_new(file->path, path);
	if (package)
		give_with_package(reader, dw, package);
	else
		dw_reader_each(dw, take_places, reader);
	libdwarf_reader_free(package);
}

static void read_dwarf(struct module_reader *reader)
{
	const struct object_file *file = object_files_dwarf(&reader->files);
	struct dw_reader *dw;

	if (!file)
		return;
	dw = dw_reader_new(file->elf, reader->files.alternate.elf);
	if (!dw) {
		snprintf(reader->words, sizeof(reader->words),
			 "its DWARF can't be read; llvm-dwarfdump --verify says more");
		return;
	}
	dw_reader_resolve(dw, reader->addresses, reader->count);
	dw_reader_split_files(dw, note_path, reader);
	if (dw_reader_stats(dw)->split_missing)
		give_with_missing_splits(reader, dw, file);
	else
		dw_reader_each(dw, take_places, reader);
	dw_reader_free(dw);
}

/* The other reader alone. */
static void read_second(struct module_reader *reader)
{
	const struct object_file *file = object_files_dwarf(&reader->files);
	struct libdwarf_reader *second;
	char path[PATH_MAX];
	bool has_package;

	if (!file || file->fd < 0)
		return;
	has_package = object_find_package(&reader->files, reader->query, note_path, reader, path,
					  sizeof(path));
	second = libdwarf_reader_new(file->path, has_package ? path : NULL);
	if (!second)
		return;
	libdwarf_reader_resolve(second, reader->addresses, reader->count, take_places, reader);
	libdwarf_reader_free(second);
}

static enum symbolizer_source source_of(const struct module_reader *reader)
{
	const struct object_files *files = &reader->files;

	if (reader->with_dwarf)
		return SYMBOLIZER_DWARF;
	if (reader->symbols.has_full_table && reader->symbols.count)
		return SYMBOLIZER_SYMBOLS;
	if (reader->symbols.count)
		return SYMBOLIZER_DYNAMIC_SYMBOLS;
	switch (files->state) {
	case OBJECT_CHANGED:
		return SYMBOLIZER_CHANGED;
	case OBJECT_MISSING:
		return SYMBOLIZER_MISSING;
	case OBJECT_UNREADABLE:
		return SYMBOLIZER_UNREADABLE;
	default:
		return SYMBOLIZER_NOTHING;
	}
}

/* The one thing to do, when something is missing and nobody said so yet. */
static void say_why(struct module_reader *reader, enum symbolizer_source source)
{
	const struct object_files *files = &reader->files;
	char *words = reader->words;
	size_t room = sizeof(reader->words);

	if (files->alternate_missing)
		snprintf(words, room, "the file that dwz moved common parts to is missing: "
				      "install its -dbgsym package, or --debug-dir");
	else if (words[0] || source == SYMBOLIZER_DWARF)
		return;
	else if (files->state == OBJECT_CHANGED)
		snprintf(words, room, "the file there now is another one (rebuilt or upgraded): "
				      "give the old one with --sysroot or --debug-dir");
	else if (files->state == OBJECT_MISSING)
		snprintf(words, room, "the file is gone: give a copy with --sysroot or "
				      "--debug-dir");
	else if (files->state == OBJECT_UNREADABLE)
		snprintf(words, room, "the file is no ELF file that can be read");
	else if (files->debuglink[0])
		snprintf(words, room, "its debug file %.100s was not found: install its -dbgsym "
				      "package, or --debug-dir, or --debuginfod", files->debuglink);
	else if (source == SYMBOLIZER_SYMBOLS)
		snprintf(words, room, "no debug information: no lines; build with -g, or "
				      "--debuginfod");
	else
		snprintf(words, room, "stripped: install its -dbgsym package, or --debug-dir, or "
				      "--debuginfod");
}

void *module_read(const struct object_query *query, const uint64_t *addresses, size_t count,
		  void (*limit)(uint64_t file_bytes), size_t *bytes)
{
	struct module_reader reader = { .query = query, .addresses = addresses, .count = count };
	const struct object_file *file;
	enum symbolizer_source source;
	void *block;

	answer_builder_init(&reader.builder);
	object_files_open(&reader.files, query, note_path, &reader);
	if (limit)
		limit(object_files_bytes(&reader.files));
	if (!query->dwarf_names)
		read_symbols(&reader);
	if (query->second_reader)
		read_second(&reader);
	else if (!query->skip_dwarf)
		read_dwarf(&reader);
	while (reader.next < count)
		add_address(&reader, NULL, 0);
	source = source_of(&reader);
	say_why(&reader, source);
	file = object_files_dwarf(&reader.files);
	if (!file && reader.files.debug.elf)
		file = &reader.files.debug;
	if (!file)
		file = &reader.files.module;
	block = answer_builder_pack(&reader.builder, source, file->path, reader.words, bytes);
	if (!block)
		_Exit(READER_NO_MEMORY);
	elf_symbols_release(&reader.symbols);
	object_files_close(&reader.files);
	answer_builder_release(&reader.builder);
	free(reader.readable);
	return block;
}
