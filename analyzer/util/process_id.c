/*
 * See process_id.h.
 */
#include "util/process_id.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_proc(pid_t pid, const char *name, char *text, size_t room)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, room - 1);
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = 0;
	return got > 0;
}

uint64_t process_id_start_time(pid_t pid)
{
	char text[4096], *at;

	/* Counted behind the name, which may hold blanks. */
	if (!read_proc(pid, "stat", text, sizeof(text)) || !(at = strrchr(text, ')')))
		return 0;
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

uint64_t process_id_own(pid_t pid)
{
	char text[4096], *line, *last;

	if (!read_proc(pid, "status", text, sizeof(text)) || !(line = strstr(text, "\nNSpid:")))
		return (uint64_t)pid;
	line += 7;
	line[strcspn(line, "\n")] = 0;
	last = strrchr(line, '\t');
	return strtoull(last ? last : line, NULL, 10);
}

static bool is_it(pid_t pid, uint64_t own_pid, uint64_t start_time)
{
	return process_id_start_time(pid) == start_time && process_id_own(pid) == own_pid;
}

bool process_id_lives(uint64_t own_pid, uint64_t start_time)
{
	struct dirent *entry;
	bool found = false;
	DIR *all;

	if (!own_pid || own_pid > INT_MAX || !start_time)
		return false;
	if (is_it((pid_t)own_pid, own_pid, start_time))
		return true;
	all = opendir("/proc");
	while (all && !found && (entry = readdir(all)))
		found = isdigit((unsigned char)entry->d_name[0]) &&
			is_it((pid_t)atoi(entry->d_name), own_pid, start_time);
	if (all)
		closedir(all);
	return found;
}
