/*
 * See cache_folder.h. A folder of another user (sudo keeps $HOME) is left alone:
 * files of ours would be in that user's way.
 */
#include "util/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void cache_folder_init(struct cache_folder *folder, const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int used = -1;

	*folder = (struct cache_folder){ 0 };
	if (cache && cache[0] == '/')
		used = snprintf(folder->path, PATH_MAX, "%s/memprof/%s", cache, name);
	else if (home && home[0] == '/')
		used = snprintf(folder->path, PATH_MAX, "%s/.cache/memprof/%s", home, name);
	if (used < 0 || used >= PATH_MAX)
		folder->path[0] = 0;
}

static bool folder_make(struct cache_folder *folder)
{
	char path[PATH_MAX];
	struct stat st;

	if (folder->is_made || !folder->path[0])
		return folder->is_made;
	snprintf(path, sizeof(path), "%s", folder->path);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
	folder->is_made = stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
	if (!folder->is_made)
		folder->path[0] = 0;
	return folder->is_made;
}

int cache_folder_open(const struct cache_folder *folder, const char *name, uint64_t *bytes)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (!folder->path[0] ||
	    snprintf(path, sizeof(path), "%s/%s", folder->path, name) >= (int)sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		close(fd);
		return -1;
	}
	futimens(fd, NULL);
	*bytes = (uint64_t)st.st_size;
	return fd;
}

int cache_folder_draft(struct cache_folder *folder, char *draft)
{
	if (!folder_make(folder) ||
	    snprintf(draft, PATH_MAX, "%s/.draft.%ld", folder->path, (long)getpid()) >= PATH_MAX)
		return -1;
	return open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
}

bool cache_folder_settle(const struct cache_folder *folder, const char *draft, int fd,
			 bool is_whole, const char *name)
{
	char path[PATH_MAX];

	is_whole &= close(fd) == 0;
	is_whole = is_whole &&
		   snprintf(path, sizeof(path), "%s/%s", folder->path, name) < (int)sizeof(path) &&
		   rename(draft, path) == 0;
	if (!is_whole)
		unlink(draft);
	return is_whole;
}

/* ---- keeping it small ---- */

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

static struct entry *folder_list(int folder, size_t *count, uint64_t *total)
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

void cache_folder_shrink(const struct cache_folder *folder, uint64_t limit)
{
	int fd = folder->path[0] ? open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct entry *list;
	uint64_t total;
	size_t count;

	if (fd < 0)
		return;
	list = folder_list(fd, &count, &total);
	if (total > limit) {
		qsort(list, count, sizeof(*list), compare_entries);
		for (size_t i = 0; i < count && total > limit / 4 * 3; i++)
			if (unlinkat(fd, list[i].name, 0) == 0)
				total -= list[i].bytes;
	}
	free(list);
	close(fd);
}
