/*
 * See perf_map.h. Lines are kept in order and sorted when first asked. Pieces of
 * code may overlap in any way, so the table is cut into spans that do not:
 *
 *	line 1   |-------- a --------|
 *	line 2          |-- b --|
 *	spans    |  a   |   b   |  a |
 */
#include "symbolize/perf_map.h"

#include "util/memory.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)1 << 30)
#define LINES_MAX ((size_t)16 << 20)
#define NAME_BYTES_MAX 4096

struct line {
	uint64_t start, end;
	uint32_t order;
	char *name;
};

struct span {
	uint64_t start;      /* up to the next span's */
	const char *name;    /* NULL: a gap */
};

struct perf_map {
	struct line *lines;
	size_t line_count;
	struct span *spans;
	size_t span_count;
	bool is_sorted;
};

struct perf_map *perf_map_new(void)
{
	return memory_zeroed(1, sizeof(struct perf_map));
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->line_count; i++)
		free(map->lines[i].name);
	free(map->lines);
	free(map->spans);
	free(map);
}

/* ---- reading ------------------------------------------------------------------ */

static const char *take_hex(const char *at, const char *end, uint64_t *value)
{
	const char *start = at;

	*value = 0;
	if (end - at > 2 && at[0] == '0' && at[1] == 'x')
		at += 2;
	for (; at < end && isxdigit((unsigned char)*at) && at - start < 18; at++) {
		unsigned digit = isdigit((unsigned char)*at) ? (unsigned)(*at - '0') :
							       (unsigned)((*at | 32) - 'a' + 10);

		*value = *value << 4 | digit;
	}
	if (at == start || at == end || *at != ' ')
		return NULL;
	return at + 1;
}

static void take_line(struct perf_map *map, const char *at, const char *end)
{
	struct line line;
	uint64_t size;
	size_t bytes;

	at = take_hex(at, end, &line.start);
	at = at ? take_hex(at, end, &size) : NULL;
	if (!at || at == end || !size || line.start + size < line.start ||
	    map->line_count == LINES_MAX)
		return;
	line.end = line.start + size;
	line.order = (uint32_t)map->line_count;
	bytes = (size_t)(end - at) < NAME_BYTES_MAX ? (size_t)(end - at) : NAME_BYTES_MAX;
	line.name = memory_zeroed(bytes + 1, 1);
	memcpy(line.name, at, bytes);
	MEMORY_ROOM(map->lines, map->line_count);
	map->lines[map->line_count++] = line;
}

void perf_map_add(struct perf_map *map, const char *text, size_t bytes)
{
	const char *end = text + bytes;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		take_line(map, text, line_end);
		text = line_end + 1;
	}
	map->is_sorted = false;
}

static bool add_open_file(struct perf_map *map, int fd, uint64_t start_unix_ns)
{
	struct stat st;
	char *text;
	size_t used = 0;
	ssize_t got;

	/* One second of slack: clocks of file systems are coarse. */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size > FILE_BYTES_MAX ||
	    ((uint64_t)st.st_mtim.tv_sec + 1) * 1000000000u < start_unix_ns)
		return false;
	text = memory_zeroed((size_t)st.st_size + 1, 1);
	while (used < (size_t)st.st_size &&
	       (got = read(fd, text + used, (size_t)st.st_size - used)) > 0)
		used += (size_t)got;
	perf_map_add(map, text, used);
	free(text);
	return true;
}

/* The pid as the process itself sees it: the last one of NSpid. */
static uint64_t inner_pid(uint64_t pid)
{
	char path[64], line[256], *last;
	uint64_t inner = pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%llu/status", (unsigned long long)pid);
	file = fopen(path, "r");
	if (!file)
		return pid;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		inner = last ? strtoull(last + 1, NULL, 10) : pid;
	}
	fclose(file);
	return inner ? inner : pid;
}

