/*
 * See trace_names.h.
 */
#include "model/trace_names.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

/* Who sets the servers up wants them asked, as with gdb. */
static bool wants_debuginfod(const struct query *query)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return query->debuginfod || (urls && *urls);
}

struct symbolizer *trace_names_symbolizer(const struct query *query)
{
	const char **dirs = memory_zeroed(query->debug_dirs.count + 1, sizeof(*dirs));
	struct symbolizer_options options = {
		.sysroot = query->sysroot,
		.debug_dirs = dirs,
		.no_inlines = query->no_inlines,
		.no_demangle = query->no_demangle,
		.shorten = query->shorten,
		.debuginfod = wants_debuginfod(query),
	};
	struct symbolizer *symbolizer;

	for (size_t i = 0; i < query->debug_dirs.count; i++)
		dirs[i] = query->debug_dirs.items[i];
	symbolizer = symbolizer_new(&options);
	free(dirs);
	return symbolizer;
}

struct symbolizer_module trace_names_module(const struct trace_module *module)
{
	return (struct symbolizer_module){ .path = module->path,
					   .build_id = module->build_id,
					   .build_id_bytes = module->build_id_bytes,
					   .file_bytes = module->file_bytes,
					   .mtime_ns = module->mtime_ns };
}

uint64_t trace_names_address(const struct trace_pc *pc)
{
	return pc->address - !(pc->flags & TRACE_PC_EXACT);
}

/* Whose names? The newest module there then, if its build-id is that one. */
static const struct trace_module *module_of_names(const struct trace *trace,
						  const struct trace_names *kept)
{
	const struct trace_module *found = NULL;

	for (size_t i = 0; i < trace->module_count; i++) {
		const struct trace_module *module = &trace->modules[i];

		if (module->start == kept->module_start &&
		    module->build_id_bytes == kept->build_id_bytes &&
		    !memcmp(module->build_id, kept->build_id, kept->build_id_bytes) &&
		    (!found || module->first_ns <= kept->time_ns))
			found = module;
	}
	return found;
}

void trace_names_give(struct symbolizer *symbolizer, const struct trace *trace)
{
	for (size_t i = 0; i < trace->names_count; i++) {
		const struct trace_names *kept = &trace->names[i];
		const struct trace_module *found = module_of_names(trace, kept);
		struct symbolizer_module module;

		if (!found)
			continue;
		module = trace_names_module(found);
		module.pid = trace->info.running ? trace->info.pid : 0;
		symbolizer_add_saved(symbolizer, &module, kept->form, kept->part, kept->parts,
				     kept->bytes, kept->byte_count, NULL);
	}
}

struct perf_map *trace_names_map(const struct trace *trace)
{
	struct perf_map *map = perf_map_new();
	bool is_kept = false;

	for (size_t i = 0; i < trace->names_count; i++) {
		if (trace->names[i].form != TRACE_NAMES_MAP)
			continue;
		perf_map_add(map, (const char *)trace->names[i].bytes, trace->names[i].byte_count);
		is_kept = true;
	}
	if (!is_kept)
		perf_map_add_file(map, trace->info.pid, trace->info.start_unix_ns);
	return map;
}

/* ---- places by module ---- */

struct trace_places *trace_places_by_module(const struct trace *trace)
{
	struct trace_places *places = memory_zeroed(trace->module_count + 1, sizeof(*places));

	for (size_t i = 0; i < trace->pc_count; i++) {
		const struct trace_pc *pc = &trace->pcs[i];
		size_t module = trace->module_count;

		if (pc->flags & TRACE_PC_UNDEFINED)
			continue;
		if (pc->module >= 0 && (size_t)pc->module < trace->module_count)
			module = (size_t)pc->module;
		MEMORY_ROOM(places[module].addresses, places[module].count);
		places[module].addresses[places[module].count++] = trace_names_address(pc);
	}
	return places;
}

void trace_places_free(struct trace_places *places, const struct trace *trace)
{
	for (size_t i = 0; places && i <= trace->module_count; i++)
		free(places[i].addresses);
	free(places);
}
