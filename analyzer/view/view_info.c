/*
 * info: what the trace itself is like: whose it is, from when, whether all of
 * it is there, what was lost and why. --verify decodes and replays everything
 * and says what its checks found.
 */
#include "view/common.h"

#include "model/wrapper.h"
#include "util/memory.h"
#include "view/view_options.h"
#include "view/view_symbols.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool list_wrappers, wants_verify, wants_check;

const struct option view_info_options[] = {
	{ "wrappers", 0, OPTION_FLAG, NULL, "list the functions that a call site is never in",
	  &list_wrappers, NULL, NULL },
	{ "verify", 0, OPTION_FLAG, NULL, "decode and replay everything, and check it",
	  &wants_verify, NULL, NULL },
	{ "check-symbols", 0, OPTION_FLAG, NULL,
	  "compare two independent readers of debug information", &wants_check, NULL, NULL },
	{ 0 },
};

bool view_info_instead(struct view_request *request)
{
	if (list_wrappers)
		wrapper_print(request->out);
	return list_wrappers;
}

/* ---- verifying ---- */

struct verdict {
	struct trace_replay_stats stats;
	double seconds, cpu_seconds;
};

static int pass_over(void *context, const struct trace_event *events, size_t count)
{
	(void)context;
	(void)events;
	(void)count;
	return 0;
}

static double clock_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int verify(struct trace *trace, struct verdict *verdict, struct error *err)
{
	double start = clock_seconds(CLOCK_MONOTONIC);
	double cpu_start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	int status = trace_replay(trace, pass_over, NULL, &verdict->stats, err);

	verdict->seconds = clock_seconds(CLOCK_MONOTONIC) - start;
	verdict->cpu_seconds = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
	return status;
}

static bool is_right(const struct verdict *verdict)
{
	return !verdict->stats.stack_mismatches && !verdict->stats.totals_mismatches;
}

/* ---- words ---- */

static const char *loss_words(uint32_t cause)
{
	static const char *const words[] = {
		[TRACE_LOSS_NO_SPACE] = "the trace could not grow (disk full, file size limit)",
		[TRACE_LOSS_NO_MEMORY] = "no memory for a thread's state",
		[TRACE_LOSS_BUSY] = "a signal handler interrupted the recorder",
		[TRACE_LOSS_MAX_TRACE] = "MEMPROF_MAX_TRACE was reached",
		[TRACE_LOSS_CLOSED] = "the program closed the trace and it can't be opened again",
		[TRACE_LOSS_STOPPED] = "recording was off (not an error)",
		[TRACE_LOSS_LATE] = "after the end of the process had begun (not an error)",
	};

	return cause < sizeof(words) / sizeof(*words) && words[cause] ? words[cause] :
									 "cause not told";
}

static const char *end_words(const struct trace *trace)
{
	static const char *const words[] = {
		[0] = "no end is recorded: killed, or the file is cut short",
		[TRACE_END_EXIT] = "the process ended",
		[TRACE_END_EXEC] = "the process went on as another program (exec)",
		[TRACE_END_STOPPED] = "the library gave up recording",
		[TRACE_END_FULL] = "MEMPROF_MAX_TRACE was reached",
	};
	uint32_t end = trace->info.end;

	if (trace->info.running)
		return "the process is still running";
	return end < sizeof(words) / sizeof(*words) ? words[end] : "an end of an unknown kind";
}

