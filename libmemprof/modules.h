/*
 * The modules (program, shared libraries, vdso) that places in the code lie
 * in. All that are loaded at the start are written into the header piece; later
 * ones when the first place inside them gets its id. Never takes the loader's
 * lock: everything is told by _dl_find_object.
 */
#ifndef LIBMEMPROF_MODULES_H
#define LIBMEMPROF_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <link.h>

struct record_cursor;

#define MODULE_BUILD_ID_MAX 64

/* What the loader knows of one module, and what its image in memory says. */
struct module_found {
	uintptr_t start, end, bias;
	const char *name;            /* the loader's; "" = the program */
	const ElfW(Dyn) *dynamic;
	uint64_t identity;           /* hash of name, build-id and bias */
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	size_t build_id_bytes;
	size_t first_page_bytes;     /* of the file's start, as they lie in memory */
};

/* The module that @pc lies in now. Any thread, no lock. */
bool module_find(uintptr_t pc, struct module_found *found);

/* A path that its file can be opened by, when it is still there: for the program
 * itself, however it was replaced or removed, /proc/self/exe. */
void module_path(const struct module_found *found, char *path, size_t room);

/* Room that module_note_pc may use: MODULE_GONE and MODULE. */
#define MODULE_RECORDS_MAX 4608

/*
 * To be called with the address of each fresh place in the code, before its PC
 * record is written. Returns 0 when the module is known to the readers already
 * (nearly always), else the bytes of the records (EXTENDED, without time) that
 * it stored at @out, which must be written before the PC record. @out has room
 * for MODULE_RECORDS_MAX bytes. Any thread; system calls for a new module only.
 */
size_t module_note_pc(uintptr_t pc, uint8_t *out);

/* The loader may be changing the set of modules: everything known about those
 * that can go is looked at anew when a place in them comes by. Cheap: hooks call
 * it whenever their caller lies in the loader. */
void modules_changed(void);

/* Does @inside lie in a module that was there when the trace began? Those stay as
 * long as the program does. Any thread. */
bool modules_is_from_start(uintptr_t inside);

/* For process.c: forgets all (a new trace begins); stores the modules loaded
 * now at @cursor, as many as fit (the others come by module_note_pc). Only while
 * the process has one thread. */
void modules_restart(void);
void modules_store_loaded(struct record_cursor *cursor);

#endif
