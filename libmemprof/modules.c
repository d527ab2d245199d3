/*
 * A list of the modules that readers know, in order of appearance. An entry is
 * the span of addresses, what lies there (name and build-id, hashed), and the
 * generation in which this was last looked at: after dlclose another library
 * may lie at the same address, under the very same link map.
 *
 *	modules_changed() -> generation + 1
 *	a place comes by  -> entry of this generation: known, nothing to do
 *	                     entry of an older one: look again; the same: known
 *	                     something else: MODULE_GONE, MODULE
 *
 * Entries are added under a lock and read without: `count` is stored last.
 */
#define _GNU_SOURCE
#include "modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "os.h"
#include "owner_lock.h"
#include "record_store.h"

#define MODULES_MAX 8192
#define PATH_BYTES_MAX 4096

struct module {
	uintptr_t start, end;
	uint64_t identity;
	uint32_t generation; /* written by any thread: last looked at */
	uint32_t is_gone;
};

static struct {
	struct owner_lock lock;
	uint32_t generation;
	uint32_t count;
	uint32_t from_start; /* the first of `list`: loaded with the program */
	struct module *list; /* [MODULES_MAX] */
	char path[PATH_BYTES_MAX]; /* under `lock` */
} modules;

/* ---- looking ----------------------------------------------------------------- */

static size_t aligned4(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

/* One PT_NOTE segment: a row of (header, name, value). */
static bool find_build_id(struct module_found *found, const uint8_t *at, size_t bytes)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		size_t name = aligned4(note->n_namesz), value = aligned4(note->n_descsz);
		size_t whole = sizeof(*note) + name + value;

		if (name > bytes || value > bytes || whole > bytes)
			return false;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    note->n_descsz <= MODULE_BUILD_ID_MAX &&
		    !memcmp(at + sizeof(*note), "GNU", 4)) {
			found->build_id_bytes = note->n_descsz;
			memcpy(found->build_id, at + sizeof(*note) + name, note->n_descsz);
			return true;
		}
		at += whole;
		bytes -= whole;
	}
	return false;
}

/* The ELF header lies at the start of the map of all but the oddest modules. */
static void read_image(struct module_found *found)
{
	const ElfW(Ehdr) *header = (const void *)found->start;
	const ElfW(Phdr) *segment;
	size_t span = found->end - found->start;

	if (span < OS_PAGE_BYTES || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_phentsize != sizeof(*segment) || header->e_phoff > OS_PAGE_BYTES ||
	    header->e_phoff + (size_t)header->e_phnum * sizeof(*segment) > OS_PAGE_BYTES)
		return;
	segment = (const void *)(found->start + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++, segment++) {
		uintptr_t at = found->bias + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_offset == 0 && at == found->start)
			found->first_page_bytes = segment->p_filesz < OS_PAGE_BYTES ?
							  segment->p_filesz :
							  OS_PAGE_BYTES;
		/* Go puts its notes before what is loaded, others behind it. */
		if (segment->p_type == PT_NOTE && !found->build_id_bytes && at >= found->start &&
		    at < found->end && segment->p_memsz <= found->end - at)
			find_build_id(found, (const void *)at, segment->p_memsz);
	}
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;

	while (count--)
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash;
}

static bool look_up(uintptr_t pc, struct module_found *found)
{
	struct dl_find_object object;

	if (_dl_find_object((void *)pc, &object) != 0)
		return false;
	found->start = (uintptr_t)object.dlfo_map_start;
	found->end = (uintptr_t)object.dlfo_map_end;
	found->bias = object.dlfo_link_map->l_addr;
	found->name = object.dlfo_link_map->l_name;
	found->dynamic = object.dlfo_link_map->l_ld;
	return true;
}

static void identify(struct module_found *found)
{
	found->build_id_bytes = 0;
	found->first_page_bytes = 0;
	read_image(found);
	found->identity = mix(0xcbf29ce484222325u, found->name, strlen(found->name));
	found->identity = mix(found->identity, found->build_id, found->build_id_bytes);
	found->identity = mix(found->identity, &found->bias, sizeof(found->bias));
}

bool module_find(uintptr_t pc, struct module_found *found)
{
	if (!look_up(pc, found))
		return false;
	identify(found);
	return true;
}

void module_path(const struct module_found *found, char *path, size_t room)
{
	text_format(path, room, "%s", found->name[0] ? found->name : "/proc/self/exe");
}

/* ---- the list ------------------------------------------------------------------ */

static uint32_t current_generation(void)
{
	return __atomic_load_n(&modules.generation, __ATOMIC_ACQUIRE);
}

void modules_changed(void)
{
	__atomic_fetch_add(&modules.generation, 1, __ATOMIC_RELEASE);
}

/* Newest first: the one that holds the address now, if we know it. */
static struct module *find_known(uintptr_t pc)
{
	uint32_t count = __atomic_load_n(&modules.count, __ATOMIC_ACQUIRE);

	while (count--) {
		struct module *module = &modules.list[count];

		if (pc - module->start < module->end - module->start &&
		    !__atomic_load_n(&module->is_gone, __ATOMIC_RELAXED))
			return module;
	}
	return NULL;
}

static void set_generation(struct module *module, uint32_t generation)
{
	__atomic_store_n(&module->generation, generation, __ATOMIC_RELEASE);
}

static void add(const struct module_found *found, uint32_t generation)
{
	struct module *module;

	if (!modules.list || modules.count == MODULES_MAX)
		return;
	module = &modules.list[modules.count];
	module->start = found->start;
	module->end = found->end;
	module->identity = found->identity;
	module->generation = generation;
	module->is_gone = 0;
	__atomic_store_n(&modules.count, modules.count + 1, __ATOMIC_RELEASE);
}

