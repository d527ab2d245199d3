/*
 * See view_symbols.h.
 */
#include "view/view_symbols.h"

#include "model/trace_names.h"
#include "util/memory.h"
#include "view/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is said of one module. */
struct row {
	const struct trace_module *module;
	struct symbolizer_module_report report; /* addresses 0: nothing was recorded in it */
	char build_id[2 * 64 + 1];
};

struct rows {
	struct row *list;
	size_t count;
	size_t generated, generated_named; /* places in no module */
};

static const char *source_words(enum symbolizer_source source)
{
	static const char *const words[] = {
		[SYMBOLIZER_NOTHING] = "nothing",
		[SYMBOLIZER_UNREADABLE] = "unreadable",
		[SYMBOLIZER_CHANGED] = "another file",
		[SYMBOLIZER_MISSING] = "no file",
		[SYMBOLIZER_DYNAMIC_SYMBOLS] = "dynamic symbols",
		[SYMBOLIZER_SYMBOLS] = "symbols",
		[SYMBOLIZER_DWARF] = "debug information",
		[SYMBOLIZER_SAVED] = "names in the trace",
	};

	return source < sizeof(words) / sizeof(*words) ? words[source] : "?";
}

/* ---- finding out ---- */

static int fill_row(struct row *row, struct symbolizer *symbolizer,
		    const struct trace_places *places, struct error *err)
{
	struct symbolizer_module module = trace_names_module(row->module);
	struct symbol_frames *frames;
	int status;

	for (unsigned i = 0; i < row->module->build_id_bytes; i++)
		snprintf(row->build_id + 2 * i, 3, "%02x", row->module->build_id[i]);
	if (!places->count)
		return 0;
	module.bias = row->module->bias;
	frames = memory_zeroed(places->count, sizeof(*frames));
	status = symbolizer_resolve(symbolizer, &module, places->addresses, places->count, frames,
				    &row->report, err);
	free(frames);
	return status;
}

static void count_generated(struct rows *rows, const struct trace *trace,
			    const struct trace_places *places)
{
	struct perf_map *map;

	rows->generated = places->count;
	if (!places->count)
		return;
	map = trace_names_map(trace);
	for (size_t i = 0; i < places->count; i++)
		rows->generated_named += perf_map_find(map, places->addresses[i]) != NULL;
	perf_map_free(map);
}

static int find_out(struct rows *rows, const struct query *query, const struct trace *trace,
		    struct error *err)
{
	struct symbolizer *symbolizer = trace_names_symbolizer(query);
	struct trace_places *places = trace_places_by_module(trace);
	int status = 0;

	rows->list = memory_zeroed(trace->module_count + 1, sizeof(*rows->list));
	rows->count = trace->module_count;
	if (symbolizer)
		trace_names_give(symbolizer, trace);
	for (size_t i = 0; symbolizer && !status && i < rows->count; i++) {
		rows->list[i].module = &trace->modules[i];
		status = fill_row(&rows->list[i], symbolizer, &places[i], err);
	}
	if (!symbolizer)
		status = error_set(err, ERROR_MEMORY, trace->path, ERROR_NO_OFFSET,
				   "out of memory");
	count_generated(rows, trace, &places[trace->module_count]);
	trace_places_free(places, trace);
	symbolizer_free(symbolizer);
	return status;
}

/* ---- telling ---- */

static void share(struct table *table, size_t part, size_t whole)
{
	if (whole)
		table_cell(table, part < whole ? TABLE_YELLOW : TABLE_PLAIN, "%.0f%%",
			   100.0 * (double)part / (double)whole);
	else
		table_cell(table, TABLE_DIM, "-");
}

static void add_row(struct table *table, const struct row *row)
{
	const struct symbolizer_module_report *report = &row->report;

	table_row(table);
	table_cell(table, TABLE_PLAIN, "%zu", report->addresses);
	share(table, report->named, report->addresses);
	share(table, report->with_lines, report->addresses);
	share(table, report->with_inlines, report->addresses);
	table_cell(table, TABLE_PLAIN, "%s",
		   report->addresses ? source_words(report->source) : "-");
	table_cell(table, TABLE_DIM, "%.16s", row->build_id[0] ? row->build_id : "no build-id");
	table_cell(table, TABLE_PLAIN, "%s%s", row->module->path,
		   row->module->gone_ns == UINT64_MAX ? "" : " (unloaded)");
	if (report->file[0] && row->module->path && strcmp(report->file, row->module->path))
		table_line(table, TABLE_DIM, "        found in %s", report->file);
	if (report->words[0])
		table_line(table, TABLE_YELLOW, "        %s", report->words);
}

