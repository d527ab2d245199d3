/*
 * memprof-gate: fails a CI job that leaks or grows. Builds one profile of all
 * traces given (a process tree), holds it against limits and a baseline, and
 * tells the verdict in as many formats as are asked for.
 *
 * Exit status: 0 passes, 1 fails, 2 could not judge.
 */
#include "cmd/command.h"

#include "model/gate.h"
#include "model/leak_suppressions.h"
#include "model/trace_set.h"
#include "util/option.h"
#include "util/output.h"
#include "view/baseline_file.h"
#include "view/gate_report.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACKS_TOLD 10
#define LIMIT_OPTIONS 6

struct gate_request {
	const char *baseline_path;
	struct option_list configs, suppression_files, reports, debug_dirs, words;
	struct option_list limits[LIMIT_OPTIONS]; /* in the order of gate_kinds */
	const char *sysroot;
	const char *generate;      /* suppressions for what fails; "-" = standard output */
	uint64_t stacks;
	bool update_baseline, keep_all, fail_unused, allow_truncated, want_help, want_version;
};

/* Everything that is opened on the way, released in one place. */
struct gate_work {
	struct query query, baseline_query;
	struct trace_set set, baseline_set;
	struct profile *profile, *baseline_profile;
	struct suppressions *suppressions;
	struct gate_limits limits;
	struct baseline *now, *baseline;
	struct gate *gate;
};

static int take_generate(void *target, const char *argument, struct error *err)
{
	(void)err;
	*(const char **)target = argument ? argument : "-";
	return 0;
}

/* ---- options ----------------------------------------------------------------- */

static void limit_options(struct gate_request *request, struct option options[LIMIT_OPTIONS + 1])
{
	size_t i;

	for (i = 0; i < gate_kind_count && i < LIMIT_OPTIONS; i++)
		options[i] = (struct option){
			.name = gate_kinds[i].name,
			.kind = OPTION_LIST,
			.argument = gate_kinds[i].by_count ? "N" : "SIZE",
			.words = gate_kinds[i].words,
			.target = &request->limits[i],
		};
	options[i] = (struct option){ 0 };
}

static void print_formats(void)
{
	size_t i;

	printf("\nReports:\n");
	for (i = 0; i < gate_report_format_count; i++)
		printf("  %-10s %s\n", gate_report_formats[i].name, gate_report_formats[i].words);
}

static int print_help(const char *program, const struct option *limits,
		      const struct option *options)
{
	printf("Usage: %s [--baseline FILE] [LIMIT]... TRACE...\n\n"
	       "Holds traces against limits. Exit status 0: passes, 1: fails, 2: can't be judged.\n"
	       "Without a limit: nothing may be left unfreed, or with a baseline nothing more\n"
	       "than there.\n\n", program);
	option_help(stdout, "Limits (absolute, or +5% / +64KiB / +10 above the baseline):", limits);
	printf("\n");
	option_help(stdout, "Options:", options);
	print_formats();
	return EXIT_DONE;
}

/* ---- steps ------------------------------------------------------------------- */

static int load_suppressions(const struct gate_request *request, struct gate_work *work,
			     struct error *err)
{
	size_t i;
	int code = 0;

	work->suppressions = suppressions_new();
	if (!work->suppressions)
		return error_set(err, ERROR_MEMORY, NULL, ERROR_NO_OFFSET, "out of memory");
	if (!request->keep_all)
		code = suppressions_parse(work->suppressions, LEAK_SUPPRESSIONS_NAME,
					  leak_suppressions_default,
					  strlen(leak_suppressions_default), err);
	for (i = 0; !code && i < request->suppression_files.count; i++)
		code = suppressions_load(work->suppressions, request->suppression_files.items[i],
					 err);
	return code;
}

/* What holds when nobody named a limit. */
static int default_limits(const struct gate_request *request, struct gate_limits *limits,
			  struct error *err)
{
	const char *allowance = request->baseline_path ? "+0" : "0";
	int code = gate_limits_add(limits, gate_kind_find("max-leaked"), allowance, NULL, err);

	if (!code)
		code = gate_limits_add(limits, gate_kind_find("max-leaked-blocks"), allowance, NULL,
				       err);
	return code;
}

static int take_limits(const struct gate_request *request, struct gate_limits *limits,
		       struct error *err)
{
	size_t i, j;
	int code = 0;

