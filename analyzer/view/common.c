/*
 * See common.h.
 */
#include "view/common.h"

#include "util/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *loss_name(uint32_t cause)
{
	static const char *const names[] = {
		[TRACE_LOSS_NO_SPACE] = "no_space",   [TRACE_LOSS_NO_MEMORY] = "no_memory",
		[TRACE_LOSS_BUSY] = "busy",           [TRACE_LOSS_MAX_TRACE] = "max_trace",
		[TRACE_LOSS_CLOSED] = "closed",       [TRACE_LOSS_STOPPED] = "stopped",
		[TRACE_LOSS_LATE] = "late",
	};

	return cause < sizeof(names) / sizeof(*names) && names[cause] ? names[cause] : "other";
}

/* ---- JSON ---- */

static void json_losses(struct json *json, const struct trace *trace)
{
	json_row_begin(json, "dropped");
	for (size_t i = 0; i < trace->loss_count; i++)
		if (trace->losses[i].events)
			json_unsigned(json, loss_name(trace->losses[i].cause),
				      trace->losses[i].events);
	json_object_end(json);
}

void json_trace(struct json *json, const char *key, const struct profile_trace *pt)
{
	const struct trace_info *info = &pt->trace->info;

	json_object_begin(json, key);
	json_string(json, "path", pt->trace->path);
	json_unsigned(json, "pid", info->pid);
	json_string(json, "exe", info->exe);
	json_list_begin(json, "command");
	for (char **word = info->command; word && *word; word++)
		json_string(json, NULL, *word);
	json_array_end(json);
	json_unsigned(json, "start_unix_ns", info->start_unix_ns);
	json_unsigned(json, "duration_ns", info->duration_ns);
	json_unsigned(json, "rate_bytes", info->rate_bytes);
	json_bool(json, "exact", info->exact);
	json_bool(json, "complete", info->complete);
	json_unsigned(json, "events", pt->stats.events);
	json_losses(json, pt->trace);
	json_unsigned(json, "modules", pt->modules_used);
	json_unsigned(json, "unresolved_frames", pt->unresolved_frames);
	json_object_end(json);
}

void json_traces(struct json *json, const struct trace_set *set, const struct profile *profile)
{
	if (!set->from_folder && profile->trace_count == 1) {
		json_trace(json, "trace", &profile->traces[0]);
		return;
	}
	json_array_begin(json, "traces");
	for (size_t i = 0; i < profile->trace_count; i++)
		json_trace(json, NULL, &profile->traces[i]);
	json_array_end(json);
}

void json_tally(struct json *json, const struct tally *tally)
{
	for (int m = 0; m < METRIC_COUNT; m++)
		json_number(json, metric_names[m], &tally->of[m]);
}

void json_totals(struct json *json, const struct profile *profile)
{
	json_object_begin(json, "totals");
	json_tally(json, &profile->heap);
	json_number(json, "inherited", &profile->inherited);
	json_number(json, "unknown", &profile->unknown);
	json_object_end(json);
	json_object_begin(json, "mapped");
	for (int m = METRIC_ALLOCATED; m <= METRIC_PEAK; m++)
		json_number(json, metric_names[m], &profile->mapped.of[m]);
	json_object_end(json);
}

void json_place(struct json *json, const struct profile_frame *frame)
{
	json_string(json, "function", frame->function);
	json_string(json, "file", frame->file);
	if (frame->line)
		json_unsigned(json, "line", frame->line);
	else
		json_null(json, "line");
	json_string(json, "module", frame->module);
	if (frame->module || frame->module_offset)
		json_unsigned(json, "module_offset", frame->module_offset);
	else
		json_null(json, "module_offset");
}

void json_frames(struct json *json, const char *key, const struct profile_frame *frames,
		 size_t count)
{
	json_array_begin(json, key);
	for (size_t i = 0; i < count; i++) {
		json_row_begin(json, NULL);
		json_place(json, &frames[i]);
		json_bool(json, "inlined", frames[i].is_inlined);
		json_object_end(json);
	}
	json_array_end(json);
}

static void json_stack(struct json *json, struct profile *profile,
		       const struct profile_stack *stack)
{
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, stack, &frames);

	json_object_begin(json, NULL);
	json_tally(json, &stack->tally);
	json_frames(json, "frames", frames, count);
	json_object_end(json);
}

void json_site(struct json *json, struct profile *profile, const struct profile_site *site,
	       size_t stacks)
{
	json_string(json, "kind", site->kind == TALLY_HEAP ? "malloc" : "mmap");
	if (site->label)
		json_string(json, query_by_names[profile->query->by], site->label);
	json_place(json, &site->where);
	json_tally(json, &site->tally);
	json_array_begin(json, "stacks");
	for (size_t i = 0; i < site->stack_count && i < stacks; i++)
		json_stack(json, profile, &site->stacks[i]);
	json_array_end(json);
}

/* ---- text ---- */

char *frame_words(const struct profile_frame *frame)
{
	const char *module = path_base(frame->module);

	if (frame->function && frame->file && frame->line)
		return memory_format("%s  %s:%u", frame->function, path_base(frame->file),
				     frame->line);
	if (frame->function && frame->file)
		return memory_format("%s  %s", frame->function, path_base(frame->file));
	if (frame->function && frame->module)
		return memory_format("%s  %s", frame->function, module);
	if (frame->function)
		return memory_string(frame->function);
	if (frame->module && frame->module_offset)
		return memory_format("%s+0x%" PRIx64, module, frame->module_offset);
	if (frame->module)
		return memory_string(frame->module);
	return memory_format("0x%" PRIx64, frame->module_offset);
}

