/*
 * See query_options.h.
 */
#include "cmd/query_options.h"

#include "cmd/command.h"
#include "trace/trace.h"

struct view_request query_request;
struct query_flags query_flags;

static const char *const format_names[] = { "text", "json", "csv", NULL };
static const char *const color_names[] = { "auto", "always", "never", NULL };

static int take_pattern(void *target, const char *argument, struct error *err)
{
	return pattern_add(target, argument, err);
}

static int take_sort(void *target, const char *argument, struct error *err)
{
	return query_sort_parse(target, argument, err);
}

#define FLAG(name, letter, words, target)                                                          \
	{ name, letter, OPTION_FLAG, NULL, words, target, NULL, NULL }
#define TAKES(name, letter, kind, argument, words, target)                                         \
	{ name, letter, kind, argument, words, target, NULL, NULL }
#define CHOICE(name, argument, words, target, choices)                                             \
	{ name, 0, OPTION_CHOICE, argument, words, target, choices, NULL }
#define PATTERN(name, words, field)                                                                \
	{ name, 0, OPTION_CALL, "RE", words, &query_request.query.field, NULL, take_pattern }

const struct option query_output_options[] = {
	CHOICE("format", "FORMAT", "text, json or csv", &query_request.format, format_names),
	TAKES("output", 'o', OPTION_STRING, "FILE", "write there (whole or not at all)",
	      &query_request.output),
	CHOICE("color", "WHEN", "auto, always or never", &query_flags.color, color_names),
	FLAG("raw", 0, "plain numbers, no units", &query_request.raw),
	FLAG("help", 'h', "this text", &query_flags.wants_help),
	FLAG("version", 0, "print the version", &query_flags.wants_version),
	{ 0 },
};

const struct option query_choice_options[] = {
	CHOICE("by", "WHAT",
	       "site, function, line, stack, module, thread, scope, size or process",
	       &query_request.query.by, query_by_names),
	{ "sort", 0, OPTION_CALL, "METRIC",
	  "allocated, freed, live, peak or temporary; METRIC.count by count",
	  &query_request.query, NULL, take_sort },
	FLAG("by-count", 'c', "order and shares by count, not bytes",
	     &query_request.query.by_count),
	TAKES("limit", 'n', OPTION_NUMBER, "N", "rows shown, 0 = all", &query_request.query.limit),
	TAKES("stacks", 0, OPTION_NUMBER, "N", "stacks shown per site, 0 = all",
	      &query_request.query.stacks),
	{ 0 },
};

const struct option query_filter_options[] = {
	PATTERN("focus", "only stacks with a frame that matches", focus),
	PATTERN("ignore", "no stacks with a frame that matches", ignore),
	PATTERN("hide", "leave frames out that match", hide),
	PATTERN("show", "leave frames out that don't match", show),
	PATTERN("thread", "only blocks that such threads allocated (name or tid)", thread),
	PATTERN("module", "only call sites in such modules", module),
	TAKES("min-size", 0, OPTION_SIZE, "SIZE", "only blocks of at least so many bytes",
	      &query_request.query.min_size),
	TAKES("max-size", 0, OPTION_SIZE, "SIZE", "only blocks of at most so many bytes",
	      &query_request.query.max_size),
	TAKES("from", 0, OPTION_STRING, "WHEN", "only blocks allocated after that moment",
	      &query_request.query.from),
	TAKES("to", 0, OPTION_STRING, "WHEN", "as if the trace ended at that moment",
	      &query_request.query.to),
	FLAG("no-index", 0, "neither use nor keep what speeds up large traces",
	     &trace_index_is_off),
	{ 0 },
};

const struct option query_name_options[] = {
	FLAG("no-inlines", 0, "don't show inlined functions", &query_request.query.no_inlines),
	FLAG("no-demangle", 0, "names as linkers know them", &query_request.query.no_demangle),
	FLAG("shorten", 0, "names without template arguments and parameters",
	     &query_request.query.shorten),
	PATTERN("wrappers", "more functions that are no call sites", wrappers),
	FLAG("keep-wrappers", 0, "malloc's direct caller is the call site",
	     &query_request.query.keep_wrappers),
	TAKES("debug-dir", 0, OPTION_LIST, "DIR", "look for debug information there, too",
	      &query_request.query.debug_dirs),
	FLAG("debuginfod", 0, "fetch debug information from the servers in $DEBUGINFOD_URLS",
	     &query_request.query.debuginfod),
	TAKES("sysroot", 0, OPTION_STRING, "DIR", "programs and libraries lie below it",
	      &query_request.query.sysroot),
	{ 0 },
};

void query_options_init(const char *program)
{
	query_request = (struct view_request){ .program = program };
	query_flags = (struct query_flags){ .color = COLOR_AUTO };
	query_init(&query_request.query);
}

void query_options_release(void)
{
	query_release(&query_request.query);
}

void query_options_help(FILE *out)
{
	option_help(out, "What is shown", query_choice_options);
	option_help(out, "What counts", query_filter_options);
	option_help(out, "Names", query_name_options);
	option_help(out, "Output", query_output_options);
}
