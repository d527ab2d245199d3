/*
 * export: picks the format from the table and hands it the traces.
 */
#include "view/export.h"
#include "view/view_options.h"

#include <string.h>
#include <unistd.h>

static const char *format_name;

static const struct export_format formats[] = {
    {"folded", "one line a stack: flamegraph.pl, speedscope", 0, export_folded},
    {"folded-diff", "two numbers a stack, of two traces: difffolded.pl", EXPORT_EVENTS,
     export_folded_diff},
    {"pprof", "profile.proto: go tool pprof, Pyroscope, Perfetto", EXPORT_BINARY | EXPORT_LABELS,
     export_pprof},
    {"speedscope", "speedscope's JSON", 0, export_speedscope},
    {"heaptrack", "heaptrack's text: heaptrack_print, heaptrack_gui", EXPORT_EVENTS,
     export_heaptrack},
    {"massif", "valgrind's massif: ms_print, massif-visualizer", EXPORT_EVENTS, export_massif},
    {"callgrind", "callgrind_annotate, kcachegrind", 0, export_callgrind},
    {"ndjson", "a JSON object a line: DuckDB, jq", 0, export_ndjson},
    {"csv", "a row a stack", 0, export_csv},
    {"sqlite", "tables of a SQLite file", EXPORT_BINARY, export_sqlite},
    {0},
};

const struct option view_export_options[] = {
	{ "to", 0, OPTION_STRING, "FORMAT",
	  "folded, folded-diff, pprof, speedscope, heaptrack, massif,\n"
	  "                                callgrind, ndjson, csv or sqlite",
	  &format_name, NULL, NULL },
	{ 0 },
};

static int unknown_format(struct error *err)
{
	char all[256] = "";

	for (const struct export_format *f = formats; f->name; f++) {
		if (!f->write)
			continue;
		strncat(all, *all ? ", " : "", sizeof(all) - strlen(all) - 1);
		strncat(all, f->name, sizeof(all) - strlen(all) - 1);
	}
	if (!format_name)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "export needs --to FORMAT: %s", all);
	return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
			 "export does not know \"%s\": it is one of %s", format_name, all);
}

static const struct export_format *find_format(void)
{
	for (const struct export_format *f = formats; f->name && format_name; f++)
		if (f->write && !strcmp(f->name, format_name))
			return f;
	return NULL;
}

int view_export(struct view_request *request, struct trace_set *set, struct error *err)
{
	const struct export_format *format = find_format();
	struct export_job job = { .request = request, .set = set, .out = request->out };
	int status = 0;

	if (!format)
		return unknown_format(err);
	if ((format->flags & EXPORT_BINARY) && isatty(fileno(request->out)))
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "%s is nothing for a terminal: say -o FILE", format->name);
	request->query.limit = request->query.stacks = 0;
	if ((format->flags & EXPORT_LABELS) && request->query.by == BY_SITE)
		request->query.by = BY_THREAD;
	if (!(format->flags & EXPORT_EVENTS))
		status = profile_build(set, &request->query, &job.profile, err);
	if (!status)
		status = format->write(&job, err);
	profile_free(job.profile);
	return status;
}