/* ---- records --------------------------------------------------------------------- */

/* The kernel's addition to the name of a program whose file was removed. */
static void cut_deleted(char *path)
{
	static const char addition[] = " (deleted)";
	size_t length = strlen(path);

	if (length > sizeof(addition) && text_equal(path + length - 10, addition))
		path[length - 10] = '\0';
}

static void stat_module(const struct module_found *found, const char *path, struct stat *st)
{
	const char *file = found->name[0] ? path : "/proc/self/exe";

	if (!text_find(file, '/') || os_stat(file, st) != 0)
		memset(st, 0, sizeof(*st));
}

/* The program has no name in the loader's list; a relative one is as old as the
 * working folder it was loaded from. */
static const char *path_of(const struct module_found *found)
{
	char *path = modules.path;
	size_t length;

	if (!found->name[0]) {
		os_readlink("/proc/self/exe", path, PATH_BYTES_MAX);
		cut_deleted(path);
		return path;
	}
	if (found->name[0] == '/' || !text_find(found->name, '/'))
		return found->name;
	if (os_is_error(os_call2(SYS_getcwd, path, PATH_BYTES_MAX)))
		return found->name;
	length = strlen(path);
	text_format(path + length, PATH_BYTES_MAX - length, "/%s", found->name);
	return path;
}

static void store_module(struct record_cursor *cursor, const struct module_found *found)
{
	const char *path = path_of(found);
	struct stat st;

	stat_module(found, path, &st);
	record_begin(cursor, TRACE_KIND_MODULE);
	record_number(cursor, found->start);
	record_number(cursor, found->end);
	record_number(cursor, found->bias);
	record_number(cursor, (uint64_t)st.st_size);
	record_number(cursor, (uint64_t)st.st_mtim.tv_sec * 1000000000u +
				      (uint64_t)st.st_mtim.tv_nsec);
	record_number(cursor, st.st_dev);
	record_number(cursor, st.st_ino);
	record_string(cursor, (const char *)found->build_id, found->build_id_bytes);
	record_string(cursor, path, strlen(path));
}

static void store_gone(struct record_cursor *cursor, struct module *module)
{
	__atomic_store_n(&module->is_gone, 1, __ATOMIC_RELAXED);
	record_begin(cursor, TRACE_KIND_MODULE_GONE);
	record_number(cursor, module->start);
	record_end(cursor);
}

/* Whatever was known to lie where the new one lies is gone. A row of small
 * modules under a large new one: those beyond the room stay, their span is
 * overruled by the newer record all the same. */
static void store_overlapped(struct record_cursor *cursor, const struct module_found *found)
{
	for (uint32_t i = 0; i < modules.count; i++) {
		struct module *module = &modules.list[i];

		if (!module->is_gone && module->start < found->end && found->start < module->end &&
		    cursor->end - cursor->at > PATH_BYTES_MAX + 300)
			store_gone(cursor, module);
	}
}

/* Under the lock. */
static size_t note_module(uintptr_t pc, uint32_t generation, uint8_t *out)
{
	struct record_cursor cursor = { .at = out, .end = out + MODULE_RECORDS_MAX };
	struct module *known = find_known(pc);
	struct module_found found;

	if (!look_up(pc, &found))
		return 0;
	identify(&found);
	if (known && known->start == found.start && known->identity == found.identity) {
		set_generation(known, generation);
		return 0;
	}
	store_overlapped(&cursor, &found);
	store_module(&cursor, &found);
	if (record_end(&cursor))
		add(&found, generation);
	return (size_t)(cursor.at - out);
}

size_t module_note_pc(uintptr_t pc, uint8_t *out)
{
	uint32_t generation = current_generation();
	struct module *known = find_known(pc);
	size_t bytes;

	if (known && __atomic_load_n(&known->generation, __ATOMIC_ACQUIRE) == generation)
		return 0;
	if (os_is_forbidden || !owner_lock_take(&modules.lock))
		return 0;
	bytes = note_module(pc, generation, out);
	owner_lock_release(&modules.lock);
	return bytes;
}

/* ---- a trace begins ----------------------------------------------------------------- */

void modules_restart(void)
{
	modules.lock.owner = 0;
	modules.count = 0;
	modules.from_start = 0;
	if (!modules.list)
		modules.list = os_map(MODULES_MAX * sizeof(*modules.list));
}

/* The chain of all link maps, from the one that holds our own code. */
static struct link_map *first_link_map(void)
{
	struct dl_find_object object;
	struct link_map *map;

	if (_dl_find_object((void *)(uintptr_t)first_link_map, &object) != 0)
		return NULL;
	for (map = object.dlfo_link_map; map->l_prev;)
		map = map->l_prev;
	return map;
}

void modules_store_loaded(struct record_cursor *cursor)
{
	struct link_map *map;
	struct module_found found;

	for (map = first_link_map(); map; map = map->l_next) {
		/* Its dynamic section lies inside of it, wherever else it has gaps. */
		if (!map->l_ld || !look_up((uintptr_t)map->l_ld, &found))
			continue;
		identify(&found);
		store_module(cursor, &found);
		if (!record_end(cursor))
			return;
		add(&found, current_generation());
		modules.from_start = modules.count;
	}
}

bool modules_is_from_start(uintptr_t inside)
{
	for (uint32_t i = 0; i < modules.from_start; i++)
		if (inside - modules.list[i].start < modules.list[i].end - modules.list[i].start)
			return !modules.list[i].is_gone;
	return false;
}
