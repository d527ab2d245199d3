/*
 * What a diff is to find, and not to find:
 *
 *	diff_sites MIB
 *
 * Twelve sites that hold 16 KiB to 1 MiB in blocks of 24 to 4096 bytes; `large`
 * holds MIB in blocks of 1000 bytes, `grows` 5 MiB in blocks of 200. Snapshot
 * "before". Then half of the blocks of the twelve are freed and allocated again,
 * and `grows` gets a tenth more. Snapshot "after".
 */
#include <stdlib.h>

#include "memprof/memprof.h"

#define MIB (1u << 20)
#define SITES 12

struct list {
	struct list *next;
};

static struct list *kept[SITES + 2];

#define SITE(number)                                                                               \
	static void *__attribute__((noinline)) site_##number(size_t bytes)                         \
	{                                                                                          \
		void *block = malloc(bytes);                                                       \
		__asm__ volatile("# " #number : : "r"(block) : "memory"); /* unlike the others */ \
		return block;                                                                      \
	}
SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5) SITE(6) SITE(7) SITE(8) SITE(9) SITE(10) SITE(11)
SITE(large) SITE(grows)

static const struct {
	void *(*allocate)(size_t bytes);
	size_t block, total;
} sites[SITES] = {
	{ site_0, 24, 16 << 10 },   { site_1, 4096, 64 << 10 }, { site_2, 100, 128 << 10 },
	{ site_3, 333, 256 << 10 }, { site_4, 48, 1 << 20 },    { site_5, 2000, 1 << 20 },
	{ site_6, 64, 32 << 10 },   { site_7, 1024, 48 << 10 }, { site_8, 150, 512 << 10 },
	{ site_9, 720, 96 << 10 },  { site_10, 32, 200 << 10 }, { site_11, 3000, 700 << 10 },
};

static void keep(int place, void *(*allocate)(size_t bytes), size_t block, size_t total)
{
	for (size_t i = 0; i < total / block; i++) {
		struct list *item = allocate(block);

		item->next = kept[place];
		kept[place] = item;
	}
}

static void replace_half(int place)
{
	size_t freed = 0;

	for (struct list **at = &kept[place]; *at && (*at)->next; at = &(*at)->next) {
		struct list *old = *at;

		*at = old->next;
		free(old);
		freed += sites[place].block;
	}
	keep(place, sites[place].allocate, sites[place].block, freed);
}

int main(int argc, char **argv)
{
	size_t mib = argc > 1 ? (size_t)atol(argv[1]) : 50;

	for (int i = 0; i < SITES; i++)
		keep(i, sites[i].allocate, sites[i].block, sites[i].total);
	keep(SITES, site_large, 1000, mib * MIB);
	keep(SITES + 1, site_grows, 200, 5 * MIB);
	memprof_snapshot("before");
	for (int i = 0; i < SITES; i++)
		replace_half(i);
	keep(SITES + 1, site_grows, 200, 5 * MIB / 10);
	memprof_snapshot("after");
	return kept[0] == NULL;
}
