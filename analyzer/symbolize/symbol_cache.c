/*
 * See symbol_cache.h. Whether a kept answer still holds is said by the answer
 * itself (its witnesses); here are only files.
 */
#include "symbolize/symbol_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ANSWER_BYTES_MAX ((uint64_t)128 << 20) /* larger ones are not kept */

struct symbol_cache {
	char folder[PATH_MAX];  /* "": none */
	bool is_made;           /* the folder is there and ours */
	bool grew;
};

/* ---- the folder -------------------------------------------------------------- */

static void user_folder(char *folder, size_t room)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	folder[0] = 0;
	if (cache && cache[0] == '/')
		snprintf(folder, room, "%s/memprof/symbols", cache);
	else if (home && home[0] == '/')
		snprintf(folder, room, "%s/.cache/memprof/symbols", home);
}

struct symbol_cache *symbol_cache_new(const char *folder)
{
	struct symbol_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	if (folder)
		snprintf(cache->folder, sizeof(cache->folder), "%s", folder);
	else
		user_folder(cache->folder, sizeof(cache->folder));
	return cache;
}

/* Makes the folder and those above it. A folder of another user (sudo keeps
 * $HOME) is left alone: files of ours would be in that user's way. */
static bool make_folder(struct symbol_cache *cache)
{
	char path[PATH_MAX];
	struct stat st;

	if (cache->is_made || !cache->folder[0])
		return cache->is_made;
	snprintf(path, sizeof(path), "%s", cache->folder);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
	cache->is_made = stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
	if (!cache->is_made)
		cache->folder[0] = 0;
	return cache->is_made;
}

static uint64_t hash_string(uint64_t hash, const char *string)
{
	return XXH3_64bits_withSeed(string ? string : "", string ? strlen(string) : 0, hash + 1);
}

/* false: this module is not kept. */
static bool file_path(const struct symbol_cache *cache, const struct object_query *query,
		      char *path, size_t room)
{
	uint64_t hash = hash_string(query->debuginfod, query->path);
	char id[2 * 64 + 1];

	if (!cache->folder[0] || !query->build_id_bytes || query->build_id_bytes > 64)
		return false;
	hash = hash_string(hash, query->sysroot);
	for (size_t i = 0; query->debug_dirs && query->debug_dirs[i]; i++)
		hash = hash_string(hash, query->debug_dirs[i]);
	for (unsigned i = 0; i < query->build_id_bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", query->build_id[i]);
	return snprintf(path, room, "%s/%s.%016llx", cache->folder, id,
			(unsigned long long)hash) < (int)room;
}

/* ---- one file ------------------------------------------------------------------ */

static bool read_all(int fd, void *bytes, size_t count)
{
	char *at = bytes;

	while (count) {
		ssize_t got = read(fd, at, count);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		count -= (size_t)got;
	}
	return true;
}

static bool write_all(int fd, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count) {
		ssize_t put = write(fd, at, count);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		at += put;
		count -= (size_t)put;
	}
	return true;
}

void *symbol_cache_load(struct symbol_cache *cache, const struct object_query *query,
			size_t *bytes)
{
	char path[PATH_MAX];
	void *block = NULL;
	struct stat st;
	int fd;

	if (!file_path(cache, query, path, sizeof(path)))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    (uint64_t)st.st_size <= ANSWER_BYTES_MAX)
		block = malloc((size_t)st.st_size + 1);
	if (block && read_all(fd, block, (size_t)st.st_size)) {
		*bytes = (size_t)st.st_size;
		futimens(fd, NULL); /* used now: the last to be dropped */
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
	char path[PATH_MAX], draft[PATH_MAX];
	bool is_whole;
	int fd;

	if (bytes > ANSWER_BYTES_MAX || !make_folder(cache) ||
	    !file_path(cache, query, path, sizeof(path)) ||
	    snprintf(draft, sizeof(draft), "%s/.draft.%ld", cache->folder, (long)getpid()) >=
		    (int)sizeof(draft))
		return;
	fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	is_whole = write_all(fd, block, bytes);
	is_whole &= close(fd) == 0;
	if (!is_whole || rename(draft, path))
		unlink(draft);
	cache->grew = true;
}

/* ---- keeping it small -------------------------------------------------------------- */

struct entry {
	char name[256];
	uint64_t bytes;
	struct timespec used;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

static struct entry *list_folder(int folder, size_t *count, uint64_t *total)
{
	DIR *dir = fdopendir(dup(folder));
	struct entry *list = NULL;
	struct dirent *at;
	size_t room = 0;

	*count = 0;
	*total = 0;
	while (dir && (at = readdir(dir))) {
		struct stat st;

		if (fstatat(folder, at->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (*count == room) {
			struct entry *bigger;

			room = room ? room * 2 : 256;
			bigger = realloc(list, room * sizeof(*list));
			if (!bigger)
				break;
			list = bigger;
		}
		snprintf(list[*count].name, sizeof(list[*count].name), "%s", at->d_name);
		list[*count].bytes = (uint64_t)st.st_size;
		list[*count].used = st.st_mtim;
		*total += list[(*count)++].bytes;
	}
	if (dir)
		closedir(dir);
	return list;
}

/* Drops the least recently used down to three quarters, so that this is rare. */
static void shrink_folder(const struct symbol_cache *cache)
{
	int folder = open(cache->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct entry *list;
	uint64_t total;
	size_t count;

	if (folder < 0)
		return;
	list = list_folder(folder, &count, &total);
	if (total > SYMBOL_CACHE_BYTES_MAX) {
		qsort(list, count, sizeof(*list), compare_entries);
		for (size_t i = 0; i < count && total > SYMBOL_CACHE_BYTES_MAX / 4 * 3; i++)
			if (unlinkat(folder, list[i].name, 0) == 0)
				total -= list[i].bytes;
	}
	free(list);
	close(folder);
}

void symbol_cache_free(struct symbol_cache *cache)
{
	if (cache && cache->grew)
		shrink_folder(cache);
	free(cache);
}
