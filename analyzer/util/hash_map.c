/*
 * See hash_map.h. Nothing is ever removed, so there are no tombstones.
 */
#include "util/hash_map.h"

#include "util/memory.h"

#include <stdlib.h>
#include <sys/random.h>

uint64_t hash_seed[2] = {0x9e3779b97f4a7c15, 0xd6e8feb86659fd93};

__attribute__((constructor)) static void draw_seed(void)
{
	uint64_t drawn[2];

	if (getrandom(drawn, sizeof(drawn), GRND_NONBLOCK) == sizeof(drawn)) {
		hash_seed[0] ^= drawn[0] << 1; /* the multiplier stays odd */
		hash_seed[1] ^= drawn[1];
	}
}

static struct hash_map_slot *find(const struct hash_map *map, uint64_t key)
{
	size_t i = hash_u64(key) >> 20 & map->mask;

	while (map->slots[i].is_used && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

uint32_t hash_map_get(const struct hash_map *map, uint64_t key)
{
	struct hash_map_slot *slot;

	if (!map->count)
		return HASH_MAP_NONE;
	slot = find(map, key);
	return slot->is_used ? slot->value : HASH_MAP_NONE;
}

static void grow(struct hash_map *map)
{
	struct hash_map bigger = {.count = map->count};
	size_t old_slots = map->slots ? map->mask + 1 : 0;
	size_t slots = old_slots ? old_slots * 2 : 16;

	bigger.slots = memory_zeroed(slots, sizeof(*bigger.slots));
	bigger.mask = slots - 1;
	for (size_t i = 0; i < old_slots; i++)
		if (map->slots[i].is_used)
			*find(&bigger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = bigger;
}

void hash_map_set(struct hash_map *map, uint64_t key, uint32_t value)
{
	struct hash_map_slot *slot;

	if (!map->slots || map->count * 2 > map->mask)
		grow(map);
	slot = find(map, key);
	map->count += !slot->is_used;
	*slot = (struct hash_map_slot){.key = key, .value = value, .is_used = 1};
}

void hash_map_release(struct hash_map *map)
{
	free(map->slots);
	*map = (struct hash_map){0};
}
