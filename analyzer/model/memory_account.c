/*
 * See memory_account.h. Small blocks are taken as resident. A block of many pages
 * may never have been touched: what is resident of it is estimated from its
 * mapping, as for the program's own maps. What the heap has in resident memory
 * beyond its blocks and their slack is free memory that the allocator keeps.
 */
#include "model/memory_account.h"

#include "model/histogram.h"
#include "model/number.h"

#include <string.h>

/* Blocks from here on may lie in mappings of their own (glibc's mmap threshold). */
#define LARGE_BYTES (128u << 10)

const char *const memory_row_names[MEMORY_ROWS] = {
	"live blocks",  "slack",        "free in the heap", "own mappings", "anonymous, unknown",
	"thread stacks", "main stack",  "code",             "globals",      "files",
	"shared",       "named",        "memprof",          "kernel",
};

const char *const memory_row_keys[MEMORY_ROWS] = {
	"live", "slack", "free", "mapped", "anonymous", "thread_stacks", "main_stack", "code",
	"globals", "files", "shared", "named", "memprof", "kernel",
};

const char *const memory_row_words[MEMORY_ROWS] = {
	"asked for by call sites: memprof-report top-sites",
	"given by the allocator beyond what was asked: memprof-report sizes",
	"kept by the allocator: freed blocks, fragments, its own tables",
	"mapped by call sites: memprof-report top-sites, kind mmap",
	"mapped by others: loader, runtimes, allocator",
	"stacks of threads",
	"stack of the main thread",
	"programs and libraries",
	"global variables and relocations",
	"mapped files, constants of libraries",
	"shared memory",
	"mappings that the program has named",
	"buffers of memprof itself",
	"what the kernel maps",
};

static const struct category_row {
	enum memory_category category;
	enum memory_row row;
} category_rows[] = {
	{ MEMORY_THREAD_STACK, ROW_THREAD_STACKS }, { MEMORY_STACK, ROW_STACK },
	{ MEMORY_CODE, ROW_CODE },                  { MEMORY_FILE_PRIVATE, ROW_GLOBALS },
	{ MEMORY_FILE, ROW_FILES },                 { MEMORY_SHARED, ROW_SHARED },
	{ MEMORY_NAMED, ROW_NAMED },                { MEMORY_MEMPROF, ROW_MEMPROF },
	{ MEMORY_KERNEL, ROW_KERNEL },
};

struct blocks {
	double small_resident, slack;
	double large_resident;  /* in anonymous mappings */
};

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static void add_block(const struct memory_map *map, const struct trace_event *block, bool is_libc,
		      struct blocks *blocks, struct memory_account *account)
{
	struct number weight;
	double resident;

	number_of_sample(block->size, block->rate, &weight);
	account->live_bytes += weight.bytes;
	account->live_count += weight.count;
	if (block->size < LARGE_BYTES) {
		blocks->small_resident += weight.bytes;
		if (is_libc)
			blocks->slack += weight.count * (double)(glibc_usable_bytes(block->size) -
								 block->size);
		return;
	}
	resident = (double)memory_map_resident_in(map, block->address,
						  block->address + block->size);
	blocks->large_resident += smaller(resident, (double)block->size) * weight.count;
}

static double mapped_resident(const struct memory_map *map, const struct live_set *set,
			      struct memory_account *account)
{
	double resident = 0;
	size_t i;

	for (i = 0; i < set->map_count; i++) {
		const struct trace_event *e = &set->maps[i];

		account->mapped_bytes += (double)e->size;
		if (!(e->flags & TRACE_EVENT_BRK))
			resident += (double)memory_map_resident_in(map, e->address,
								   e->address + e->size);
	}
	return resident;
}

void memory_account_make(const struct memory_map *map, const struct live_set *set, bool is_libc,
			 struct memory_account *account)
{
	double anonymous = (double)map->by_category[MEMORY_ANONYMOUS];
	double heap = (double)(map->by_category[MEMORY_HEAP] + map->by_category[MEMORY_ARENA]);
	struct blocks blocks = { 0 };
	double *rows = account->rows;
	size_t i;

	memset(account, 0, sizeof(*account));
	for (i = 0; i < set->count; i++)
		if (set->blocks[i].kind)
			add_block(map, &set->blocks[i], is_libc, &blocks, account);
	rows[ROW_MAPPED] = smaller(mapped_resident(map, set, account), anonymous);
	anonymous -= rows[ROW_MAPPED];
	if (is_libc) {
		/* Large blocks have mappings of their own; the rest is not the heap's. */
		double large = smaller(blocks.large_resident, anonymous);

		rows[ROW_ANONYMOUS] = anonymous - large;
		heap += large;
	} else {
		heap += anonymous;
	}
	rows[ROW_LIVE] = smaller(blocks.small_resident + blocks.large_resident, heap);
	rows[ROW_SLACK] = smaller(blocks.slack, heap - rows[ROW_LIVE]);
	rows[ROW_FREE] = heap - rows[ROW_LIVE] - rows[ROW_SLACK];
	for (i = 0; i < sizeof(category_rows) / sizeof(category_rows[0]); i++)
		rows[category_rows[i].row] = (double)map->by_category[category_rows[i].category];
	for (i = 0; i < MEMORY_ROWS; i++)
		account->resident += rows[i];
	account->explained = rows[ROW_LIVE] + rows[ROW_MAPPED];
	account->untouched = account->live_bytes + account->mapped_bytes - account->explained;
}