	for (i = 0; !code && i < request->configs.count; i++)
		code = gate_limits_load(limits, request->configs.items[i], err);
	for (i = 0; i < gate_kind_count && i < LIMIT_OPTIONS; i++)
		for (j = 0; !code && j < request->limits[i].count; j++)
			code = gate_limits_add(limits, &gate_kinds[i], request->limits[i].items[j],
					       NULL, err);
	if (!code && !limits->count)
		code = default_limits(request, limits, err);
	if (!code && gate_limits_need_baseline(limits) && !request->baseline_path)
		code = error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "a limit with + is above a baseline: give one with --baseline");
	return code;
}

/* All stacks of all traces: nothing may be cut where sums are judged. */
static void query_for_gate(struct query *query, const struct gate_request *request)
{
	query_init(query);
	query->by = BY_SITE;
	query->sort = METRIC_LIVE;
	query->limit = 0;
	query->stacks = 0;
	query->sysroot = request->sysroot;
	query->debug_dirs = request->debug_dirs;
}

static int profile_of(const char *const *words, size_t count, const struct gate_request *request,
		      struct query *query, struct trace_set *set, struct profile **profile,
		      struct error *err)
{
	int code = trace_set_open(words, count, set, err);

	query_for_gate(query, request);
	return code ? code : profile_build(set, query, profile, err);
}

static bool is_json_file(const char *path)
{
	FILE *file = fopen(path, "re");
	int c = EOF;

	while (file && (c = fgetc(file)) != EOF && isspace(c))
		;
	if (file)
		fclose(file);
	return c == '{';
}

/* A baseline is its JSON file, or simply an earlier trace. */
static bool is_baseline_file(const struct gate_request *request)
{
	const char *path = request->baseline_path;

	return path && !request->update_baseline &&
	       (is_json_file(path) || (!strchr(path, '@') && access(path, R_OK)));
}

static int take_baseline_trace(const struct gate_request *request, struct gate_work *work,
			       struct error *err)
{
	const char *path = request->baseline_path;
	int code;

	if (!path || request->update_baseline || work->baseline)
		return 0;
	code = profile_of(&path, 1, request, &work->baseline_query, &work->baseline_set,
			  &work->baseline_profile, err);
	if (!code)
		code = baseline_of_profile(work->baseline_profile, work->suppressions,
					   &work->baseline, err);
	if (!code)
		work->baseline->path = strdup(path);
	return code;
}

static int check_complete(const struct gate_request *request, const struct profile *profile,
			  struct error *err)
{
	size_t i;

	if (profile->complete || request->allow_truncated)
		return 0;
	for (i = 0; i < profile->trace_count; i++)
		if (!profile->traces[i].trace->info.complete)
			return error_set(err, ERROR_TRUNCATED, profile->traces[i].trace->path,
					 ERROR_NO_OFFSET,
					 "the trace was cut short, so its program can't be judged "
					 "(memprof-report info says why; --allow-truncated judges "
					 "what is there)");
	return error_set(err, ERROR_TRUNCATED, NULL, ERROR_NO_OFFSET, "a trace was cut short");
}

/* ---- results ------------------------------------------------------------------ */

static char *join_command(const struct trace *trace)
{
	char *text = NULL, **word;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (word = trace->info.command; word && *word; word++)
		fprintf(out, "%s%s", word == trace->info.command ? "" : " ", *word);
	fclose(out);
	return text;
}

static int write_to(const char *path, struct error *err,
		    void (*write)(const void *what, FILE *out), const void *what)
{
	struct output output;
	int code = output_open(&output, path, err);

	if (code)
		return code;
	write(what, output.file);
	return output_close(&output, true, err);
}

struct report_job {
	const struct gate_report *report;
	const struct gate_report_format *format;
};

static void write_report(const void *what, FILE *out)
{
	const struct report_job *job = what;

	job->format->write(job->report, out);
}

/* "junit=out.xml" or "text". */
static int write_reports(const struct gate_request *request, const struct gate_report *report,
			 struct error *err)
{
	static const char *const by_default[] = { "text" };
	const char *const *words = request->reports.count ? request->reports.items : by_default;
	size_t count = request->reports.count ? request->reports.count : 1, i;
	int code = 0;

	for (i = 0; !code && i < count; i++) {
		char name[32];
		size_t length = strcspn(words[i], "=");
		struct report_job job = { .report = report };

		snprintf(name, sizeof(name), "%.*s", (int)length, words[i]);
		job.format = gate_report_find(name);
		code = write_to(words[i][length] ? words[i] + length + 1 : NULL, err, write_report,
				&job);
	}
	return code;
}

