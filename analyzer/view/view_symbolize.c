/*
 * symbolize: what is known here of the places in a trace is put into the trace,
 * so that it can be read on a machine without the programs. In place, or with -o
 * into a copy. Appended as pieces of kind OUTSIDE with MODULE_NAMES records
 * (trace_format.h); doing it twice does no harm, the later names count.
 */
#include "memprof/varint.h"
#include "model/trace_names.h"
#include "trace/fold.h"
#include "util/memory.h"
#include "util/output.h"
#include "view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define PART_BYTES 60000u          /* of one record; a piece holds one */

struct writer {
	FILE *file;                /* at a multiple of a unit */
	uint32_t sequence;
	bool has_failed;
	char lines[PART_BYTES];    /* of generated code, not written yet */
	size_t line_bytes;
};

/* ---- pieces ---- */

static void write_piece(struct writer *writer, const uint8_t *payload, size_t bytes)
{
	static uint8_t unit[TRACE_UNIT_BYTES + VARINT_BYTES_MAX];
	struct trace_piece piece = {
		.magic = TRACE_PIECE_MAGIC,
		.kind = TRACE_PIECE_OUTSIDE,
		.lane = (uint32_t)getpid(),
	};
	uint8_t *at = unit + TRACE_PIECE_BYTES;

	memset(unit, 0, sizeof(unit));
	*at++ = TRACE_OP_EXTENDED;
	at = varint_store(at, TRACE_KIND_MODULE_NAMES);
	at = varint_store(at, bytes);
	memcpy(at, payload, bytes);
	at += bytes;
	piece.word = (uint64_t)writer->sequence++ << 32 |
		     (uint32_t)(at - unit - TRACE_PIECE_BYTES);
	memcpy(unit, &piece, sizeof(piece));
	piece.checksum = XXH3_64bits(unit, (size_t)(at - unit));
	memcpy(unit, &piece, sizeof(piece));
	if (fwrite(unit, TRACE_UNIT_BYTES, 1, writer->file) != 1)
		writer->has_failed = true;
}

static void write_names(struct writer *writer, const struct trace_module *module, uint32_t form,
			uint32_t part, uint32_t parts, const void *bytes, size_t count)
{
	uint8_t payload[PART_BYTES + 512], *at = payload;
	unsigned id_bytes = module ? module->build_id_bytes : 0;

	at = varint_store(at, module ? module->start : 0);
	at = varint_store(at, id_bytes);
	if (id_bytes)
		memcpy(at, module->build_id, id_bytes);
	at += id_bytes;
	at = varint_store(at, part);
	at = varint_store(at, parts);
	at = varint_store(at, form);
	memcpy(at, bytes, count);
	write_piece(writer, payload, (size_t)(at - payload) + count);
}

/* ---- what is known ---- */

static int write_module(struct writer *writer, struct symbolizer *symbolizer,
			const struct trace_module *module, const struct trace_places *places,
			struct error *err)
{
	struct symbolizer_module wanted = trace_names_module(module);
	uint8_t *packed;
	uint32_t parts;
	size_t bytes;
	int status;

	wanted.bias = module->bias;
	status = symbolizer_pack(symbolizer, &wanted, places->addresses, places->count, &packed,
				 &bytes, err);
	if (status)
		return status;
	parts = (uint32_t)((bytes + PART_BYTES - 1) / PART_BYTES);
	for (uint32_t part = 0; part < parts; part++) {
		size_t from = (size_t)part * PART_BYTES;
		size_t count = bytes - from < PART_BYTES ? bytes - from : PART_BYTES;

		write_names(writer, module, TRACE_NAMES_FRAMES, part, parts, packed + from, count);
	}
	free(packed);
	return 0;
}

static void flush_lines(struct writer *writer)
{
	if (writer->line_bytes)
		write_names(writer, NULL, TRACE_NAMES_MAP, 0, 1, writer->lines,
			    writer->line_bytes);
	writer->line_bytes = 0;
}

static void take_line(void *context, const char *line, size_t bytes)
{
	struct writer *writer = context;

	if (bytes > sizeof(writer->lines) - writer->line_bytes)
		flush_lines(writer);
	memcpy(writer->lines + writer->line_bytes, line, bytes);
	writer->line_bytes += bytes;
}

