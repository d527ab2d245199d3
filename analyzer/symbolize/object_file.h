/*
 * Finds the files that tell of one module: the module itself, its debug file,
 * the file that dwz moved common parts to, the small symbol table in
 * .gnu_debugdata. Each is checked to be the right one, by build-id; a module
 * without one by size and time; a debug file without one by the checksum in
 * .gnu_debuglink. A file that can't be checked, or is another, is never used.
 */
#ifndef ANALYZER_SYMBOLIZE_OBJECT_FILE_H
#define ANALYZER_SYMBOLIZE_OBJECT_FILE_H

#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct object_query {
	const char *path;            /* as the traced process knew it */
	const uint8_t *build_id;
	unsigned build_id_bytes;
	uint64_t file_bytes, mtime_ns;
	uint64_t pid;                /* of the traced process, when it may still run; 0 = none */
	const char *sysroot;         /* NULL = none */
	const char *const *debug_dirs; /* NULL-terminated; may be NULL */
	bool debuginfod;
	bool skip_dwarf;             /* symbol tables only */
	bool second_reader;          /* DWARF by libdwarf ... */
	bool dwarf_names;            /* ... and no names but DWARF's: to compare */
};

struct object_file {
	Elf *elf;                    /* NULL: there is none */
	int fd;                      /* -1: in memory */
	void *memory;                /* what elf lies in, when in memory */
	char path[PATH_MAX];
};

enum object_state {
	OBJECT_FOUND,
	OBJECT_MISSING,
	OBJECT_CHANGED,              /* a file is there, but another one */
	OBJECT_UNREADABLE,           /* no ELF file */
};

struct object_files {
	enum object_state state;     /* of the module itself */
	struct object_file module;
	struct object_file debug;    /* where DWARF is, when not in the module */
	struct object_file alternate;/* .gnu_debugaltlink */
	struct object_file mini;     /* .gnu_debugdata */
	bool alternate_missing;
	char debuglink[256];         /* name that the module asks for; "" = none */
};

/* Told of every path that was looked at, found or not. */
typedef void (*object_note_path)(void *context, const char *path);

void object_files_open(struct object_files *files, const struct object_query *query,
		       object_note_path note, void *context);
void object_files_close(struct object_files *files);

/* Opens @path alone, compressed sections made readable. */
bool object_file_open(struct object_file *file, const char *path);
void object_file_close(struct object_file *file);

/* The build-id in @elf; 0 bytes when there is none. */
unsigned object_build_id(Elf *elf, uint8_t *id, unsigned room);

/* Finds the .dwp package of a module whose split DWARF is packed. */
bool object_find_package(const struct object_files *files, const struct object_query *query,
			 object_note_path note, void *context, char *path, size_t room);

/* Has @elf a section of that name with contents? */
bool object_has_section(Elf *elf, const char *name);

/* Bytes of all files that are open. */
uint64_t object_files_bytes(const struct object_files *files);

/* The file whose DWARF is to be read, NULL when there is none. */
const struct object_file *object_files_dwarf(const struct object_files *files);

#endif
