/*
 * Readings of smaps: taken from outside by `memprof run`, packed, cut into parts
 * that fit a piece, and joined again here.
 */
#include "trace/smaps.h"

#include "memprof/varint.h"
#include "util/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#define PART_BYTES (TRACE_RECORDS_MAX - 8 * VARINT_BYTES_MAX)
#define TEXT_MAX (256u << 20)

/* Lines that nobody asks for make up most of the text. */
static bool is_wanted(const char *line)
{
	static const char *const wanted[] = {
		"Rss:", "Pss:", "Anonymous:", "Swap:", "Private_Dirty:", "Shared_Dirty:",
	};
	size_t i;

	if (line[0] < 'A' || line[0] > 'Z')
		return true;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strncmp(line, wanted[i], strlen(wanted[i])))
			return true;
	return false;
}

static char *read_text(pid_t pid, size_t *bytes)
{
	char path[64], *line = NULL, *text = NULL;
	size_t room = 0;
	FILE *from, *to;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	from = fopen(path, "re");
	to = from ? open_memstream(&text, bytes) : NULL;
	while (to && getline(&line, &room, from) > 0)
		if (is_wanted(line))
			fputs(line, to);
	if (to)
		fclose(to);
	if (from)
		fclose(from);
	free(line);
	return text;
}

static int append_parts(struct live_process *process, const uint8_t *packed, size_t bytes,
			struct error *err)
{
	uint64_t parts = (bytes + PART_BYTES - 1) / PART_BYTES, part;
	uint8_t *payload = memory_zeroed(TRACE_RECORDS_MAX, 1);
	struct timespec now;
	int code = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	for (part = 0; !code && part < parts; part++) {
		size_t size = part + 1 < parts ? PART_BYTES : bytes - part * PART_BYTES;
		uint8_t *at = payload;

		at = varint_store(at, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
		at = varint_store(at, part);
		at = varint_store(at, parts);
		memcpy(at, packed + part * PART_BYTES, size);
		code = live_process_append(process, TRACE_KIND_SMAPS, payload,
					   (size_t)(at - payload) + size, err);
	}
	free(payload);
	return code;
}

int smaps_record(struct live_process *process, pid_t pid, struct error *err)
{
	size_t bytes = 0, packed;
	char *text = read_text(pid, &bytes);
	uint8_t *out;
	int code;

	if (!text || !bytes) {
		free(text);
		return error_set(err, ERROR_SYSTEM, NULL, ERROR_NO_OFFSET,
				 "/proc/%d/smaps can't be read: %s", (int)pid, strerror(errno));
	}
	out = memory_zeroed(ZSTD_compressBound(bytes), 1);
	packed = ZSTD_compress(out, ZSTD_compressBound(bytes), text, bytes, 3);
	code = ZSTD_isError(packed) ? ERROR_MEMORY : append_parts(process, out, packed, err);
	free(out);
	free(text);
	return code;
}

/* The parts of the reading that begins at @index, behind one another. */
static uint8_t *join_parts(const struct trace *trace, size_t index, size_t *bytes)
{
	const struct trace_smaps *first = &trace->smaps[index];
	uint8_t *packed = NULL;
	uint32_t part;

	*bytes = 0;
	if (first->part || index + first->parts > trace->smaps_count)
		return NULL;
	for (part = 0; part < first->parts; part++) {
		const struct trace_smaps *next = &first[part];

		if (next->real_ns != first->real_ns || next->part != part) {
			free(packed);
			return NULL;
		}
		packed = memory_resize(packed, *bytes + next->size + 1, 1);
		memcpy(packed + *bytes, next->bytes, next->size);
		*bytes += next->size;
	}
	return packed;
}

char *trace_smaps_text(const struct trace *trace, size_t index, size_t *bytes)
{
	size_t packed_bytes;
	uint8_t *packed = join_parts(trace, index, &packed_bytes);
	unsigned long long size = packed ? ZSTD_getFrameContentSize(packed, packed_bytes) : 0;
	char *text = NULL;

	if (packed && size < TEXT_MAX) { /* "unknown" and "error" are larger */
		text = memory_zeroed(size + 1, 1);
		*bytes = ZSTD_decompress(text, size, packed, packed_bytes);
		if (ZSTD_isError(*bytes)) {
			free(text);
			text = NULL;
		}
	}
	free(packed);
	return text;
}