static int check_reports(const struct gate_request *request, struct error *err)
{
	size_t i;

	for (i = 0; i < request->reports.count; i++) {
		const char *word = request->reports.items[i];
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
		if (!gate_report_find(name))
			return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
					 "%s is no report: text, json, junit, sarif, github, "
					 "gitlab (with =FILE)", word);
	}
	return 0;
}

struct baseline_job {
	const struct baseline *baseline;
	const char *command;
};

static void write_baseline(const void *what, FILE *out)
{
	const struct baseline_job *job = what;

	baseline_write(job->baseline, job->command, out);
}

static void write_suppressions(const void *what, FILE *out)
{
	const struct gate_report *report = what;
	size_t i, j;

	for (i = 0; i < report->gate->leak_count; i++) {
		struct suppression_frame seen[64];
		const struct profile_frame *frames;
		size_t count = gate_leak_frames(report, &report->gate->leaks[i], &frames);
		char words[1024];

		for (j = 0; j < count && j < 64; j++)
			seen[j] = suppression_frame_of(&frames[j]);
		suppressions_generate(out, seen, j,
				      gate_leak_words(report, &report->gate->leaks[i], words,
						      sizeof(words)));
	}
}

static bool has_unused(const struct suppressions *suppressions)
{
	size_t i;

	for (i = 0; i < suppressions_count(suppressions); i++)
		if (gate_is_unused(suppressions_use(suppressions, i)))
			return true;
	return false;
}

static int tell(const char *program, const struct gate_request *request,
		const struct gate_work *work, const char *command, struct error *err)
{
	static const int statuses[] = { EXIT_DONE, EXIT_NO, EXIT_UNUSABLE };
	struct gate_report report = {
		.gate = work->gate,
		.now = work->now,
		.baseline = work->baseline,
		.profile = work->profile,
		.suppressions = work->suppressions,
		.trace = work->set.name,
		.command = command,
		.is_complete = work->profile->complete,
		.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
		.stacks_max = request->stacks ? request->stacks : SIZE_MAX,
	};
	int code = write_reports(request, &report, err);

	if (!code && request->generate)
		code = write_to(request->generate, err, write_suppressions, &report);
	if (code)
		return command_fails(program, err);
	if (work->gate->verdict == GATE_PASS && request->fail_unused &&
	    has_unused(work->suppressions)) {
		fprintf(stderr, "%s: a suppression is not used any more, and "
			"--fail-unused-suppressions was given\n", program);
		return EXIT_NO;
	}
	return statuses[work->gate->verdict];
}

static int update_baseline(const char *program, const struct gate_request *request,
			   const struct gate_work *work, const char *command, struct error *err)
{
	struct baseline_job job = { .baseline = work->now, .command = command };

	if (write_to(request->baseline_path, err, write_baseline, &job))
		return command_fails(program, err);
	printf("%s: baseline of %zu stack%s written\n", request->baseline_path,
	       work->now->stacks.count, work->now->stacks.count == 1 ? "" : "s");
	return EXIT_DONE;
}

/* All that can be wrong without a trace. */
static int prepare_request(const struct gate_request *request, struct gate_work *work,
			   struct error *err)
{
	int code = check_reports(request, err);

	if (!code)
		code = load_suppressions(request, work, err);
	if (!code)
		code = take_limits(request, &work->limits, err);
	if (!code && is_baseline_file(request))
		code = baseline_load(request->baseline_path, work->suppressions, &work->baseline,
				     err);
	return code;
}

static int prepare(const struct gate_request *request, struct gate_work *work, struct error *err)
{
	int code = prepare_request(request, work, err);

	if (!code)
		code = profile_of(request->words.items, request->words.count, request, &work->query,
				  &work->set, &work->profile, err);
	if (!code)
		code = check_complete(request, work->profile, err);
	if (!code)
		code = take_baseline_trace(request, work, err);
	if (!code)
		code = baseline_of_profile(work->profile, work->suppressions, &work->now, err);
	if (!code)
		code = gate_judge(work->now, work->baseline, &work->limits, &work->gate, err);
	return code;
}

static void work_release(struct gate_work *work)
{
	gate_free(work->gate);
	baseline_free(work->now);
	baseline_free(work->baseline);
	profile_free(work->profile);
	profile_free(work->baseline_profile);
	trace_set_close(&work->set);
	trace_set_close(&work->baseline_set);
	gate_limits_release(&work->limits);
	suppressions_free(work->suppressions);
}

