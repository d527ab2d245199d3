/*
 * See trace_set.h.
 */
#include "model/trace_set.h"

#include "model/moment.h"
#include "util/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), tail = strlen(suffix);

	return length >= tail && !strcmp(name + length - tail, suffix);
}

/* A regular file that begins like a trace. */
static bool looks_like_trace(int folder, const char *name, struct timespec *modified)
{
	uint32_t magic = 0;
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_trace = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
			pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) &&
			magic == TRACE_PIECE_MAGIC;

	if (is_trace && modified)
		*modified = st.st_mtim;
	if (fd >= 0)
		close(fd);
	return is_trace;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

/* ---- folders ---- */

struct folder_walk {
	void (*take)(void *context, const char *name, const struct timespec *modified);
	void *context;
};

/* Hidden files are companions; NAME.old is what an earlier run left. */
static int folder_each_trace(const char *path, const struct folder_walk *walk)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	struct timespec modified;

	if (!folder)
		return -errno;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.' || has_suffix(entry->d_name, ".old"))
			continue;
		if (looks_like_trace(dirfd(folder), entry->d_name, &modified))
			walk->take(walk->context, entry->d_name, &modified);
	}
	closedir(folder);
	return 0;
}

struct newest {
	const char *folder;
	char *path;
	struct timespec modified;
};

static void newest_take(void *context, const char *name, const struct timespec *modified)
{
	struct newest *newest = context;

	if (newest->path && !is_later(modified, &newest->modified))
		return;
	free(newest->path);
	newest->path = strcmp(newest->folder, ".") ?
			       memory_format("%s/%s", newest->folder, name) :
			       memory_string(name);
	newest->modified = *modified;
}

/* A folder made by `memprof run` is as new as the newest trace in it. */
static void newest_take_folder(struct newest *best, const char *name)
{
	struct newest inner = { .folder = name };
	struct folder_walk walk = { newest_take, &inner };

	if (folder_each_trace(name, &walk) || !inner.path)
		return;
	if (!best->path || is_later(&inner.modified, &best->modified)) {
		free(best->path);
		best->path = memory_string(name);
		best->modified = inner.modified;
	}
	free(inner.path);
}

char *trace_set_newest(const char *path)
{
	struct newest best = { .folder = path };
	struct folder_walk walk = { newest_take, &best };
	DIR *folder = opendir(path);
	struct dirent *entry;

	folder_each_trace(path, &walk);
	while (folder && (entry = readdir(folder))) {
		char *inner;

		if (strncmp(entry->d_name, "memprof.", 8))
			continue;
		inner = strcmp(path, ".") ? memory_format("%s/%s", path, entry->d_name) :
					    memory_string(entry->d_name);
		if (is_folder(inner))
			newest_take_folder(&best, inner);
		free(inner);
	}
	if (folder)
		closedir(folder);
	return best.path;
}

/* ---- words ---- */

int trace_word_split(const char *word, char **path, const char **when, struct error *err)
{
	const char *at = strrchr(word, '@');

	*when = NULL;
	*path = memory_string(word);
	if (!at || access(word, F_OK) == 0)
		return 0;
	if (at == word || !at[1]) {
		free(*path);
		return error_set(err, ERROR_USAGE, word, ERROR_NO_OFFSET,
				 "is no file, and no TRACE@WHEN");
	}
	(*path)[at - word] = '\0';
	*when = at + 1;
	return 0;
}

static int set_add(struct trace_set *set, const char *path, const char *when, struct error *err)
{
	struct trace_set_member member = { .when.kind = MOMENT_END };
	int status = trace_open(path, &member.trace, err);

	if (!status && when)
		status = moment_parse(member.trace, when, &member.when, err);
	if (status) {
		if (member.trace)
			trace_close(member.trace);
		return status;
	}
	MEMORY_ROOM(set->members, set->count);
	set->members[set->count++] = member;
	return 0;
}

struct folder_list {
	char **paths;
	size_t count;
	const char *folder;
};

static void list_take(void *context, const char *name, const struct timespec *modified)
{
	struct folder_list *list = context;

	(void)modified;
	MEMORY_ROOM(list->paths, list->count);
	list->paths[list->count++] = memory_format("%s/%s", list->folder, name);
}

static int compare_start(const void *a, const void *b)
{
	const struct trace *x = ((const struct trace_set_member *)a)->trace;
	const struct trace *y = ((const struct trace_set_member *)b)->trace;

	if (x->info.start_unix_ns != y->info.start_unix_ns)
		return x->info.start_unix_ns < y->info.start_unix_ns ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* One damaged file must not hide the others: it is named and passed over. */
static int set_add_folder(struct trace_set *set, const char *path, const char *when,
			  struct error *err)
{
	struct folder_list list = { .folder = path };
	struct folder_walk walk = { list_take, &list };
	size_t first = set->count;
	int status = folder_each_trace(path, &walk);

	if (status)
		return error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "can't be read: %s",
				 strerror(-status));
	for (size_t i = 0; i < list.count; i++) {
		if (set_add(set, list.paths[i], when, err) && when)
			status = ERROR_USAGE;
		free(list.paths[i]);
	}
	free(list.paths);
	if (status && set->count == first)
		return status;
	if (set->count == first)
		return error_set(err, ERROR_NOT_FOUND, path, ERROR_NO_OFFSET,
				 "no trace in this folder");
	qsort(set->members + first, set->count - first, sizeof(*set->members), compare_start);
	set->from_folder = true;
	return 0;
}

static int set_add_word(struct trace_set *set, const char *word, struct error *err)
{
	char *path;
	const char *when;
	int status = trace_word_split(word, &path, &when, err);

	if (status)
		return status;
	status = is_folder(path) ? set_add_folder(set, path, when, err) :
				   set_add(set, path, when, err);
	free(path);
	return status;
}

static int set_add_newest(struct trace_set *set, struct error *err)
{
	char *path = trace_set_newest(".");
	int status;

	if (!path)
		return error_set(err, ERROR_NOT_FOUND, NULL, ERROR_NO_OFFSET,
				 "no trace here: name one, or make one with "
				 "\"memprof run PROGRAM\"");
	set->name = path;
	status = set_add_word(set, path, err);
	return status;
}

int trace_set_open(const char *const *words, size_t count, struct trace_set *set,
		   struct error *err)
{
	int status = 0;

	*set = (struct trace_set){ 0 };
	if (!count)
		status = set_add_newest(set, err);
	for (size_t i = 0; !status && i < count; i++) {
		status = set_add_word(set, words[i], err);
		if (!set->name)
			set->name = memory_string(words[i]);
	}
	if (status)
		trace_set_close(set);
	return status;
}

void trace_set_close(struct trace_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		trace_close(set->members[i].trace);
	free(set->members);
	free(set->name);
	*set = (struct trace_set){ 0 };
}
