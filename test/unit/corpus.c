/*
 * See corpus.h.
 */
#include "corpus.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void take_file(const char *path, void (*take)(const uint8_t *bytes, size_t size))
{
	FILE *file = fopen(path, "rb");
	struct stat st;
	uint8_t *bytes;

	if (!file || fstat(fileno(file), &st))
		abort();
	bytes = malloc((size_t)st.st_size);
	if (fread(bytes, 1, (size_t)st.st_size, file) != (size_t)st.st_size)
		abort();
	fclose(file);
	take(bytes, (size_t)st.st_size);
	free(bytes);
}

unsigned corpus_each(const char *name, void (*take)(const uint8_t *bytes, size_t size))
{
	char folder[256], path[600];
	struct dirent *entry;
	unsigned count = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "test/fuzz/corpus/%s", name);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		take_file(path, take);
		count++;
	}
	if (dir)
		closedir(dir);
	return count;
}
