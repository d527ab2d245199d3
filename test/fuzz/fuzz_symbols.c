/*
 * Fuzzes what reads names out of other people's files: object files (without
 * their DWARF, which libraries decode in a process of its own), answers of the
 * cache, names kept in traces, perf maps, mangled names. The first byte of the
 * input chooses, the rest is the input.
 */
#include "fuzz.h"

#include "symbolize/demangle.h"
#include "symbolize/module_reader.h"
#include "symbolize/perf_map.h"
#include "symbolize/saved_names.h"
#include "symbolize/symbol_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t addresses[] = { 0, 1, 0x40, 0x1000, 0x1139, 0x1140, 0x2000, 0x401126 };

#define COUNT (sizeof(addresses) / sizeof(*addresses))

static void fuzz_object(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", 0);
	struct object_query query = { .skip_dwarf = true };
	char path[64];
	size_t bytes;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	query.path = path;
	free(module_read(&query, addresses, COUNT, NULL, &bytes));
	close(fd);
}

static void walk_answer(const void *block, size_t bytes)
{
	struct symbol_answer answer;

	if (!symbol_answer_open(&answer, block, bytes))
		return;
	for (size_t i = 0; i < COUNT; i++) {
		size_t index = symbol_answer_find(&answer, addresses[i]);
		uint32_t chain = index == SIZE_MAX ? 0 : answer.chain[index];

		if (index == SIZE_MAX)
			continue;
		for (uint32_t m = answer.first[chain]; m < answer.first[chain + 1]; m++)
			if (strlen(answer.strings + answer.frames[answer.members[m]].function) >
			    answer.header->string_bytes)
				abort();
	}
}

static void fuzz_answer(const uint8_t *data, size_t size)
{
	uint64_t *block = malloc(size + 8);

	memcpy(block, data, size);
	symbol_answer_seal(block, size);
	walk_answer(block, size);
	free(block);
}

static void fuzz_saved(const uint8_t *data, size_t size)
{
	struct saved_names names = { 0 };
	size_t bytes;
	void *block;

	saved_names_add_symbols(&names, data, size);
	for (size_t i = 0; i < COUNT; i++)
		saved_names_find(&names, addresses[i]);
	block = saved_names_add_frames(&names, 0, 2, data, size / 2, &bytes);
	free(block);
	block = saved_names_add_frames(&names, 1, 2, data + size / 2, size - size / 2, &bytes);
	if (block)
		walk_answer(block, bytes);
	free(block);
	saved_names_release(&names);
}

static void take_line(void *context, const char *line, size_t bytes)
{
	(void)context;
	if (line[bytes - 1] != '\n')
		abort();
}

static void fuzz_map(const uint8_t *data, size_t size)
{
	struct perf_map *map = perf_map_new();

	perf_map_add(map, (const char *)data, size);
	perf_map_each_used(map, addresses, COUNT, take_line, NULL);
	perf_map_free(map);
}

static void fuzz_name(const uint8_t *data, size_t size)
{
	char *name = calloc(1, size + 1), *readable;

	memcpy(name, data, size);
	readable = demangle(name);
	free(demangle_shorten(readable ? readable : name));
	free(readable);
	free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const kinds[])(const uint8_t *data, size_t size) = {
		fuzz_object, fuzz_answer, fuzz_saved, fuzz_map, fuzz_name,
	};

	if (size)
		kinds[data[0] % 5](data + 1, size - 1);
	return 0;
}