char *site_words(const struct profile_site *site)
{
	return site->label ? memory_string(site->label) : frame_words(&site->where);
}

char *moment_words(const struct moment *moment)
{
	char text[UNITS_BYTES];

	if (moment->kind == MOMENT_PEAK)
		return memory_string("the peak");
	if (moment->kind == MOMENT_END)
		return memory_string("the end");
	if (!moment->words)
		return memory_string(units_duration(text, moment->time_ns));
	return memory_format("@%s (%s)", moment->words, units_duration(text, moment->time_ns));
}

void table_stack(struct table *table, struct profile *profile, const struct profile_stack *stack,
		 size_t frames_max)
{
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, stack, &frames);

	for (size_t i = 0; i < count && i < frames_max; i++) {
		char *words = frame_words(&frames[i]);

		table_line(table, TABLE_DIM, "      %s%s", words,
			   frames[i].is_inlined ? " (inlined)" : "");
		free(words);
	}
	if (count > frames_max)
		table_line(table, TABLE_DIM, "      ... %zu more frames", count - frames_max);
}

/* ---- the heading ---- */

#define FEW_SAMPLES 100

static void warn(const struct view_request *request, const char *words)
{
	if (request->color)
		fprintf(request->out, "\033[33m%s\033[0m\n", words);
	else
		fprintf(request->out, "%s\n", words);
}

static void warn_few_samples(const struct view_request *request, const struct profile *profile)
{
	char *words;

	if (profile->exact || profile->sampled >= FEW_SAMPLES)
		return;
	if (profile->samples && !profile->sampled) /* all of it while every one was recorded */
		return;
	words = memory_format("Only %" PRIu64 " samples: these figures are rough. A smaller "
			      "MEMPROF_RATE gives more.", profile->sampled);
	warn(request, words);
	free(words);
}

static void warn_incomplete(const struct view_request *request, const struct trace *trace)
{
	uint64_t lost = 0;
	char *words;

	for (size_t i = 0; i < trace->loss_count; i++)
		if (trace->losses[i].cause != TRACE_LOSS_STOPPED)
			lost += trace->losses[i].events;
	if (trace->info.running)
		words =
		    memory_format("%s: still running; this is the state up to now.", trace->path);
	else if (lost)
		words = memory_format("%s: %" PRIu64 " events were lost: the figures are too low.",
				      trace->path, lost);
	else if (trace->fault_count)
		words = memory_format("%s: damaged; what could be read is shown.", trace->path);
	else
		words = memory_format("%s: cut short: the process did not end in order; figures "
				      "are those up to its last record.", trace->path);
	warn(request, words);
	free(words);
}

static void warn_own_malloc(const struct view_request *request, const struct trace *trace)
{
	char *words;

	if (!trace->info.own_malloc || !*trace->info.own_malloc)
		return;
	words = memory_format("%s has a malloc of its own: what it gives is not seen.",
			      trace->info.own_malloc);
	warn(request, words);
	free(words);
}

#define COMMAND_COLUMNS 60

/* One line of it: scripts given on the command line have many. */
static void print_command(FILE *out, const struct trace_info *info)
{
	char text[4096] = "", cut[4096];
	size_t used = 0;

	if (!info->command || !info->command[0])
		snprintf(text, sizeof(text), "%s", path_base(info->exe));
	for (char **word = info->command; word && *word && used < sizeof(text); word++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 word == info->command ? "" : " ",
					 word == info->command ? path_base(*word) : *word);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = ' ';
	fputs(text_cut(text, COMMAND_COLUMNS, cut, sizeof(cut)), out);
}

static void print_exactness(FILE *out, const struct profile *profile)
{
	char rate[UNITS_BYTES];
	const struct trace_info *info = &profile->traces[0].trace->info;

	if (profile->exact)
		fputs("exact", out);
	else
		fprintf(out, "sampled every %s, ± is one standard error",
			units_bytes(rate, (double)info->rate_bytes, false));
}

void print_heading(const struct view_request *request, const struct trace_set *set,
		   const struct profile *profile)
{
	FILE *out = request->out;
	char text[UNITS_BYTES];

	warn_few_samples(request, profile);
	for (size_t i = 0; i < profile->trace_count; i++) {
		const struct trace *trace = profile->traces[i].trace;

		if (!trace->info.complete)
			warn_incomplete(request, trace);
		warn_own_malloc(request, trace);
	}
	if (profile->trace_count == 1) {
		const struct profile_trace *pt = &profile->traces[0];

		print_command(out, &pt->trace->info);
		fprintf(out, ": pid %" PRIu64 ", %s, ", pt->trace->info.pid,
			units_duration(text, pt->trace->info.duration_ns));
		print_exactness(out, profile);
		if (pt->when.kind != MOMENT_END) {
			char *words = moment_words(&pt->when);

			fprintf(out, ", at %s", words);
			free(words);
		}
	} else {
		fprintf(out, "%s: %zu processes, ", set->name, profile->trace_count);
		print_exactness(out, profile);
	}
	fputs("\n\n", out);
}

/* ---- CSV ---- */

void csv_text(FILE *out, const char *text, bool first)
{
	if (!first)
		fputc(',', out);
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void csv_double(FILE *out, double value)
{
	if (value == floor(value))
		fprintf(out, ",%.0f", value);
	else
		fprintf(out, ",%.3f", value);
}