static int compare_addresses(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void write_map(struct writer *writer, const struct trace *trace,
		      const struct trace_places *places)
{
	struct perf_map *map = trace_names_map(trace);

	qsort(places->addresses, places->count, sizeof(uint64_t), compare_addresses);
	perf_map_each_used(map, places->addresses, places->count, take_line, writer);
	flush_lines(writer);
	perf_map_free(map);
}

static int write_trace_names(struct writer *writer, const struct query *query,
			     const struct trace *trace, struct error *err)
{
	struct symbolizer *symbolizer = trace_names_symbolizer(query);
	struct trace_places *places = trace_places_by_module(trace);
	int status = 0;

	if (!symbolizer)
		status = error_set(err, ERROR_MEMORY, trace->path, ERROR_NO_OFFSET,
				   "out of memory");
	else
		trace_names_give(symbolizer, trace);
	for (size_t i = 0; !status && i < trace->module_count; i++)
		if (places[i].count)
			status = write_module(writer, symbolizer, &trace->modules[i], &places[i],
					      err);
	if (!status && places[trace->module_count].count)
		write_map(writer, trace, &places[trace->module_count]);
	trace_places_free(places, trace);
	symbolizer_free(symbolizer);
	return status;
}

/* ---- where to ---- */

static int refuse_running(const struct trace *trace, struct error *err)
{
	if (!trace->info.running)
		return 0;
	return error_set(err, ERROR_USAGE, trace->path, ERROR_NO_OFFSET,
			 "its process is still running: names are put in when it has ended");
}

static int failed(const char *path, struct error *err)
{
	return error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "can't write: %s",
			 strerror(errno));
}

static bool pad_to_unit(FILE *file)
{
	static const char zeros[TRACE_UNIT_BYTES];
	long at = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
	size_t rest = at < 0 ? 0 : (size_t)at % TRACE_UNIT_BYTES;

	return at >= 0 && (!rest || fwrite(zeros, TRACE_UNIT_BYTES - rest, 1, file) == 1);
}

/* What was appended before a failure are whole pieces: the trace stays sound. */
static int append_to(FILE *file, const char *path, const struct query *query,
		     const struct trace *trace, struct error *err)
{
	struct writer *writer = memory_zeroed(1, sizeof(*writer));
	int status = 0;

	writer->file = file;
	if (!pad_to_unit(file))
		status = failed(path, err);
	if (!status)
		status = write_trace_names(writer, query, trace, err);
	if (!status && (writer->has_failed || fflush(file)))
		status = failed(path, err);
	free(writer);
	return status;
}

static int symbolize_in_place(const struct view_request *request, const struct trace *trace,
			      struct error *err)
{
	FILE *file = fopen(trace->path, "r+b");
	int status;

	if (!file)
		return failed(trace->path, err);
	status = append_to(file, trace->path, &request->query, trace, err);
	if (fclose(file) && !status)
		status = failed(trace->path, err);
	return status;
}

static int copy_file(const char *path, FILE *to, const char *to_path, struct error *err)
{
	FILE *from = fopen(path, "rb");
	char *bytes = memory_zeroed(1, TRACE_UNIT_BYTES);
	size_t count;
	int status = 0;

	if (!from)
		status = error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "can't read: %s",
				   strerror(errno));
	while (!status && (count = fread(bytes, 1, TRACE_UNIT_BYTES, from)) > 0)
		if (fwrite(bytes, 1, count, to) != count)
			status = failed(to_path, err);
	if (from)
		fclose(from);
	free(bytes);
	return status;
}

static int symbolize_copy(const struct view_request *request, const struct trace *trace,
			  struct error *err)
{
	struct output output;
	int status = output_open(&output, request->output, err), closed;

	if (status)
		return status;
	fchmod(fileno(output.file), 0600); /* as the library makes them */
	status = copy_file(trace->path, output.file, request->output, err);
	if (!status)
		status = append_to(output.file, request->output, &request->query, trace, err);
	closed = output_close(&output, !status, status ? NULL : err);
	return status ? status : closed;
}

static int symbolize_one(const struct view_request *request, const struct trace *trace,
			 struct error *err)
{
	int status = refuse_running(trace, err);

	/* What a killed process left in its companion belongs into the trace. */
	if (!status && trace_fold(trace->path, err) < 0)
		status = ERROR_SYSTEM;
	if (status)
		return status;
	return request->output ? symbolize_copy(request, trace, err) :
				 symbolize_in_place(request, trace, err);
}

VIEW_SHOW(view_symbolize)
{
	struct trace_set own;
	int status = trace_set_open((const char *const *)request->words.items,
				    request->words.count, &own, err);

	(void)set;
	if (status)
		return status;
	if (request->output && own.count != 1)
		status = error_set(err, ERROR_USAGE, request->output, ERROR_NO_OFFSET,
				   "-o takes one trace, there are %zu", own.count);
	for (size_t i = 0; !status && i < own.count; i++)
		status = symbolize_one(request, own.members[i].trace, err);
	trace_set_close(&own);
	return status;
}
