/*
 * The addresses of live sampled blocks: what tells a free that matters from the
 * million that don't. Two layers:
 *
 *   tags   one byte for each granule of 256 bytes, indexed by bits 8 to 31 of
 *          the address (16 MiB, of which a program touches one byte in 256 of
 *          its heap). 0: no sample lies there. The hook looks at nothing else.
 *   set    the addresses themselves, for the few that find a tag.
 *
 * Any thread, signal handlers too; no lock. Adding and removing the same
 * address at the same time doesn't happen: a block is added before the program
 * gets it, and removed before it is given back.
 */
#ifndef LIBMEMPROF_SAMPLED_SET_H
#define LIBMEMPROF_SAMPLED_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLED_TAGS (1u << 24)

extern uint8_t sampled_tags[SAMPLED_TAGS] __attribute__((visibility("hidden")));

static inline uint8_t *sampled_tag(const void *block)
{
	return &sampled_tags[(uint32_t)(uintptr_t)block >> 8];
}

/* false for nearly every block that isn't a live sample, NULL included. */
static inline bool sampled_set_may_hold(const void *block)
{
	return __atomic_load_n(sampled_tag(block), __ATOMIC_RELAXED) != 0;
}

/* Gives the tags' memory its properties (no reservation, no huge pages). Once,
 * early; without it everything works as well. */
void sampled_set_start(void);

/* false: there is no room and no memory for more: the sample can't be kept. */
bool sampled_set_add(const void *block);

/* Was it there? It isn't any more. */
bool sampled_set_remove(const void *block);

/* Tags the granules of [@start, @start + @bytes) for ever. */
void sampled_set_pin(const void *start, size_t bytes);

#endif
