/*
 * See object_file.h. The places are those that gdb and elfutils know, in their
 * order; folders given by the user come first.
 */
#include "symbolize/object_file.h"

#include "symbolize/debuginfod.h"
#include "symbolize/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

/* One search: what is wanted, and who is told where we looked. */
struct search {
	const struct object_query *query;
	object_note_path note;
	void *context;
	const uint8_t *build_id;     /* of the module: from the trace, or its own */
	unsigned build_id_bytes;
	uint8_t own_id[64];
};

/* ---- one file ---------------------------------------------------------------- */

bool object_has_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type == SHT_NOBITS || !shdr.sh_size)
			continue;
		found = elf_strptr(elf, names, shdr.sh_name);
		if (found && !strcmp(found, name))
			return true;
	}
	return false;
}

static Elf_Data *section_data(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, names, shdr.sh_name);
		if (found && !strcmp(found, name))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

static bool has_dwarf(Elf *elf)
{
	return object_has_section(elf, ".debug_info") || object_has_section(elf, ".zdebug_info");
}

static unsigned build_id_in_notes(Elf_Data *data, uint8_t *id, unsigned room)
{
	size_t at = 0, name, description;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((char *)data->d_buf + name, "GNU", 4))
			continue;
		if (note.n_descsz > room)
			return 0;
		memcpy(id, (char *)data->d_buf + description, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

unsigned object_build_id(Elf *elf, uint8_t *id, unsigned room)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	GElf_Phdr phdr;
	unsigned bytes = 0;
	size_t count;

	while (!bytes && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_type == SHT_NOTE)
			bytes = build_id_in_notes(elf_getdata(section, NULL), id, room);
	if (bytes || elf_getphdrnum(elf, &count))
		return bytes;
	/* Without a section table (packed, or cut off) the segments still tell. */
	for (size_t i = 0; !bytes && i < count; i++)
		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_NOTE)
			bytes = build_id_in_notes(
				elf_getdata_rawchunk(elf, (int64_t)phdr.p_offset, phdr.p_filesz,
						     phdr.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
				id, room);
	return bytes;
}

static void object_file_clear(struct object_file *file)
{
	file->elf = NULL;
	file->fd = -1;
	file->memory = NULL;
	file->path[0] = 0;
}

void object_file_close(struct object_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->memory);
	object_file_clear(file);
}

/* zstd is beyond libelf: such a file is replaced by an image in memory. */
static void make_readable(struct object_file *file)
{
	size_t bytes;
	void *image = inflate_zstd_sections(file->elf, &bytes);
	Elf *elf = image ? elf_memory(image, bytes) : NULL;

	if (!elf) {
		free(image);
		return;
	}
	elf_end(file->elf);
	file->elf = elf;
	file->memory = image;
}