int perf_map_add_file(struct perf_map *map, uint64_t pid, uint64_t start_unix_ns)
{
	unsigned long long outer = pid, inner = inner_pid(pid);
	char path[128];
	bool is_taken = false;

	for (int i = 0; i < 2 && !is_taken; i++) {
		int fd;

		if (i == 0)
			snprintf(path, sizeof(path), "/proc/%llu/root/tmp/perf-%llu.map", outer,
				 inner);
		else
			snprintf(path, sizeof(path), "/tmp/perf-%llu.map", outer);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			continue;
		is_taken = add_open_file(map, fd, start_unix_ns);
		close(fd);
	}
	return is_taken;
}

/* ---- sorting ---------------------------------------------------------------------- */

static int compare_starts(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* A heap of the lines that hold the current address, newest on top. */
struct heap {
	const struct line **lines;
	size_t count;
};

static void heap_push(struct heap *heap, const struct line *line)
{
	size_t at = heap->count++;

	for (; at && heap->lines[(at - 1) / 2]->order < line->order; at = (at - 1) / 2)
		heap->lines[at] = heap->lines[(at - 1) / 2];
	heap->lines[at] = line;
}

static void heap_pop(struct heap *heap)
{
	const struct line *line = heap->lines[--heap->count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    heap->lines[child + 1]->order > heap->lines[child]->order)
			child++;
		if (heap->lines[child]->order < line->order)
			break;
		heap->lines[at] = heap->lines[child];
		at = child;
	}
	heap->lines[at] = line;
}

static void add_span(struct perf_map *map, uint64_t start, const char *name)
{
	if (map->span_count && map->spans[map->span_count - 1].start == start)
		map->span_count--;
	if (map->span_count && map->spans[map->span_count - 1].name == name)
		return;
	MEMORY_ROOM(map->spans, map->span_count);
	map->spans[map->span_count++] = (struct span){ start, name };
}

/* What ends at or before @limit (the start of the next line) goes; what lies
 * under it comes to light. */
static void close_spans(struct perf_map *map, struct heap *heap, uint64_t limit)
{
	while (heap->count && heap->lines[0]->end <= limit) {
		uint64_t end = heap->lines[0]->end;

		while (heap->count && heap->lines[0]->end <= end)
			heap_pop(heap);
		add_span(map, end, heap->count ? heap->lines[0]->name : NULL);
	}
}

static void sort_map(struct perf_map *map)
{
	struct heap heap = { memory_zeroed(map->line_count + 1, sizeof(*heap.lines)), 0 };

	map->span_count = 0;
	if (map->line_count)
		qsort(map->lines, map->line_count, sizeof(*map->lines), compare_starts);
	for (size_t i = 0; i < map->line_count; i++) {
		close_spans(map, &heap, map->lines[i].start);
		heap_push(&heap, &map->lines[i]);
		add_span(map, map->lines[i].start, heap.lines[0]->name);
	}
	close_spans(map, &heap, UINT64_MAX);
	free(heap.lines);
	map->is_sorted = true;
}

/* The span that @address lies in, or NULL. */
static const struct span *find_span(struct perf_map *map, uint64_t address)
{
	size_t low = 0, high;

	if (!map->is_sorted)
		sort_map(map);
	high = map->span_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->spans[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &map->spans[low - 1] : NULL;
}

const char *perf_map_find(struct perf_map *map, uint64_t address)
{
	const struct span *span = find_span(map, address);

	return span ? span->name : NULL;
}

void perf_map_each_used(struct perf_map *map, const uint64_t *addresses, size_t count,
			void (*take)(void *context, const char *line, size_t bytes), void *context)
{
	const struct span *last = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct span *span = find_span(map, addresses[i]);
		char line[NAME_BYTES_MAX + 64];
		int bytes;

		/* A span with a name is never the last: a gap ends it. */
		if (!span || !span->name || span == last)
			continue;
		last = span;
		bytes = snprintf(line, sizeof(line), "%llx %llx %s\n",
				 (unsigned long long)span->start,
				 (unsigned long long)(span[1].start - span->start), span->name);
		take(context, line, (size_t)bytes);
	}
}