int view_symbols_text(struct view_request *request, const struct trace *trace, struct error *err)
{
	static const struct table_column columns[] = {
		{ "places", TABLE_RIGHT, false },   { "named", TABLE_RIGHT, false },
		{ "lines", TABLE_RIGHT, false },    { "inlined", TABLE_RIGHT, false },
		{ "names from", TABLE_LEFT, false }, { "build-id", TABLE_LEFT, false },
		{ "module", TABLE_LEFT, true },
	};
	struct table *table;
	struct rows rows = { 0 };
	int status = find_out(&rows, &request->query, trace, err);

	if (!status) {
		table = table_new(columns, sizeof(columns) / sizeof(*columns));
		for (size_t i = 0; i < rows.count; i++)
			add_row(table, &rows.list[i]);
		table_print(table, request->out, request->width, request->color);
		table_free(table);
	}
	if (!status && rows.generated)
		fprintf(request->out,
			"generated  %zu places in code that lies in no file, %zu of them named%s\n",
			rows.generated, rows.generated_named,
			rows.generated_named ? "" :
			" (runtimes write names to /tmp/perf-PID.map: node --perf-basic-prof)");
	free(rows.list);
	return status;
}

static void json_row(struct json *json, const struct row *row)
{
	const struct symbolizer_module_report *report = &row->report;
	const struct trace_module *module = row->module;

	json_row_begin(json, NULL);
	json_string(json, "path", module->path);
	json_string(json, "build_id", row->build_id[0] ? row->build_id : NULL);
	json_unsigned(json, "start", module->start);
	json_unsigned(json, "end", module->end);
	json_unsigned(json, "bias", module->bias);
	json_unsigned(json, "loaded_ns", module->first_ns);
	if (module->gone_ns != UINT64_MAX)
		json_unsigned(json, "unloaded_ns", module->gone_ns);
	json_unsigned(json, "places", report->addresses);
	json_unsigned(json, "named", report->named);
	json_unsigned(json, "with_lines", report->with_lines);
	json_unsigned(json, "with_inlines", report->with_inlines);
	json_string(json, "names_from", report->addresses ? source_words(report->source) : NULL);
	json_string(json, "names_file", report->file[0] ? report->file : NULL);
	json_string(json, "to_do", report->words[0] ? report->words : NULL);
	json_object_end(json);
}

int view_symbols_json(struct view_request *request, struct json *json, const struct trace *trace,
		      struct error *err)
{
	struct rows rows = { 0 };
	int status = find_out(&rows, &request->query, trace, err);

	json_array_begin(json, "modules");
	for (size_t i = 0; !status && i < rows.count; i++)
		json_row(json, &rows.list[i]);
	json_array_end(json);
	free(rows.list);
	return status;
}

/* ---- checking ---- */

static void print_check(FILE *out, const char *path, const struct symbolizer_check *check)
{
	fprintf(out, "%8zu %8zu  %s\n", check->compared, check->equal, path);
	if (check->equal < check->compared)
		fprintf(out, "         first difference at 0x%" PRIx64 "\n           libdw    %s\n"
			"           libdwarf %s\n", check->address, check->first, check->second);
}

int view_symbols_check(struct view_request *request, const struct trace *trace, struct error *err)
{
	struct symbolizer *symbolizer = trace_names_symbolizer(&request->query);
	struct trace_places *places = trace_places_by_module(trace);
	bool agrees = true;
	int status = 0;

	fprintf(request->out, "compared    equal  module (each place, all its frames)\n");
	for (size_t i = 0; symbolizer && !status && i < trace->module_count; i++) {
		struct symbolizer_module module = trace_names_module(&trace->modules[i]);
		struct symbolizer_check check = { 0 };

		if (!places[i].count)
			continue;
		module.bias = trace->modules[i].bias;
		status = symbolizer_check(symbolizer, &module, places[i].addresses,
					  places[i].count, &check, err);
		if (!status)
			print_check(request->out, module.path, &check);
		agrees &= check.equal == check.compared;
	}
	trace_places_free(places, trace);
	symbolizer_free(symbolizer);
	return status ? status : !agrees;
}
