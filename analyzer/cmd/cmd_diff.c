/*
 * memprof diff: what grew, what shrank, what is new and what is gone between two
 * traces or two moments of one.
 */
#include "cmd/command.h"

#include "cmd/query_options.h"
#include "model/diff.h"
#include "util/output.h"
#include "view/diff_view.h"

#include <locale.h>
#include <unistd.h>

#define FALSE_DISCOVERY_RATE 0.05

static bool wants_exit_code, only_significant;

static const struct option diff_options[] = {
	{ "exit-code", 0, OPTION_FLAG, NULL, "exit status 1 when they differ, as git diff",
	  &wants_exit_code, NULL, NULL },
	{ "significant", 0, OPTION_FLAG, NULL, "leave out what sampling noise may explain",
	  &only_significant, NULL, NULL },
	{ 0 },
};

static int print_help(void)
{
	fputs("memprof-diff [OPTIONS] BASELINE[@WHEN] LATER[@WHEN]\n\n"
	      "  What grew, what shrank, what is new, what is gone; largest growth of live\n"
	      "  bytes first (--sort takes another metric).\n"
	      "  WHEN: a snapshot's name or #number, a time (12.5s, 50%), peak, end, auto#N.\n",
	      stdout);
	option_help(stdout, "Of this command", diff_options);
	query_options_help(stdout);
	return EXIT_DONE;
}

static int parse(int argc, char **argv, struct error *err)
{
	const struct option *tables[] = { diff_options, query_choice_options,
					  query_filter_options, query_name_options,
					  query_output_options, NULL };
	struct option_list *words = &query_request.words;
	int status = option_parse(argc, argv, tables, words, err);

	if (status < 0)
		return status;
	if (query_flags.wants_help || query_flags.wants_version || words->count == 2)
		return 0;
	return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
			 "a diff is of two traces or moments, not %zu", words->count);
}

static bool differs(const struct diff *diff)
{
	for (size_t i = 0; i < diff->count; i++)
		if (diff->rows[i].is_significant)
			return true;
	return false;
}

static int answer(struct trace_set *baseline, struct trace_set *later, struct error *err)
{
	struct view_request *request = &query_request;
	struct diff diff;
	struct diff_view view = { request, baseline, later, &diff, only_significant };
	struct output output;
	bool is_different;
	int status = diff_build(baseline, later, &request->query, FALSE_DISCOVERY_RATE, &diff, err);

	if (status)
		return status;
	is_different = differs(&diff);
	status = output_open(&output, request->output, err);
	if (!status) {
		request->out = output.file;
		diff_view_print(&view);
		status = output_close(&output, true, err);
	}
	diff_release(&diff);
	return status ? status : wants_exit_code && is_different ? EXIT_NO : EXIT_DONE;
}

int cmd_diff(const char *program, int argc, char **argv)
{
	struct error err = { .offset = ERROR_NO_OFFSET };
	struct trace_set baseline = { 0 }, later = { 0 };
	const char *const *words;
	int status;

	setlocale(LC_CTYPE, "");
	query_options_init(program);
	query_request.query.sort = METRIC_LIVE;
	status = parse(argc, argv, &err);
	if (status)
		return command_misused(program, &err);
	if (query_flags.wants_help)
		return print_help();
	if (query_flags.wants_version) {
		command_print_version(program);
		return EXIT_DONE;
	}
	query_request.color = !query_request.output && query_request.format == FORMAT_TEXT &&
			      command_wants_color(query_flags.color, STDOUT_FILENO);
	query_request.width = query_request.output ? 0 : command_width(STDOUT_FILENO);
	words = query_request.words.items;
	status = trace_set_open(words, 1, &baseline, &err);
	if (!status)
		status = trace_set_open(words + 1, 1, &later, &err);
	if (!status)
		status = answer(&baseline, &later, &err);
	trace_set_close(&baseline);
	trace_set_close(&later);
	query_options_release();
	return status < 0 ? command_fails(program, &err) : status;
}