static void line(FILE *out, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void line(FILE *out, const char *name, const char *format, ...)
{
	va_list args;

	fprintf(out, "%-10s ", name);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fputc('\n', out);
}

/* ---- text ---- */

static void print_process(FILE *out, const struct trace_info *info)
{
	char when[64] = "", duration[UNITS_BYTES];
	time_t start = (time_t)(info->start_unix_ns / 1000000000);
	struct tm tm;

	line(out, "program", "%s", info->exe ? info->exe : "not known");
	fprintf(out, "%-10s", "command");
	for (char **word = info->command; *word; word++)
		fprintf(out, " %s", *word);
	fputc('\n', out);
	line(out, "process", "%" PRIu64 ", child of %" PRIu64 ", on %s", info->pid, info->ppid,
	     info->host ? info->host : "a machine not known");
	if (info->forked)
		line(out, "", "forked: it began with its parent's blocks");
	if (gmtime_r(&start, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	line(out, "started", "%s, recorded for %s", when,
	     units_duration(duration, info->duration_ns));
	if (info->allocator)
		line(out, "allocator", "%s", info->allocator);
	if (info->own_malloc && *info->own_malloc)
		line(out, "", "%s has a malloc of its own: what it gives is not seen",
		     info->own_malloc);
}

static void print_recording(FILE *out, const struct trace *trace)
{
	const struct trace_info *info = &trace->info;
	char text[UNITS_BYTES];
	size_t snapshots = 0;

	for (size_t i = 0; i < trace->mark_count; i++)
		snapshots += trace->marks[i].kind == TRACE_MARK_SNAPSHOT;
	if (info->exact)
		line(out, "recorded", "every allocation, stacks of up to %" PRIu64 " frames",
		     info->depth);
	else
		line(out, "recorded", "one sample every %s on average, stacks of up to %" PRIu64
		     " frames", units_bytes(text, (double)info->rate_bytes, false), info->depth);
	line(out, "size", "%s in %zu pieces of %zu lanes",
	     units_bytes(text, (double)info->bytes, false), info->pieces, info->lanes);
	if (info->has_companion)
		line(out, "", "joined with its companion file");
	line(out, "events", "%" PRIu64 "%s", info->events,
	     info->events ? "" : ": nothing was allocated while recording was on");
	line(out, "threads", "%zu", trace->thread_count);
	line(out, "marks", "%zu, %zu of them snapshots", trace->mark_count, snapshots);
	line(out, "readings", "%zu of the resident size", trace->reading_count);
	line(out, "version", "%s", info->version ? info->version : "not known");
}

static void print_losses(FILE *out, const struct trace *trace)
{
	const char *name = "lost";

	for (size_t i = 0; i < trace->loss_count; i++) {
		if (!trace->losses[i].events)
			continue;
		line(out, name, "%" PRIu64 " events: %s", trace->losses[i].events,
		     loss_words(trace->losses[i].cause));
		name = "";
	}
	if (*name)
		line(out, name, "nothing");
}

static void print_faults(FILE *out, const struct trace *trace)
{
	const char *name = "damage";

	for (size_t i = 0; i < trace->fault_count; i++) {
		const struct trace_fault *fault = &trace->faults[i];

		if (fault->offset == ERROR_NO_OFFSET)
			line(out, name, "%s", fault->words);
		else
			line(out, name, "%soffset %" PRIu64 ": %s",
			     fault->in_companion ? "companion, " : "", fault->offset,
			     fault->words);
		name = "";
	}
}

static void print_settings(FILE *out, const char *settings)
{
	const char *name = "settings";

	while (settings && *settings) {
		size_t length = strcspn(settings, "\n");

		line(out, name, "%.*s", (int)length, settings);
		name = "";
		settings += length + (settings[length] == '\n');
	}
}

static void print_verdict(FILE *out, const struct verdict *verdict)
{
	const struct trace_replay_stats *stats = &verdict->stats;
	double rate = verdict->seconds > 0 ? (double)stats->events / verdict->seconds : 0;

	line(out, "verified", "%" PRIu64 " events in %.3f s (%.1f million a second)",
	     stats->events, verdict->seconds, rate / 1e6);
	line(out, "", "%" PRIu64 " allocations, %" PRIu64 " frees, %" PRIu64
	     " reallocs (counted in both), %" PRIu64 " maps, %" PRIu64 " unmaps",
	     stats->allocations, stats->frees, stats->reallocations, stats->maps,
	     stats->unmaps);
	line(out, "", "%" PRIu64 " frees of blocks from before, %" PRIu64
	     " put in order, %" PRIu64 " frees missing", stats->inherited_frees,
	     stats->order_repairs, stats->replaced);
	if (stats->unknown)
		line(out, "", "%" PRIu64 " blocks were live when recording was stopped",
		     stats->unknown);
	if (stats->stack_checks)
		line(out, "", "%" PRIu64 " stacks compared with another unwinder's, %" PRIu64
		     " differ", stats->stack_checks, stats->stack_mismatches);
	if (stats->totals_mismatches)
		line(out, "", "%" PRIu64 " counts of the library differ from what was decoded",
		     stats->totals_mismatches);
}

static int print_text(struct view_request *request, const struct trace *trace,
		      const struct verdict *verdict, struct error *err)
{
	FILE *out = request->out;

	line(out, "trace", "%s", trace->path);
	print_process(out, &trace->info);
	print_recording(out, trace);
	line(out, "complete", "%s%s", trace->info.complete ? "yes" : "no: ",
	     trace->info.complete ? "" : end_words(trace));
	print_losses(out, trace);
	print_faults(out, trace);
	if (verdict)
		print_verdict(out, verdict);
	print_settings(out, trace->info.settings);
	return view_symbols_text(request, trace, err);
}

/* ---- JSON ---- */

static void json_faults(struct json *json, const struct trace *trace)
{
	json_array_begin(json, "faults");
	for (size_t i = 0; i < trace->fault_count; i++) {
		json_row_begin(json, NULL);
		if (trace->faults[i].offset != ERROR_NO_OFFSET)
			json_unsigned(json, "offset", trace->faults[i].offset);
		json_bool(json, "in_companion", trace->faults[i].in_companion);
		json_string(json, "words", trace->faults[i].words);
		json_object_end(json);
	}
	json_array_end(json);
}

static void json_verdict(struct json *json, const struct verdict *verdict)
{
	const struct trace_replay_stats *stats = &verdict->stats;

	json_object_begin(json, "verified");
	json_double(json, "seconds", verdict->seconds);
	json_double(json, "cpu_seconds", verdict->cpu_seconds);
	json_unsigned(json, "events", stats->events);
	json_unsigned(json, "allocations", stats->allocations);
	json_unsigned(json, "frees", stats->frees);
	json_unsigned(json, "reallocations", stats->reallocations);
	json_unsigned(json, "maps", stats->maps);
	json_unsigned(json, "unmaps", stats->unmaps);
	json_unsigned(json, "inherited_frees", stats->inherited_frees);
	json_unsigned(json, "order_repairs", stats->order_repairs);
	json_unsigned(json, "missing_frees", stats->replaced);
	json_unsigned(json, "unknown", stats->unknown);
	json_unsigned(json, "stack_checks", stats->stack_checks);
	json_unsigned(json, "stack_mismatches", stats->stack_mismatches);
	json_unsigned(json, "totals_mismatches", stats->totals_mismatches);
	json_object_end(json);
}

static void json_losses_by_cause(struct json *json, const struct trace *trace)
{
	json_row_begin(json, "dropped");
	for (size_t i = 0; i < trace->loss_count; i++)
		if (trace->losses[i].events)
			json_unsigned(json, loss_name(trace->losses[i].cause),
				      trace->losses[i].events);
	json_object_end(json);
}

static int json_info(struct view_request *request, struct json *json, const struct trace *trace,
		     const struct verdict *verdict, struct error *err)
{
	const struct trace_info *info = &trace->info;
	int status;

	json_object_begin(json, NULL);
	json_string(json, "path", trace->path);
	json_unsigned(json, "pid", info->pid);
	json_unsigned(json, "ppid", info->ppid);
	json_string(json, "exe", info->exe);
	json_list_begin(json, "command");
	for (char **word = info->command; *word; word++)
		json_string(json, NULL, *word);
	json_array_end(json);
	json_string(json, "host", info->host);
	json_string(json, "version", info->version);
	json_string(json, "allocator", info->allocator);
	json_string(json, "own_malloc", info->own_malloc);
	json_string(json, "parent_trace", info->parent_trace);
	json_bool(json, "forked", info->forked);
	json_unsigned(json, "start_unix_ns", info->start_unix_ns);
	json_unsigned(json, "duration_ns", info->duration_ns);
	json_unsigned(json, "rate_bytes", info->rate_bytes);
	json_unsigned(json, "depth", info->depth);
	json_bool(json, "exact", info->exact);
	json_bool(json, "complete", info->complete);
	json_bool(json, "running", info->running);
	json_string(json, "end", end_words(trace));
	json_unsigned(json, "events", info->events);
	json_unsigned(json, "bytes", info->bytes);
	json_unsigned(json, "pieces", info->pieces);
	json_unsigned(json, "lanes", info->lanes);
	json_unsigned(json, "threads", trace->thread_count);
	json_unsigned(json, "marks", trace->mark_count);
	json_unsigned(json, "readings", trace->reading_count);
	json_losses_by_cause(json, trace);
	json_string(json, "settings", info->settings);
	status = view_symbols_json(request, json, trace, err);
	json_faults(json, trace);
	if (verdict)
		json_verdict(json, verdict);
	json_object_end(json);
	return status;
}

VIEW_SHOW(view_info)
{
	struct json json;
	bool all_right = true;

	json_init(&json, request->out);
	if (request->format == FORMAT_JSON) {
		json_object_begin(&json, NULL);
		json_string(&json, "schema", "memprof.info/1");
		json_array_begin(&json, "traces");
	}
	for (size_t i = 0; i < set->count; i++) {
		struct trace *trace = set->members[i].trace;
		struct verdict verdict;
		int status = wants_verify ? verify(trace, &verdict, err) : 0;

		if (status)
			return status;
		all_right &= !wants_verify || is_right(&verdict);
		if (request->format == FORMAT_JSON)
			status = json_info(request, &json, trace, wants_verify ? &verdict : NULL,
					   err);
		else if (wants_check)
			status = view_symbols_check(request, trace, err);
		else
			status = print_text(request, trace, wants_verify ? &verdict : NULL, err);
		if (status < 0)
			return status;
		all_right &= !status;
		if (request->format == FORMAT_TEXT && i + 1 < set->count)
			fputc('\n', request->out);
	}
	if (request->format == FORMAT_JSON) {
		json_array_end(&json);
		json_object_end(&json);
		json_end(&json);
	}
	return all_right ? 0 : 1;
}
