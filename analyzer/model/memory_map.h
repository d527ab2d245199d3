/*
 * The mappings of a process at one moment, as /proc/PID/smaps lists them, put
 * into the categories a person asks for. Sizes are bytes.
 */
#ifndef ANALYZER_MODEL_MEMORY_MAP_H
#define ANALYZER_MODEL_MEMORY_MAP_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where resident memory can be; the order is that of the tables. */
enum memory_category {
	MEMORY_HEAP,          /* [heap], what brk gave */
	MEMORY_ARENA,         /* malloc's arenas of other threads */
	MEMORY_ANONYMOUS,     /* anonymous, by mmap: of malloc for large blocks, or of others */
	MEMORY_THREAD_STACK,  /* anonymous with a guard in front: a thread's stack */
	MEMORY_STACK,         /* [stack] */
	MEMORY_CODE,          /* executable, from files */
	MEMORY_FILE_PRIVATE,  /* of files, changed by the process: relocated and global data */
	MEMORY_FILE,          /* of files, unchanged: constants, mapped data */
	MEMORY_SHARED,        /* shared: shm, memfd, files mapped shared and written */
	MEMORY_NAMED,         /* anonymous with a name given by the program */
	MEMORY_MEMPROF,       /* the companion file of memprof */
	MEMORY_KERNEL,        /* [vdso], [vvar] ... */
	MEMORY_CATEGORIES
};

/* Short names and what they mean, in the order of enum memory_category. */
extern const char *const memory_category_names[MEMORY_CATEGORIES];
extern const char *const memory_category_words[MEMORY_CATEGORIES];

struct memory_mapping {
	uint64_t start, end;
	char permissions[5];
	const char *name;     /* path or [name]; "" = anonymous */
	uint64_t resident, proportional, anonymous, swapped;
	uint64_t private_dirty, shared_dirty;
	enum memory_category category;
};

struct memory_map {
	struct memory_mapping *mappings; /* by address */
	size_t count;
	uint64_t resident;               /* the sum: what the kernel calls RSS */
	uint64_t swapped;
	uint64_t by_category[MEMORY_CATEGORIES]; /* resident; a file mapping's changed pages
						  * count as MEMORY_FILE_PRIVATE */
	char *names;                     /* private */
};

/* Parses the text of smaps. Lines that are not known are passed over; a text
 * without a mapping is an error. @map's contents are the caller's, for
 * memory_map_release. */
int memory_map_parse(const char *text, size_t bytes, struct memory_map *map, struct error *err);
void memory_map_release(struct memory_map *map);

/* Resident bytes of the parts of anonymous private mappings inside [start, end),
 * each mapping's resident bytes taken as spread evenly over it. */
uint64_t memory_map_resident_in(const struct memory_map *map, uint64_t start, uint64_t end);

#endif
