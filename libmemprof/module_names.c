/*
 * See module_names.h. The recorded places are sorted; each run of them that lies
 * in one module is one job:
 *
 *	places   |  program  |    libc      | plug-in |     in order of address
 *	             ^ its symbols are streamed once; those that hold a place are
 *	               stored: "value, size, name"
 *
 * Only a few names of a big symbol table are needed, so the strings are read one
 * by one, through a small window of the file.
 */
#define _GNU_SOURCE
#include "module_names.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>

#include <memprof/trace_format.h>

#include "modules.h"
#include "os.h"
#include "owner_lock.h"
#include "record_store.h"
#include "unwind.h"

#define NAME_MAX_BYTES 2048        /* longer names are cut */
#define PAYLOAD_MAX 12288          /* of one record: its length takes 2 bytes */
#define WINDOW_BYTES 65536
#define SECTIONS_MAX 4096
#define BUCKETS 1024
#define CLOSED_MAX 64

/* Working memory, mapped for the time of one call. */
struct work {
	module_names_put put;
	uintptr_t *places;         /* sorted */
	size_t count;
	uint8_t symbols[WINDOW_BYTES];
	char name[NAME_MAX_BYTES + 1];
	uint8_t records[TRACE_RECORDS_MAX];
	struct record_cursor cursor;
	const struct module_found *module;
	uintptr_t *first, *last;   /* its places: [first, last) */
	/* They once more, so that a symbol finds its own in a few steps: the first place
	 * at or behind *first + (n << shift) is first[buckets[n]]. */
	uint32_t buckets[BUCKETS];
	unsigned shift;
	uint64_t previous;         /* value of the symbol stored last in this record */
	bool is_open;              /* a record is being filled */
	bool is_broken;            /* nothing can be written */
};

static struct {
	struct owner_lock lock;
	uint32_t places_done;      /* ids below were seen to by module_names_store */
	uint64_t bytes_read;
	uint64_t read_max;         /* of the call that goes on */
	/* Modules that were about to go, with how many places they had: most plug-ins
	 * that come again have no more to tell. Overwritten in turn. */
	struct closed {
		uint64_t identity;
		size_t places;
	} closed[CLOSED_MAX];
	uint32_t closed_count;
} names;

/* ---- the places ---- */

/* Shell's sort: no recursion, no memory, and fast enough for some 10 000. */
static void sort_places(uintptr_t *list, size_t count)
{
	size_t gap = 1;

	while (gap < count / 3)
		gap = gap * 3 + 1;
	for (; gap; gap /= 3) {
		for (size_t i = gap; i < count; i++) {
			uintptr_t value = list[i];
			size_t at = i;

			for (; at >= gap && list[at - gap] > value; at -= gap)
				list[at] = list[at - gap];
			list[at] = value;
		}
	}
}

/* A return address belongs to the call before it. */
static void take_places(struct work *work, size_t room, uintptr_t start, uintptr_t end)
{
	struct pc_entry entry;

	for (uint32_t i = 0; work->count < room && pc_table_entry(i, &entry); i++) {
		uintptr_t place = entry.pc - !(entry.flags & TRACE_PC_EXACT);

		if (place - start < end - start)
			work->places[work->count++] = place;
	}
	sort_places(work->places, work->count);
}

