/*
 * Fuzzes what reads texts that people and other programs write: JSON, baselines,
 * suppressions, the gate's limits, a process's mappings. The first byte of the
 * input chooses, the rest is the text.
 */
#include "fuzz.h"

#include "model/gate.h"
#include "model/memory_map.h"
#include "model/suppressions.h"
#include "util/json_read.h"
#include "view/baseline_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t walk_json(const struct json_value *value)
{
	size_t bytes = value->type == JSON_STRING ? strlen(value->string) : 0;

	for (size_t i = 0; i < value->count; i++) {
		bytes += walk_json(&value->items[i]);
		if (value->type == JSON_OBJECT)
			bytes += strlen(value->names[i]);
	}
	return bytes;
}

/* A string takes no more room than its text did. */
static void fuzz_json(const char *text, size_t size)
{
	struct json_document *document;
	struct error err;

	if (json_parse("fuzz", text, size, &document, &err))
		return;
	if (walk_json(json_root(document)) > size)
		abort();
	json_free(document);
}

static void fuzz_suppressions(const char *text, size_t size)
{
	static const struct suppression_frame frames[] = {
		{ .function = "malloc", .module = "/lib/libc.so.6" },
		{ .function = "leak(int)", .linkage_name = "_Z4leaki", .file = "src/leak.cc",
		  .module = "/usr/bin/app" },
		{ .module = "/usr/bin/app" },
	};
	struct suppressions *list = suppressions_new();
	struct error err;
	int which;

	if (!list)
		abort();
	if (!suppressions_parse(list, "fuzz", text, size, &err)) {
		which = suppressions_match(list, frames, 3, 1, 1);
		if (which >= (int)suppressions_count(list))
			abort();
	} else if (suppressions_count(list)) {
		abort();
	}
	suppressions_free(list);
}

/* @text as a file; its path is good until the descriptor is closed. */
static int make_file(const char *text, size_t size, char path[64])
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, text, size) != (ssize_t)size)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* What was read and is written again reads as the same. */
static void fuzz_baseline(const char *text, size_t size)
{
	struct baseline *baseline, *again;
	struct error err;
	char path[64];
	int fd = make_file(text, size, path);
	FILE *out;

	if (!baseline_load(path, NULL, &baseline, &err)) {
		out = fopen(path, "w");
		if (!out)
			abort();
		baseline_write(baseline, "fuzz", out);
		fclose(out);
		if (baseline_load(path, NULL, &again, &err) ||
		    again->stacks.count != baseline->stacks.count)
			abort();
		baseline_free(again);
		baseline_free(baseline);
	}
	close(fd);
}

/* Patterns go to libc's regcomp, for which a{999}{999} is too much: not ours to mend. */
static void fuzz_limits(const char *text, size_t size)
{
	struct gate_limits limits = { 0 };
	struct error err;
	char path[64];
	int fd;

	if (memchr(text, '{', size) || memchr(text, '\\', size))
		return;
	fd = make_file(text, size, path);
	if (!gate_limits_load(&limits, path, &err))
		for (size_t i = 0; i < limits.count; i++)
			if (!limits.items[i].kind || !(limits.items[i].value >= 0))
				abort();
	gate_limits_release(&limits);
	close(fd);
}

static void fuzz_map(const char *text, size_t size)
{
	struct memory_map map = { 0 };
	struct error err;

	if (!memory_map_parse(text, size, &map, &err))
		memory_map_release(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const kinds[])(const char *text, size_t size) = {
		fuzz_json, fuzz_suppressions, fuzz_baseline, fuzz_limits, fuzz_map,
	};

	if (size)
		kinds[data[0] % 5]((const char *)data + 1, size - 1);
	return 0;
}
