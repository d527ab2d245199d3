/*
 * A folder of things that can be made again, in the user's cache: files are
 * written beside their place and renamed, so any number of processes can share
 * it; when it holds too much, what was used longest ago goes first. Nothing here
 * is an error: without a folder nothing is kept.
 */
#ifndef ANALYZER_UTIL_CACHE_FOLDER_H
#define ANALYZER_UTIL_CACHE_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache_folder {
	char path[PATH_MAX]; /* "": none */
	bool is_made;        /* it is there and ours */
};

/* $XDG_CACHE_HOME/memprof/@name, else ~/.cache/memprof/@name. */
void cache_folder_init(struct cache_folder *folder, const char *name);

/* The file @name for reading, if it is an ordinary one of this user: its
 * descriptor and size; it counts as used now. -1: there is none. */
int cache_folder_open(const struct cache_folder *folder, const char *name, uint64_t *bytes);

/* Makes the folder and a draft in it, whose path goes to @draft (PATH_MAX). -1:
 * it can't be had. */
int cache_folder_draft(struct cache_folder *folder, char *draft);
/* Closes the draft @fd; under @name it becomes what others find, if @is_whole and
 * the system has kept all of it. Else it goes away. */
bool cache_folder_settle(const struct cache_folder *folder, const char *draft, int fd,
			 bool is_whole, const char *name);

/* Drops files down to three quarters of @limit if they are more than it. */
void cache_folder_shrink(const struct cache_folder *folder, uint64_t limit);

#endif
