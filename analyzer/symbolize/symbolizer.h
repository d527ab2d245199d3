/*
 * From addresses to names. Addresses are handed in as one batch; each module is
 * opened once, its addresses sorted, its debug information read once. libdw
 * stands behind symbolize_dw.c, libdwarf behind symbolize_dwarf.c; nobody else
 * sees either.
 */
#ifndef ANALYZER_SYMBOLIZE_SYMBOLIZER_H
#define ANALYZER_SYMBOLIZE_SYMBOLIZER_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_frame {
	const char *function;      /* demangled; NULL = not known */
	const char *linkage_name;  /* as in the object; NULL = not known */
	const char *file;          /* full path as the compiler wrote it; NULL = not known */
	uint32_t line;             /* 0 = not known */
	bool is_inlined;           /* into the frame that follows */
};

/* The frames at one address, innermost first, at least one (maybe without
 * names). Equal frames and chains of frames are there once. Strings and frames
 * belong to the symbolizer, until it is freed. */
struct symbol_frames {
	const struct symbol_frame *const *frames;
	unsigned count;
};

struct symbolizer_module {
	const char *path;
	const uint8_t *build_id;
	unsigned build_id_bytes;
	uint64_t file_bytes, mtime_ns; /* where there is no build-id: 0 = not known */
	uint64_t bias;
	uint64_t pid;              /* its process: /proc/PID/root is looked into; 0 = no */
};

struct symbolizer_options {
	const char *sysroot;       /* put before module paths; NULL = none */
	const char *const *debug_dirs; /* NULL-terminated, searched first; may be NULL */
	bool no_inlines;
	bool no_demangle;
	bool shorten;
	bool debuginfod;
	const char *cache_folder;  /* NULL = the user's own; "" = no cache */
};

enum symbolizer_source {      /* what a module's names came from */
	SYMBOLIZER_NOTHING, SYMBOLIZER_UNREADABLE, SYMBOLIZER_CHANGED, SYMBOLIZER_MISSING,
	SYMBOLIZER_DYNAMIC_SYMBOLS, SYMBOLIZER_SYMBOLS, SYMBOLIZER_DWARF,
	SYMBOLIZER_SAVED,          /* kept in the trace; the files gave none */
};

struct symbolizer_module_report {
	enum symbolizer_source source;
	char file[1024];           /* where the debug information was found */
	char words[256];           /* why something is missing and what to do; "" = all well */
	size_t addresses, named, with_lines, with_inlines;
};

/* How two readers of DWARF that share no code agree on a module. */
struct symbolizer_check {
	size_t compared;           /* addresses that the second reader knows */
	size_t equal;              /* all frames: function, file's last name, line */
	uint64_t address;          /* of the first difference, in the file's terms */
	char first[512], second[512]; /* what the two say there */
};

struct symbolizer;

/* Copies what @options points to. NULL: no memory. */
struct symbolizer *symbolizer_new(const struct symbolizer_options *options);
void symbolizer_free(struct symbolizer *symbolizer);

/*
 * Resolves @count addresses of one module. An address is in memory terms (its
 * bias is subtracted inside) and is looked up as it is: the caller has taken
 * one off a return address. @frames has room for @count. Not finding names is
 * no error; *@report (may be NULL) says why.
 */
int symbolizer_resolve(struct symbolizer *symbolizer, const struct symbolizer_module *module,
		       const uint64_t *addresses, size_t count, struct symbol_frames *frames,
		       struct symbolizer_module_report *report, struct error *err);

/*
 * Takes names of @module that a trace keeps: one MODULE_NAMES record (form, part
 * and parts as in trace_format.h). They are used where the files tell nothing,
 * or, if they came from DWARF, in place of the files. Damage is passed over.
 */
int symbolizer_add_saved(struct symbolizer *symbolizer, const struct symbolizer_module *module,
			 uint32_t form, uint32_t part, uint32_t parts, const uint8_t *bytes,
			 size_t count, struct error *err);

/*
 * What is known of @addresses of @module (resolved here if need be), packed to be
 * kept in a trace: FRAMES, one zstd frame to be cut into parts. For free().
 */
int symbolizer_pack(struct symbolizer *symbolizer, const struct symbolizer_module *module,
		    const uint64_t *addresses, size_t count, uint8_t **packed, size_t *bytes,
		    struct error *err);

/* As symbolizer_resolve, but compares what is told with what libdwarf says. */
int symbolizer_check(struct symbolizer *symbolizer, const struct symbolizer_module *module,
		     const uint64_t *addresses, size_t count, struct symbolizer_check *check,
		     struct error *err);

#endif
