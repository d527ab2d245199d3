/*
 * See harvest.h. A trace is told from an older one by its file, not by its name:
 * a pid may come again, and then the older one was renamed.
 */
#include "cmd/harvest.h"

#include "trace/fold.h"
#include "util/error.h"
#include "util/memory.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_trace_name(const char *name)
{
	size_t length = strlen(name);

	return name[0] != '.' && length > 6 && !strcmp(name + length - 6, ".trace");
}

void harvest_find_older(const char *folder, struct harvest_older *older)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct stat st;

		if (!is_trace_name(entry->d_name) || fstatat(dirfd(dir), entry->d_name, &st, 0))
			continue;
		MEMORY_ROOM(older->files, older->count);
		older->files[older->count++] = st.st_ino;
	}
	if (dir)
		closedir(dir);
}

static bool is_older(const struct harvest_older *older, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	for (size_t i = 0; i < older->count; i++)
		if (older->files[i] == st.st_ino)
			return true;
	return false;
}

static void take_trace(char *path, struct harvest *harvest)
{
	struct error err = { .offset = ERROR_NO_OFFSET };
	int result = trace_fold(path, &err);
	struct stat st;

	if (result < 0)
		error_print(&err, "memprof run");
	MEMORY_ROOM(harvest->paths, harvest->traces);
	harvest->paths[harvest->traces++] = path;
	harvest->running += result == FOLD_RUNNING;
	if (!stat(path, &st))
		harvest->bytes += (double)st.st_blocks * 512;
}

void harvest_release(struct harvest *harvest)
{
	for (size_t i = 0; i < harvest->traces; i++)
		free(harvest->paths[i]);
	free(harvest->paths);
}

struct harvest harvest_take(const char *folder, const struct harvest_older *older)
{
	struct harvest harvest = { 0 };
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *path;

		if (!is_trace_name(entry->d_name))
			continue;
		path = memory_format("%s/%s", folder, entry->d_name);
		if (!is_older(older, path)) {
			take_trace(path, &harvest);
			continue;
		}
		harvest.older++;
		free(path);
	}
	if (dir)
		closedir(dir);
	return harvest;
}
