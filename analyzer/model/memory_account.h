/*
 * Where the resident memory of a process went: the mappings of one moment held
 * against the blocks and maps that were live then. The rows add up to RSS.
 */
#ifndef ANALYZER_MODEL_MEMORY_ACCOUNT_H
#define ANALYZER_MODEL_MEMORY_ACCOUNT_H

#include "model/live_set.h"
#include "model/memory_map.h"

enum memory_row {
	ROW_LIVE,            /* blocks of the heap, as asked for */
	ROW_SLACK,           /* what the allocator gave beyond what was asked */
	ROW_FREE,            /* the rest of the heap's resident memory */
	ROW_MAPPED,          /* mapped by the program itself */
	ROW_ANONYMOUS,       /* anonymous memory that nobody explains */
	ROW_THREAD_STACKS,
	ROW_STACK,
	ROW_CODE,
	ROW_GLOBALS,
	ROW_FILES,
	ROW_SHARED,
	ROW_NAMED,
	ROW_MEMPROF,
	ROW_KERNEL,
	MEMORY_ROWS
};

extern const char *const memory_row_names[MEMORY_ROWS];  /* "live blocks", ... */
extern const char *const memory_row_keys[MEMORY_ROWS];   /* "live", ... for JSON and CSV */
extern const char *const memory_row_words[MEMORY_ROWS];

struct memory_account {
	uint64_t time_ns;
	double rows[MEMORY_ROWS];   /* resident bytes */
	double resident;            /* their sum */
	double explained;           /* of it, by call sites: live blocks and own maps */
	double untouched;           /* bytes of live blocks and maps that are not resident */
	double live_bytes, live_count; /* of the heap, resident or not */
	double mapped_bytes;
};

/* @set: live at the moment of @map. @is_libc: the allocator is glibc's, whose
 * slack is known; with another one slack is 0 and anonymous memory is its heap. */
void memory_account_make(const struct memory_map *map, const struct live_set *set, bool is_libc,
			 struct memory_account *account);

#endif
