/*
 * See memory_map.h. smaps is a line for each mapping and lines "Name: N kB"
 * below it; those wanted are a table.
 */
#include "model/memory_map.h"

#include "util/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const memory_category_names[MEMORY_CATEGORIES] = {
	"heap",   "arenas",       "anonymous", "thread stacks", "main stack", "code",
	"globals", "mapped files", "shared",    "named",         "memprof",    "kernel",
};

const char *const memory_category_words[MEMORY_CATEGORIES] = {
	"[heap]: what malloc took by brk",
	"malloc's arenas of other threads",
	"anonymous mappings: large blocks of malloc, and the program's own",
	"stacks of threads",
	"stack of the main thread",
	"code, from files",
	"pages of files that the process has changed: globals, relocations",
	"pages of files, unchanged: constants, mapped data",
	"memory shared with others",
	"anonymous mappings that the program has named",
	"buffers of memprof",
	"what the kernel maps",
};

/* The lines that are wanted, and where they go. */
static const struct field {
	const char *name;
	size_t offset;
} fields[] = {
	{ "Rss:", offsetof(struct memory_mapping, resident) },
	{ "Pss:", offsetof(struct memory_mapping, proportional) },
	{ "Anonymous:", offsetof(struct memory_mapping, anonymous) },
	{ "Swap:", offsetof(struct memory_mapping, swapped) },
	{ "Private_Dirty:", offsetof(struct memory_mapping, private_dirty) },
	{ "Shared_Dirty:", offsetof(struct memory_mapping, shared_dirty) },
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static void take_field(struct memory_mapping *mapping, const char *line)
{
	size_t i;

	for (i = 0; i < FIELDS; i++) {
		size_t length = strlen(fields[i].name);

		if (!strncmp(line, fields[i].name, length)) {
			uint64_t kib = strtoull(line + length, NULL, 10);

			*(uint64_t *)((char *)mapping + fields[i].offset) = kib * 1024;
			return;
		}
	}
}

/* "start-end perms offset dev inode   name"; false: another kind of line. */
static bool take_head(struct memory_mapping *mapping, const char *line)
{
	int name = 0;

	memset(mapping, 0, sizeof(*mapping));
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %*u %n", &mapping->start,
		   &mapping->end, mapping->permissions, &name) != 3 || !name)
		return false;
	mapping->name = line + name;
	return mapping->end > mapping->start;
}

/* ---- categories ------------------------------------------------------------------ */

#define ARENA_BYTES (64ull << 20) /* glibc's HEAP_MAX_SIZE: arenas are aligned to it */
#define GUARD_MAX (64ull << 10)
#define STACK_MIN (16ull << 10)

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

static bool is_companion(const char *name)
{
	const char *base = strrchr(name, '/');

	return base && base[1] == '.' &&
	       (ends_with(name, ".live") || ends_with(name, ".live (deleted)"));
}

/* A small mapping that nobody may touch, right in front. */
static bool has_guard(const struct memory_mapping *before, const struct memory_mapping *mapping)
{
	return before && before->end == mapping->start && starts_with(before->permissions, "---") &&
	       before->end - before->start <= GUARD_MAX;
}

static enum memory_category category_of(const struct memory_mapping *before,
					const struct memory_mapping *mapping)
{
	static const struct { const char *start; enum memory_category category; } by_name[] = {
		{ "[heap]", MEMORY_HEAP },        { "[stack", MEMORY_STACK },
		{ "[anon:", MEMORY_NAMED },       { "[anon_shmem", MEMORY_SHARED },
		{ "[", MEMORY_KERNEL },           { "/dev/shm/", MEMORY_SHARED },
		{ "/memfd:", MEMORY_SHARED },     { "/SYSV", MEMORY_SHARED },
		{ "/dev/zero", MEMORY_SHARED },
	};
	const char *name = mapping->name;
	size_t i;

	if (is_companion(name))
		return MEMORY_MEMPROF;
	if (mapping->permissions[3] == 's')
		return MEMORY_SHARED;
	for (i = 0; i < sizeof(by_name) / sizeof(by_name[0]); i++)
		if (starts_with(name, by_name[i].start))
			return by_name[i].category;
	if (*name)
		return mapping->permissions[2] == 'x' ? MEMORY_CODE : MEMORY_FILE;
	if (mapping->start % ARENA_BYTES == 0 && mapping->end - mapping->start <= ARENA_BYTES)
		return MEMORY_ARENA;
	if (has_guard(before, mapping) && mapping->end - mapping->start >= STACK_MIN)
		return MEMORY_THREAD_STACK;
	return MEMORY_ANONYMOUS;
}

static void sum_up(struct memory_map *map)
{
	size_t i;

	for (i = 0; i < map->count; i++) {
		struct memory_mapping *mapping = &map->mappings[i];
		uint64_t changed = 0;

		mapping->category = category_of(i ? mapping - 1 : NULL, mapping);
		if (mapping->category == MEMORY_CODE || mapping->category == MEMORY_FILE)
			changed = mapping->anonymous < mapping->resident ? mapping->anonymous
									 : mapping->resident;
		map->resident += mapping->resident;
		map->swapped += mapping->swapped;
		map->by_category[MEMORY_FILE_PRIVATE] += changed;
		map->by_category[mapping->category] += mapping->resident - changed;
	}
}

/* ---- the text -------------------------------------------------------------------- */

int memory_map_parse(const char *text, size_t bytes, struct memory_map *map, struct error *err)
{
	char *line, *rest;

	memset(map, 0, sizeof(*map));
	map->names = memory_resize(NULL, bytes + 1, 1);
	memcpy(map->names, text, bytes);
	map->names[bytes] = 0;
	for (line = strtok_r(map->names, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct memory_mapping mapping;

		if (take_head(&mapping, line)) {
			MEMORY_ROOM(map->mappings, map->count);
			map->mappings[map->count++] = mapping;
		} else if (map->count && isupper((unsigned char)*line)) {
			take_field(&map->mappings[map->count - 1], line);
		}
	}
	if (!map->count) {
		memory_map_release(map);
		return error_set(err, ERROR_FORMAT, NULL, ERROR_NO_OFFSET,
				 "a reading of smaps holds no mapping");
	}
	sum_up(map);
	return 0;
}

void memory_map_release(struct memory_map *map)
{
	free(map->mappings);
	free(map->names);
	memset(map, 0, sizeof(*map));
}

uint64_t memory_map_resident_in(const struct memory_map *map, uint64_t start, uint64_t end)
{
	double resident = 0;
	size_t i;

	for (i = 0; i < map->count; i++) {
		const struct memory_mapping *m = &map->mappings[i];
		uint64_t from = start > m->start ? start : m->start;
		uint64_t to = end < m->end ? end : m->end;

		if (from < to && !*m->name && m->permissions[3] == 'p')
			resident += (double)m->resident * (double)(to - from) /
				    (double)(m->end - m->start);
	}
	return (uint64_t)(resident + 0.5);
}
