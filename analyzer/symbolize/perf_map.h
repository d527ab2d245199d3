/*
 * Names of generated code, from the text files that just-in-time compilers write
 * for perf: /tmp/perf-PID.map, lines of "START SIZE NAME", numbers in hex. A
 * compiler that frees code and puts other code there appends a new line: later
 * lines override earlier ones.
 */
#ifndef ANALYZER_SYMBOLIZE_PERF_MAP_H
#define ANALYZER_SYMBOLIZE_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

struct perf_map;

struct perf_map *perf_map_new(void);
void perf_map_free(struct perf_map *map);

/* Takes lines; what is no such line is passed over. A line that does not end
 * with @bytes is taken as it is. */
void perf_map_add(struct perf_map *map, const char *text, size_t bytes);

/*
 * Takes the file of process @pid, in its own root if it still runs (a
 * container), else in this one. Not if it is older than @start_unix_ns: then it
 * is of another process with that number. Returns what was taken, 0 or 1 files.
 */
int perf_map_add_file(struct perf_map *map, uint64_t pid, uint64_t start_unix_ns);

/* The newest name at @address, valid as long as the map; NULL: none. */
const char *perf_map_find(struct perf_map *map, uint64_t address);

/* Gives the code that @addresses (ascending) lie in, each piece once, as such
 * lines with their '\n': what a trace has to keep of the map. */
void perf_map_each_used(struct perf_map *map, const uint64_t *addresses, size_t count,
			void (*take)(void *context, const char *line, size_t bytes), void *context);

#endif
