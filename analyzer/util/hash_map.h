/*
 * A map from 64-bit keys to 32-bit values: open addressing, linear probing, at
 * most half full. Keys come out of traces, which strangers write: the hash has
 * a seed of its own in each process, so that nobody can aim for collisions.
 */
#ifndef ANALYZER_UTIL_HASH_MAP_H
#define ANALYZER_UTIL_HASH_MAP_H

#include <stddef.h>
#include <stdint.h>

struct hash_map_slot {
	uint64_t key;
	uint32_t value;
	uint32_t is_used;
};

/* All zero is an empty map. */
struct hash_map {
	struct hash_map_slot *slots;
	size_t mask; /* slots - 1 */
	size_t count;
};

#define HASH_MAP_NONE UINT32_MAX

/* Of this process: [0] is odd. */
extern uint64_t hash_seed[2];

/* A hash of @key under the seed of this process. */
static inline uint64_t hash_u64(uint64_t key)
{
	key = (key ^ hash_seed[1]) * hash_seed[0];
	key ^= key >> 32;
	return key * 0xff51afd7ed558ccd;
}

/* The value of @key, HASH_MAP_NONE where there is none. */
uint32_t hash_map_get(const struct hash_map *map, uint64_t key);
/* Sets the value of @key. */
void hash_map_set(struct hash_map *map, uint64_t key, uint32_t value);
void hash_map_release(struct hash_map *map);

#endif