bool object_file_open(struct object_file *file, const char *path)
{
	struct stat st;

	object_file_clear(file);
	elf_version(EV_CURRENT);
	/* Never wait for a pipe or touch a device that lies at a module's path. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0 || fstat(file->fd, &st) || !S_ISREG(st.st_mode)) {
		object_file_close(file);
		return false;
	}
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF) {
		object_file_close(file);
		return false;
	}
	make_readable(file);
	return true;
}

/* ---- is it the right one? ------------------------------------------------------ */

static bool has_build_id(Elf *elf, const uint8_t *id, unsigned bytes)
{
	uint8_t own[64];

	return bytes && object_build_id(elf, own, sizeof(own)) == bytes && !memcmp(own, id, bytes);
}

static bool is_the_module(const struct object_file *file, const struct object_query *query)
{
	struct stat st;

	if (query->build_id_bytes)
		return has_build_id(file->elf, query->build_id, query->build_id_bytes);
	if (fstat(file->fd, &st))
		return false;
	if (query->file_bytes && (uint64_t)st.st_size != query->file_bytes)
		return false;
	return !query->mtime_ns || query->mtime_ns == (uint64_t)st.st_mtim.tv_sec * 1000000000ull +
						      (uint64_t)st.st_mtim.tv_nsec;
}

static bool has_checksum(const struct object_file *file, uint32_t wanted)
{
	struct stat st;
	const uint8_t *bytes;
	uLong sum = crc32(0, NULL, 0);

	if (file->fd < 0 || fstat(file->fd, &st) || !st.st_size)
		return false;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file->fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	for (off_t at = 0; at < st.st_size; at += 1 << 30) {
		off_t rest = st.st_size - at;

		sum = crc32(sum, bytes + at, (uInt)(rest < 1 << 30 ? rest : 1 << 30));
	}
	munmap((void *)bytes, (size_t)st.st_size);
	return sum == wanted;
}

/* ---- the module ------------------------------------------------------------------ */

/* Tries one place for the module. true: the search is over. */
static bool try_module(struct object_files *files, const struct search *search, const char *root)
{
	const struct object_query *query = search->query;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s", root, query->path) >= (int)sizeof(path))
		return false;
	search->note(search->context, path);
	if (!object_file_open(&files->module, path)) {
		if (access(path, F_OK) == 0 && files->state == OBJECT_MISSING)
			files->state = OBJECT_UNREADABLE;
		return false;
	}
	if (is_the_module(&files->module, query)) {
		files->state = OBJECT_FOUND;
		return true;
	}
	object_file_close(&files->module);
	files->state = OBJECT_CHANGED;
	return false;
}

static void find_module(struct object_files *files, const struct search *search)
{
	const struct object_query *query = search->query;
	char root[64];

	files->state = OBJECT_MISSING;
	if (query->path[0] != '/')
		return;
	if (query->sysroot && query->sysroot[0] && try_module(files, search, query->sysroot))
		return;
	if (query->pid) {
		snprintf(root, sizeof(root), "/proc/%llu/root", (unsigned long long)query->pid);
		if (access(root, F_OK) == 0 && try_module(files, search, root))
			return;
	}
	/* With a sysroot, this machine's file of that name counts only if it
	 * proves to be the same one. */
	if (!query->sysroot || !query->sysroot[0] || query->build_id_bytes)
		try_module(files, search, "");
}

/* ---- its debug file ----------------------------------------------------------------- */

enum debug_check { CHECK_BUILD_ID, CHECK_CHECKSUM };

/* Tries one debug file. One with a build-id must have the right one; one
 * without is believed on the word of a matching checksum only. */
static bool try_debug(struct object_file *file, const struct search *search,
		      enum debug_check check, uint32_t checksum, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static bool try_debug(struct object_file *file, const struct search *search,
		      enum debug_check check, uint32_t checksum, const char *format, ...)
{
	char path[PATH_MAX];
	uint8_t id[64];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (length < 0 || length >= (int)sizeof(path))
		return false;
	search->note(search->context, path);
	if (!object_file_open(file, path))
		return false;
	if (has_build_id(file->elf, search->build_id, search->build_id_bytes))
		return true;
	if (check == CHECK_CHECKSUM && has_checksum(file, checksum) &&
	    !(search->build_id_bytes && object_build_id(file->elf, id, sizeof(id))))
		return true;
	object_file_close(file);
	return false;
}

static void hex(char *text, const uint8_t *bytes, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* DIR/.build-id/ab/cdef.debug in all folders; then @file is open. */
static bool find_by_build_id(struct object_file *file, const struct search *search,
			     const uint8_t *id, unsigned bytes)
{
	const struct object_query *query = search->query;
	struct search wanted = *search;
	char text[2 * 64 + 1];

	if (bytes < 2 || bytes > 64)
		return false;
	wanted.build_id = id;
	wanted.build_id_bytes = bytes;
	hex(text, id, bytes);
	for (size_t i = 0; query->debug_dirs && query->debug_dirs[i]; i++) {
		const char *dir = query->debug_dirs[i];

		if (try_debug(file, &wanted, CHECK_BUILD_ID, 0, "%s/.build-id/%.2s/%s.debug", dir,
			      text, text + 2) ||
		    try_debug(file, &wanted, CHECK_BUILD_ID, 0, "%s/%.2s/%s.debug", dir, text,
			      text + 2))
			return true;
	}
	if (query->sysroot && query->sysroot[0] &&
	    try_debug(file, &wanted, CHECK_BUILD_ID, 0,
		      "%s" SYSTEM_DEBUG_DIR "/.build-id/%.2s/%s.debug", query->sysroot, text,
		      text + 2))
		return true;
	return try_debug(file, &wanted, CHECK_BUILD_ID, 0,
			 SYSTEM_DEBUG_DIR "/.build-id/%.2s/%s.debug", text, text + 2);
}

/* .gnu_debuglink: a file name, zeros up to a multiple of 4, a CRC-32. */
static bool read_debuglink(Elf *elf, char *name, size_t room, uint32_t *checksum)
{
	Elf_Data *data = section_data(elf, ".gnu_debuglink");
	size_t length, at;

	if (!data || !data->d_buf)
		return false;
	length = strnlen(data->d_buf, data->d_size);
	at = (length + 4) & ~(size_t)3;
	if (!length || length >= room || at + 4 > data->d_size || strchr(data->d_buf, '/'))
		return false;
	memcpy(name, data->d_buf, length + 1);
	memcpy(checksum, (char *)data->d_buf + at, 4);
	return true;
}

static void folder_of(const char *path, char *folder, size_t room)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;

	snprintf(folder, room, "%.*s", (int)length, path);
}

static bool find_by_link(struct object_files *files, const struct search *search)
{
	const struct object_query *query = search->query;
	struct object_file *file = &files->debug;
	char *link = files->debuglink, beside[PATH_MAX], folder[PATH_MAX];
	const char *root = query->sysroot ? query->sysroot : "";
	uint32_t sum;

	if (!read_debuglink(files->module.elf, link, sizeof(files->debuglink), &sum))
		return false;
	folder_of(files->module.path, beside, sizeof(beside));
	folder_of(query->path, folder, sizeof(folder));
	for (size_t i = 0; query->debug_dirs && query->debug_dirs[i]; i++) {
		const char *dir = query->debug_dirs[i];

		if (try_debug(file, search, CHECK_CHECKSUM, sum, "%s%s/%s", dir, folder, link) ||
		    try_debug(file, search, CHECK_CHECKSUM, sum, "%s/%s", dir, link))
			return true;
	}
	return try_debug(file, search, CHECK_CHECKSUM, sum, "%s/%s", beside, link) ||
	       try_debug(file, search, CHECK_CHECKSUM, sum, "%s/.debug/%s", beside, link) ||
	       (*root && try_debug(file, search, CHECK_CHECKSUM, sum,
				   "%s" SYSTEM_DEBUG_DIR "%s/%s", root, folder, link)) ||
	       try_debug(file, search, CHECK_CHECKSUM, sum, SYSTEM_DEBUG_DIR "%s/%s", folder, link);
}

/* A folder given by the user may simply hold the unstripped file. */
static bool find_by_name(struct object_files *files, const struct search *search)
{
	const struct object_query *query = search->query;
	const char *slash = strrchr(query->path, '/'), *name = slash ? slash + 1 : query->path;
	struct object_file *file = &files->debug;

	for (size_t i = 0; query->debug_dirs && query->debug_dirs[i]; i++) {
		const char *dir = query->debug_dirs[i];

		if (try_debug(file, search, CHECK_BUILD_ID, 0, "%s/%s.debug", dir, name) ||
		    try_debug(file, search, CHECK_BUILD_ID, 0, "%s/%s", dir, name) ||
		    try_debug(file, search, CHECK_BUILD_ID, 0, "%s%s.debug", dir, query->path) ||
		    try_debug(file, search, CHECK_BUILD_ID, 0, "%s%s", dir, query->path))
			return true;
	}
	return false;
}

static bool find_by_debuginfod(struct object_file *file, const struct search *search)
{
	char path[PATH_MAX];

	return search->query->debuginfod &&
	       debuginfod_fetch(search->build_id, search->build_id_bytes, path, sizeof(path)) &&
	       try_debug(file, search, CHECK_BUILD_ID, 0, "%s", path);
}

static void find_debug(struct object_files *files, const struct search *search)
{
	struct object_file *file = &files->debug;

	if (files->module.elf && has_dwarf(files->module.elf))
		return;
	if (find_by_build_id(file, search, search->build_id, search->build_id_bytes) ||
	    (files->module.elf && find_by_link(files, search)) || find_by_name(files, search))
		return;
	find_by_debuginfod(file, search);
}

/* ---- the rest --------------------------------------------------------------------------- */

const struct object_file *object_files_dwarf(const struct object_files *files)
{
	if (files->debug.elf && has_dwarf(files->debug.elf))
		return &files->debug;
	return files->module.elf && has_dwarf(files->module.elf) ? &files->module : NULL;
}

static uint64_t file_bytes(const struct object_file *file)
{
	size_t bytes = 0;

	if (file->elf)
		elf_rawfile(file->elf, &bytes);
	return bytes;
}

uint64_t object_files_bytes(const struct object_files *files)
{
	return file_bytes(&files->module) + file_bytes(&files->debug) +
	       file_bytes(&files->alternate) + file_bytes(&files->mini);
}

/* .gnu_debugaltlink: a path, a zero, a build-id. */
static void find_alternate(struct object_files *files, const struct search *search)
{
	const struct object_file *from = object_files_dwarf(files);
	Elf_Data *data = from ? section_data(from->elf, ".gnu_debugaltlink") : NULL;
	const char *root = search->query->sysroot ? search->query->sysroot : "";
	struct object_file *file = &files->alternate;
	struct search wanted = *search;
	char folder[PATH_MAX];
	const char *name;
	size_t length;

	if (!data || !data->d_buf)
		return;
	name = data->d_buf;
	length = strnlen(name, data->d_size);
	if (!length || length + 1 >= data->d_size || data->d_size - length - 1 > 64)
		return;
	wanted.build_id = (const uint8_t *)name + length + 1;
	wanted.build_id_bytes = (unsigned)(data->d_size - length - 1);
	folder_of(from->path, folder, sizeof(folder));
	if (name[0] == '/' ?
	    (*root && try_debug(file, &wanted, CHECK_BUILD_ID, 0, "%s%s", root, name)) ||
	    try_debug(file, &wanted, CHECK_BUILD_ID, 0, "%s", name) :
	    try_debug(file, &wanted, CHECK_BUILD_ID, 0, "%s/%s", folder, name))
		return;
	if (!find_by_build_id(file, &wanted, wanted.build_id, wanted.build_id_bytes) &&
	    !find_by_debuginfod(file, &wanted))
		files->alternate_missing = true;
}

/* NAME.dwp lies beside NAME, and NAME is the module or its debug file. */
static bool try_package(const char *stem, object_note_path note, void *context, char *path,
			size_t room)
{
	if (!stem[0] || snprintf(path, room, "%s.dwp", stem) >= (int)room)
		return false;
	note(context, path);
	return access(path, R_OK) == 0;
}

bool object_find_package(const struct object_files *files, const struct object_query *query,
			 object_note_path note, void *context, char *path, size_t room)
{
	const char *slash = strrchr(query->path, '/'), *name = slash ? slash + 1 : query->path;
	char stem[PATH_MAX];

	for (size_t i = 0; query->debug_dirs && query->debug_dirs[i]; i++) {
		if (snprintf(stem, sizeof(stem), "%s/%s", query->debug_dirs[i], name) <
			    (int)sizeof(stem) &&
		    try_package(stem, note, context, path, room))
			return true;
	}
	return try_package(files->module.path, note, context, path, room) ||
	       try_package(files->debug.path, note, context, path, room);
}

static void open_mini(struct object_files *files)
{
	Elf_Data *data = files->module.elf ? section_data(files->module.elf, ".gnu_debugdata") :
					     NULL;
	size_t bytes;

	if (!data || !data->d_buf)
		return;
	files->mini.memory = inflate_xz(data->d_buf, data->d_size, &bytes);
	if (!files->mini.memory)
		return;
	files->mini.elf = elf_memory(files->mini.memory, bytes);
	if (files->mini.elf && elf_kind(files->mini.elf) != ELF_K_ELF)
		object_file_close(&files->mini);
}

void object_files_open(struct object_files *files, const struct object_query *query,
		       object_note_path note, void *context)
{
	struct search search = { .query = query, .note = note, .context = context,
				 .build_id = query->build_id,
				 .build_id_bytes = query->build_id_bytes };

	memset(files, 0, sizeof(*files));
	object_file_clear(&files->module);
	object_file_clear(&files->debug);
	object_file_clear(&files->alternate);
	object_file_clear(&files->mini);
	find_module(files, &search);
	if (!search.build_id_bytes && files->module.elf) {
		search.build_id = search.own_id;
		search.build_id_bytes = object_build_id(files->module.elf, search.own_id,
							sizeof(search.own_id));
	}
	find_debug(files, &search);
	find_alternate(files, &search);
	open_mini(files);
}

void object_files_close(struct object_files *files)
{
	object_file_close(&files->mini);
	object_file_close(&files->alternate);
	object_file_close(&files->debug);
	object_file_close(&files->module);
}