static int run(const char *program, const struct gate_request *request)
{
	struct gate_work work = { 0 };
	struct error err = { 0 };
	char *command;
	int status;

	if (prepare(request, &work, &err)) {
		status = command_fails(program, &err);
	} else {
		command = join_command(work.set.members[0].trace);
		status = request->update_baseline
				 ? update_baseline(program, request, &work, command, &err)
				 : tell(program, request, &work, command, &err);
		free(command);
	}
	work_release(&work);
	return status;
}

/* As run, but there is no trace yet. */
static int check_only(const char *program, const struct gate_request *request)
{
	struct gate_work work = { 0 };
	struct error err = { 0 };
	int status = EXIT_DONE;

	if (request->words.count) {
		error_set(&err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
			  "%s is no limit: the traces are those of this run",
			  request->words.items[0]);
		status = command_misused(program, &err);
	} else if (prepare_request(request, &work, &err)) {
		status = command_fails(program, &err);
	}
	work_release(&work);
	return status;
}

static int gate(const char *program, int argc, char **argv, bool has_traces)
{
	struct gate_request request = { .stacks = STACKS_TOLD };
	const struct option options[] = {
		{ "baseline", 'b', OPTION_STRING, "FILE",
		  "what is allowed: a baseline file, or an earlier trace",
		  &request.baseline_path, NULL, NULL },
		{ "update-baseline", 0, OPTION_FLAG, NULL,
		  "write the baseline file anew instead of judging", &request.update_baseline,
		  NULL, NULL },
		{ "config", 0, OPTION_LIST, "FILE",
		  "more limits: lines LIMIT VALUE or site PATTERN LIMIT VALUE", &request.configs,
		  NULL, NULL },
		{ "suppressions", 's', OPTION_LIST, "FILE",
		  "stacks not to be judged, as LeakSanitizer or valgrind write them",
		  &request.suppression_files, NULL, NULL },
		{ "no-default-suppressions", 0, OPTION_FLAG, NULL,
		  "judge what libc keeps, too", &request.keep_all, NULL, NULL },
		{ "gen-suppressions", 0, OPTION_CALL, "[FILE]",
		  "write suppressions for what fails", &request.generate, NULL, take_generate },
		{ "fail-unused-suppressions", 0, OPTION_FLAG, NULL,
		  "a suppression that covers nothing fails too", &request.fail_unused, NULL, NULL },
		{ "allow-truncated", 0, OPTION_FLAG, NULL,
		  "judge what there is of a trace cut short", &request.allow_truncated, NULL,
		  NULL },
		{ "report", 'r', OPTION_LIST, "FORMAT[=FILE]",
		  "how to tell the verdict; may be given again", &request.reports, NULL, NULL },
		{ "stacks", 0, OPTION_NUMBER, "N", "stacks told in full (0 = all)",
		  &request.stacks, NULL, NULL },
		{ "debug-dir", 0, OPTION_LIST, "DIR", "look for debug information here too",
		  &request.debug_dirs, NULL, NULL },
		{ "sysroot", 0, OPTION_STRING, "DIR", "the traced program's files lie below DIR",
		  &request.sysroot, NULL, NULL },
		{ "help", 'h', OPTION_FLAG, NULL, "print this help", &request.want_help, NULL,
		  NULL },
		{ "version", 0, OPTION_FLAG, NULL, "print the version", &request.want_version,
		  NULL, NULL },
		{ 0 },
	};
	struct option limits[LIMIT_OPTIONS + 1];
	const struct option *const tables[] = { limits, options, NULL };
	struct error err = { 0 };

	limit_options(&request, limits);
	if (option_parse(argc, argv, tables, &request.words, &err) < 0)
		return command_misused(program, &err);
	if (request.want_help)
		return print_help(program, limits, options);
	if (request.want_version) {
		command_print_version(program);
		return EXIT_DONE;
	}
	if (request.update_baseline && !request.baseline_path) {
		error_set(&err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
			  "--update-baseline needs --baseline FILE");
		return command_misused(program, &err);
	}
	return has_traces ? run(program, &request) : check_only(program, &request);
}

int cmd_gate(const char *program, int argc, char **argv)
{
	return gate(program, argc, argv, true);
}

int cmd_gate_check(const char *program, int argc, char **argv)
{
	return gate(program, argc, argv, false);
}
