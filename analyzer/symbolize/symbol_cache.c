/*
 * See symbol_cache.h. Whether a kept answer still holds is said by the answer
 * itself (its witnesses); here are only files.
 */
#include "symbolize/symbol_cache.h"

#include "util/cache_folder.h"
#include "util/file_io.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ANSWER_BYTES_MAX ((uint64_t)128 << 20) /* larger ones are not kept */

struct symbol_cache {
	struct cache_folder folder;
	bool grew;
};

struct symbol_cache *symbol_cache_new(const char *folder)
{
	struct symbol_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	if (folder)
		snprintf(cache->folder.path, sizeof(cache->folder.path), "%s", folder);
	else
		cache_folder_init(&cache->folder, "symbols");
	return cache;
}

static uint64_t hash_string(uint64_t hash, const char *string)
{
	return XXH3_64bits_withSeed(string ? string : "", string ? strlen(string) : 0, hash + 1);
}

/* false: this module is not kept. */
static bool file_name(const struct object_query *query, char *name, size_t room)
{
	uint64_t hash = hash_string(query->debuginfod, query->path);
	char id[2 * 64 + 1];

	if (!query->build_id_bytes || query->build_id_bytes > 64)
		return false;
	hash = hash_string(hash, query->sysroot);
	for (size_t i = 0; query->debug_dirs && query->debug_dirs[i]; i++)
		hash = hash_string(hash, query->debug_dirs[i]);
	for (unsigned i = 0; i < query->build_id_bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", query->build_id[i]);
	return snprintf(name, room, "%s.%016llx", id, (unsigned long long)hash) < (int)room;
}

void *symbol_cache_load(struct symbol_cache *cache, const struct object_query *query,
			size_t *bytes)
{
	char name[NAME_MAX];
	void *block = NULL;
	uint64_t size;
	int fd;

	if (!file_name(query, name, sizeof(name)))
		return NULL;
	fd = cache_folder_open(&cache->folder, name, &size);
	if (fd < 0)
		return NULL;
	if (size <= ANSWER_BYTES_MAX)
		block = malloc((size_t)size + 1);
	if (block && file_read_at(fd, block, (size_t)size, 0) == size) {
		*bytes = (size_t)size;
	} else {
		free(block);
		block = NULL;
	}
	close(fd);
	return block;
}

void symbol_cache_store(struct symbol_cache *cache, const struct object_query *query,
			const void *block, size_t bytes)
{
	char name[NAME_MAX], draft[PATH_MAX];
	int fd;

	if (bytes > ANSWER_BYTES_MAX || !file_name(query, name, sizeof(name)))
		return;
	fd = cache_folder_draft(&cache->folder, draft);
	if (fd < 0)
		return;
	cache_folder_settle(&cache->folder, draft, fd, file_write_at(fd, block, bytes, 0),
			    name);
	cache->grew = true;
}

void symbol_cache_free(struct symbol_cache *cache)
{
	if (cache && cache->grew)
		cache_folder_shrink(&cache->folder, SYMBOL_CACHE_BYTES_MAX);
	free(cache);
}