/* The first place in [first, last) at or behind @address. */
static uintptr_t *first_from(uintptr_t *first, uintptr_t *last, uintptr_t address)
{
	while (first < last) {
		uintptr_t *middle = first + (last - first) / 2;

		if (*middle < address)
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

static void fill_buckets(struct work *work)
{
	uintptr_t span = work->last[-1] - *work->first;
	uint32_t place = 0;

	work->shift = 0;
	while (span >> work->shift >= BUCKETS)
		work->shift++;
	for (size_t n = 0; n <= span >> work->shift; n++) {
		while (work->first[place] < *work->first + (n << work->shift))
			place++;
		work->buckets[n] = place;
	}
}

/* The first of the module's places at or behind @address; there is one. */
static const uintptr_t *place_from(const struct work *work, uintptr_t address)
{
	const uintptr_t *place = work->first;

	if (address > *place)
		place += work->buckets[(address - *place) >> work->shift];
	while (*place < address)
		place++;
	return place;
}

/* ---- records ---- */

static void close_record(struct work *work)
{
	if (work->is_open)
		record_end(&work->cursor);
	work->is_open = false;
}

static void put_records(struct work *work)
{
	size_t bytes;

	close_record(work);
	bytes = (size_t)(work->cursor.at - work->records);
	if (bytes && !work->put(work->records, bytes))
		work->is_broken = true;
	work->cursor.at = work->records;
	work->cursor.end = work->records + sizeof(work->records);
}

static void open_record(struct work *work)
{
	struct record_cursor *cursor = &work->cursor;

	if (cursor->end - cursor->at < PAYLOAD_MAX + 256)
		put_records(work);
	record_begin(cursor, TRACE_KIND_MODULE_NAMES);
	record_number(cursor, work->module->start);
	record_string(cursor, (const char *)work->module->build_id, work->module->build_id_bytes);
	record_number(cursor, 0);
	record_number(cursor, 1);
	record_number(cursor, TRACE_NAMES_SYMBOLS);
	work->previous = 0;
	work->is_open = true;
}

static void store_symbol(struct work *work, const ElfW(Sym) *symbol)
{
	struct record_cursor *cursor = &work->cursor;
	int64_t ahead;

	if (work->is_open && cursor->at - cursor->payload > PAYLOAD_MAX - NAME_MAX_BYTES - 64)
		close_record(work);
	if (!work->is_open)
		open_record(work);
	ahead = (int64_t)(symbol->st_value - work->previous);
	record_number(cursor, ((uint64_t)ahead << 1) ^ (uint64_t)(ahead >> 63));
	record_number(cursor, symbol->st_size);
	record_byte(cursor, ELF64_ST_BIND(symbol->st_info));
	record_string(cursor, work->name, strlen(work->name));
	work->previous = symbol->st_value;
}

/* ---- symbols ---- */

/* Is there a place in the function of @symbol? */
static bool holds_a_place(const struct work *work, const ElfW(Sym) *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	uintptr_t start = symbol->st_value + work->module->bias;

	if (start > work->last[-1])
		return false;
	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
		return false;
	return *place_from(work, start) - start < (symbol->st_size ? symbol->st_size : 1);
}

/* ---- ... in the module's file ---- */

struct file {
	int descriptor;
	ElfW(Ehdr) header;
};

static bool read_at(struct file *file, void *out, size_t bytes, uint64_t offset)
{
	names.bytes_read += bytes;
	return names.bytes_read <= names.read_max &&
	       os_pread(file->descriptor, out, bytes, offset) == (long)bytes;
}

/* The page in memory is that of the file it was loaded from: header, program
 * headers and (nearly always) the build-id are in it. */
static bool is_same_file(struct work *work, struct file *file)
{
	const ElfW(Ehdr) *loaded = (const void *)work->module->start;
	size_t bytes = work->module->first_page_bytes;

	if (bytes < sizeof(*loaded) || !read_at(file, work->symbols, bytes, 0) ||
	    memcmp(work->symbols, loaded, bytes) || memcmp(loaded->e_ident, ELFMAG, SELFMAG) ||
	    loaded->e_shentsize != sizeof(ElfW(Shdr)) || loaded->e_shnum > SECTIONS_MAX)
		return false;
	file->header = *loaded;
	return true;
}

static bool read_section(struct file *file, unsigned index, ElfW(Shdr) *section)
{
	return index < file->header.e_shnum &&
	       read_at(file, section, sizeof(*section),
		       file->header.e_shoff + (uint64_t)index * sizeof(*section));
}

static bool find_section(struct file *file, uint32_t type, ElfW(Shdr) *section)
{
	for (unsigned i = 0; i < file->header.e_shnum; i++) {
		if (!read_section(file, i, section))
			return false;
		if (section->sh_type == type)
			return true;
	}
	return false;
}

static bool read_name(struct work *work, struct file *file, const ElfW(Shdr) *strings,
		      uint32_t offset)
{
	uint64_t rest = offset < strings->sh_size ? strings->sh_size - offset : 0;
	size_t want = rest < NAME_MAX_BYTES ? (size_t)rest : NAME_MAX_BYTES;
	long got = os_pread(file->descriptor, work->name, want, strings->sh_offset + offset);

	if (got <= 0)
		return false;
	work->name[got] = '\0';
	return work->name[0] != '\0';
}

static bool stream_table(struct work *work, struct file *file, const ElfW(Shdr) *table)
{
	const size_t step = WINDOW_BYTES / sizeof(ElfW(Sym)) * sizeof(ElfW(Sym));
	ElfW(Shdr) strings;

	if (table->sh_entsize != sizeof(ElfW(Sym)) || !read_section(file, table->sh_link, &strings))
		return false;
	for (uint64_t at = 0; at < table->sh_size && !work->is_broken; at += step) {
		uint64_t rest = table->sh_size - at;
		size_t bytes = rest < step ? (size_t)rest : step;
		const ElfW(Sym) *symbols = (const void *)work->symbols;

		if (!read_at(file, work->symbols, bytes, table->sh_offset + at))
			return false;
		for (size_t i = 0; i < bytes / sizeof(*symbols); i++)
			if (holds_a_place(work, &symbols[i]) &&
			    read_name(work, file, &strings, symbols[i].st_name))
				store_symbol(work, &symbols[i]);
	}
	return true;
}

/* false: the file is not there, is another one, or could not be read. */
static bool store_from_file(struct work *work)
{
	char path[OS_PATH_MAX];
	ElfW(Shdr) table;
	struct file file;
	bool done = false;

	module_path(work->module, path, sizeof(path));
	file.descriptor = os_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (file.descriptor < 0)
		return false;
	if (is_same_file(work, &file) &&
	    (find_section(&file, SHT_SYMTAB, &table) || find_section(&file, SHT_DYNSYM, &table)))
		done = stream_table(work, &file, &table);
	os_close(file.descriptor);
	return done;
}

/* ---- ... in memory ---- */

/* The loader turns most of these into addresses in place, not all. */
static uintptr_t address_in(const struct module_found *module, uintptr_t value)
{
	if (value < module->start)
		value += module->bias;
	return value >= module->start && value < module->end ? value : 0;
}

static void store_from_memory(struct work *work)
{
	const struct module_found *module = work->module;
	uintptr_t symbols = 0, strings = 0, strings_end;
	size_t string_bytes = 0, count;

	for (const ElfW(Dyn) *at = module->dynamic; at && at->d_tag != DT_NULL; at++) {
		if (at->d_tag == DT_SYMTAB)
			symbols = address_in(module, at->d_un.d_ptr);
		else if (at->d_tag == DT_STRTAB)
			strings = address_in(module, at->d_un.d_ptr);
		else if (at->d_tag == DT_STRSZ)
			string_bytes = at->d_un.d_val;
	}
	strings_end = strings + string_bytes;
	/* Nothing says how many symbols there are, but linkers put the strings
	 * right behind them. */
	if (!symbols || strings < symbols || strings_end > module->end)
		return;
	count = (strings - symbols) / sizeof(ElfW(Sym));
	for (size_t i = 0; i < count && !work->is_broken; i++) {
		const ElfW(Sym) *symbol = (const ElfW(Sym) *)symbols + i;

		if (symbol->st_name >= string_bytes || !holds_a_place(work, symbol))
			continue;
		text_format(work->name, sizeof(work->name), "%s",
			    (const char *)strings + symbol->st_name);
		store_symbol(work, symbol);
	}
}

/* ---- all of it ---- */

static void store_module(struct work *work, const struct module_found *module)
{
	work->module = module;
	work->last = first_from(work->first, work->places + work->count, module->end);
	if (work->last == work->first)
		return;
	fill_buckets(work);
	if (!store_from_file(work))
		store_from_memory(work);
	close_record(work);
}

static void store_all(struct work *work)
{
	struct module_found module;

	work->first = work->places;
	while (work->first < work->places + work->count && !work->is_broken) {
		if (module_find(*work->first, &module)) {
			store_module(work, &module);
			work->first = work->last;
		} else {
			work->first++;
		}
	}
}

/* Had it as many places when it went before? */
static bool is_told(uint64_t identity, size_t places)
{
	struct closed *closed = names.closed;

	while (closed < names.closed + CLOSED_MAX && closed->identity != identity)
		closed++;
	if (closed < names.closed + CLOSED_MAX && closed->places == places)
		return true;
	if (closed == names.closed + CLOSED_MAX)
		closed = &names.closed[names.closed_count++ % CLOSED_MAX];
	*closed = (struct closed){ identity, places };
	return false;
}

/* Its names are worth reading: it has places, and more than were told of. */
static bool has_news(const struct work *work, const struct module_found *module)
{
	return work->count && !is_told(module->identity, work->count);
}

/* @only: the module that may go, NULL: all. */
static void store(const struct module_found *only, module_names_put put)
{
	uint32_t made = __atomic_load_n(&pc_fresh.made, __ATOMIC_ACQUIRE);
	size_t place_bytes = ((size_t)made + 1) * sizeof(uintptr_t);
	struct work *work = os_map(sizeof(*work));

	if (!work)
		return;
	work->put = put;
	work->places = os_map(place_bytes);
	if (work->places) {
		work->cursor.at = work->records;
		work->cursor.end = work->records + sizeof(work->records);
		take_places(work, made, only ? only->start : 0, only ? only->end : UINTPTR_MAX);
		work->first = work->places;
		if (!only)
			store_all(work);
		else if (has_news(work, only))
			store_module(work, only);
		put_records(work);
		os_unmap(work->places, place_bytes);
	}
	os_unmap(work, sizeof(*work));
}

void module_names_store(module_names_put put)
{
	uint32_t made = __atomic_load_n(&pc_fresh.made, __ATOMIC_ACQUIRE);

	if (!owner_lock_take(&names.lock))
		return;
	names.read_max = MODULE_NAMES_READ_MAX;
	if (names.places_done != made)
		store(NULL, put);
	names.places_done = made;
	owner_lock_release(&names.lock);
}

void module_names_store_one(uintptr_t inside, module_names_put put)
{
	struct module_found module;

	if (!inside || !module_find(inside, &module) || !owner_lock_take(&names.lock))
		return;
	names.read_max = MODULE_NAMES_READ_MAX / 2;
	store(&module, put);
	owner_lock_release(&names.lock);
}

void module_names_restart(void)
{
	memset(&names, 0, sizeof(names));
}
