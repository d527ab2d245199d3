/*
 * See page_memory.h. An account costs a pass up to its moment: of a long trace
 * only the reading with the highest RSS is looked at.
 */
#include "page/page_memory.h"

#include "util/memory.h"
#include "view/memory_reading.h"

#include <stdlib.h>
#include <string.h>

#define READINGS_MOST 6
#define CHEAP_EVENTS 4000000
#define MAPPINGS_MOST 200

/* ---- which readings ---- */

static size_t whole_readings(const struct trace *trace, size_t **readings)
{
	size_t count = 0;

	*readings = NULL;
	for (size_t i = 0; i < trace->smaps_count; i++) {
		if (trace->smaps[i].part)
			continue;
		MEMORY_ROOM(*readings, count);
		(*readings)[count++] = i;
	}
	return count;
}

static uint64_t resident_of(const struct trace *trace, size_t reading)
{
	struct memory_map map;
	uint64_t resident;

	if (memory_reading_map(trace, reading, &map, NULL))
		return 0;
	resident = map.resident;
	memory_map_release(&map);
	return resident;
}

static size_t highest_reading(const struct trace *trace, const size_t *readings, size_t count)
{
	size_t step = count / 100 + 1, best = 0;
	uint64_t highest = 0;

	for (size_t i = 0; i < count; i += step) {
		uint64_t resident = resident_of(trace, readings[i]);

		if (resident > highest) {
			highest = resident;
			best = i;
		}
	}
	return best;
}

/* Indices into the readings, rising: evenly over the time, and the highest. */
static size_t choose(const struct trace *trace, size_t count, size_t highest, size_t *chosen)
{
	size_t want = trace->info.events > CHEAP_EVENTS ? 1 : READINGS_MOST - 1, made = 0;

	for (size_t i = 0; want > 1 && i < want; i++) {
		size_t at = count > 1 ? i * (count - 1) / (want - 1) : 0;

		if (made && chosen[made - 1] == at)
			continue;
		if (highest < at && (!made || highest > chosen[made - 1]))
			chosen[made++] = highest;
		chosen[made++] = at;
	}
	if (!made)
		chosen[made++] = highest;
	return made;
}

/* ---- writing ---- */

static const char *row_kind(unsigned row)
{
	return row == ROW_LIVE || row == ROW_MAPPED ? "explained"
	       : row == ROW_ANONYMOUS               ? "unknown"
						    : "known";
}

static void write_accounts(struct json *json, const struct memory_account *accounts, size_t count)
{
	json_object_begin(json, "memory");
	json_array_begin(json, "t");
	for (size_t i = 0; i < count; i++)
		json_unsigned(json, NULL, accounts[i].time_ns / 1000);
	json_array_end(json);
	json_array_begin(json, "categories");
	for (unsigned row = 0; row < MEMORY_ROWS; row++) {
		json_object_begin(json, NULL);
		json_string(json, "key", memory_row_keys[row]);
		json_string(json, "label", memory_row_names[row]);
		json_string(json, "kind", row_kind(row));
		json_array_begin(json, "bytes");
		for (size_t i = 0; i < count; i++)
			json_double(json, NULL, (double)(int64_t)accounts[i].rows[row]);
		json_array_end(json);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

struct group {
	const char *name;
	uint64_t resident, proportional, dirty, swapped, size;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct group *)a)->name, ((const struct group *)b)->name);
}

static int compare_resident(const void *a, const void *b)
{
	uint64_t x = ((const struct group *)a)->resident, y = ((const struct group *)b)->resident;

	return x > y ? -1 : x < y;
}

/* Mappings of one name as one row. */
static size_t group_mappings(const struct memory_map *map, struct group *groups)
{
	size_t made = 0;

	for (size_t i = 0; i < map->count; i++) {
		const struct memory_mapping *m = &map->mappings[i];

		groups[i] = (struct group){*m->name ? m->name : "(anonymous)",
					   m->resident,
					   m->proportional,
					   m->private_dirty,
					   m->swapped,
					   m->end - m->start};
	}
	qsort(groups, map->count, sizeof(*groups), compare_names);
	for (size_t i = 0; i < map->count; i++) {
		if (made && !strcmp(groups[made - 1].name, groups[i].name)) {
			groups[made - 1].resident += groups[i].resident;
			groups[made - 1].proportional += groups[i].proportional;
			groups[made - 1].dirty += groups[i].dirty;
			groups[made - 1].swapped += groups[i].swapped;
			groups[made - 1].size += groups[i].size;
		} else {
			groups[made++] = groups[i];
		}
	}
	qsort(groups, made, sizeof(*groups), compare_resident);
	return made < MAPPINGS_MOST ? made : MAPPINGS_MOST;
}

static void write_mappings(struct json *json, const struct memory_map *map, uint64_t time_ns)
{
	static const char *const columns[] = {"Rss", "Pss", "Private_Dirty", "Swap", "Size"};
	struct group *groups = memory_zeroed(map->count + 1, sizeof(*groups));
	size_t count = group_mappings(map, groups);

	json_object_begin(json, "smaps");
	json_unsigned(json, "t", time_ns / 1000);
	json_array_begin(json, "columns");
	for (unsigned i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		json_string(json, NULL, columns[i]);
	json_array_end(json);
	json_array_begin(json, "rows");
	for (size_t i = 0; i < count; i++) {
		json_array_begin(json, NULL);
		json_string(json, NULL, groups[i].name);
		json_unsigned(json, NULL, groups[i].resident);
		json_unsigned(json, NULL, groups[i].proportional);
		json_unsigned(json, NULL, groups[i].dirty);
		json_unsigned(json, NULL, groups[i].swapped);
		json_unsigned(json, NULL, groups[i].size);
		json_array_end(json);
	}
	json_array_end(json);
	json_object_end(json);
	free(groups);
}

void page_memory_write(struct json *json, struct trace *trace)
{
	struct memory_account accounts[READINGS_MOST];
	size_t *readings, chosen[READINGS_MOST], count = whole_readings(trace, &readings);
	size_t highest = highest_reading(trace, readings, count), made = 0;
	size_t wanted = count ? choose(trace, count, highest, chosen) : 0;

	for (size_t i = 0; i < wanted; i++) {
		struct memory_map map;

		if (memory_reading_account(trace, readings[chosen[i]], &accounts[made], &map, NULL))
			continue;
		if (chosen[i] == highest)
			write_mappings(json, &map, accounts[made].time_ns);
		memory_map_release(&map);
		made++;
	}
	if (made)
		write_accounts(json, accounts, made);
	free(readings);
}
