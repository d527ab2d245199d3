/*
 * memprof diff: what grew, what shrank, what is new and what is gone between two
 * traces or two moments of one; or how it went on over three and more.
 */
#include "cmd/command.h"

#include "cmd/query_options.h"
#include "util/memory.h"
#include "util/output.h"
#include "view/diff_view.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FALSE_DISCOVERY_RATE 0.05

static bool wants_exit_code;
static struct diff_choice choice = { .request = &query_request, .level = FALSE_DISCOVERY_RATE };

static int take_normalize(void *target, const char *argument, struct error *err)
{
	(void)target;
	if (!*argument)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "--normalize: events, time, or the name of an event");
	choice.normalize = normalize_parse(argument);
	return 0;
}

/* "5", "5%": percent. */
static int take_level(void *target, const char *argument, struct error *err)
{
	char *end;
	double percent = strtod(argument, &end);

	(void)target;
	if (end == argument || (*end && strcmp(end, "%")) || !(percent > 0 && percent < 100))
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "--level %s: a share above 0%% and below 100%%", argument);
	choice.level = percent / 100;
	return 0;
}

static const struct option diff_options[] = {
	{ "exit-code", 0, OPTION_FLAG, NULL, "exit status 1 when they differ, as git diff",
	  &wants_exit_code, NULL, NULL },
	{ "significant", 0, OPTION_FLAG, NULL, "leave out what sampling noise may explain",
	  &choice.only_significant, NULL, NULL },
	{ "level", 0, OPTION_CALL, "PERCENT", "false discoveries among what is significant (5%)",
	  NULL, NULL, take_level },
	{ "normalize", 0, OPTION_CALL, "BY", "divide by: events (allocations), time, or an event",
	  NULL, NULL, take_normalize },
	{ 0 },
};

static int print_help(void)
{
	fputs("memprof-diff [OPTIONS] BASELINE[@WHEN] LATER[@WHEN]\n"
	      "memprof-diff [OPTIONS] FIRST[@WHEN] NEXT[@WHEN]... LAST[@WHEN]\n\n"
	      "  What grew, what shrank, what is new, what is gone; largest growth of live\n"
	      "  bytes first (--sort takes another metric). Three or more: a column for each,\n"
	      "  and whether what grew still rises.\n"
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
	if (query_flags.wants_help || query_flags.wants_version || words->count >= 2)
		return 0;
	return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
			 "a diff is of two traces or moments, or more, not %zu", words->count);
}

/* ---- two ---- */

static bool diff_differs(const struct diff *diff)
{
	for (size_t i = 0; i < diff->count; i++)
		if (diff->rows[i].is_significant)
			return true;
	return false;
}

static int answer_two(struct trace_set *sets, bool *is_different, struct error *err)
{
	struct output output;
	struct diff diff;
	int status = diff_build(&sets[0], &sets[1], &query_request.query, &choice.normalize,
				choice.level, &diff, err);

	if (status)
		return status;
	*is_different = diff_differs(&diff);
	status = output_open(&output, query_request.output, err);
	if (!status) {
		query_request.out = output.file;
		diff_view_print(&choice, &sets[0], &sets[1], &diff);
		status = output_close(&output, true, err);
	}
	diff_release(&diff);
	return status;
}

/* ---- more ---- */

static bool series_differs(const struct series *series)
{
	for (size_t i = 0; i < series->row_count; i++)
		if (series->rows[i].is_significant)
			return true;
	return false;
}

static int answer_more(struct trace_set *sets, size_t count, bool *is_different, struct error *err)
{
	struct output output;
	struct series series;
	int status = series_build(sets, count, &query_request.query, &choice.normalize,
				  choice.level, &series, err);

	if (status)
		return status;
	*is_different = series_differs(&series);
	status = output_open(&output, query_request.output, err);
	if (!status) {
		query_request.out = output.file;
		series_view_print(&choice, &series);
		status = output_close(&output, true, err);
	}
	series_release(&series);
	return status;
}

static int answer(struct error *err)
{
	const char *const *words = query_request.words.items;
	size_t count = query_request.words.count;
	struct trace_set *sets = memory_zeroed(count, sizeof(*sets));
	bool is_different = false;
	int status = 0;

	for (size_t i = 0; !status && i < count; i++)
		status = trace_set_open(words + i, 1, &sets[i], err);
	for (size_t i = 0; !status && i < count; i++)
		command_note_late(query_request.program, &sets[i], &query_request.query);
	if (!status)
		status = count == 2 ? answer_two(sets, &is_different, err) :
				      answer_more(sets, count, &is_different, err);
	for (size_t i = 0; i < count; i++)
		trace_set_close(&sets[i]);
	free(sets);
	return status ? status : wants_exit_code && is_different ? EXIT_NO : EXIT_DONE;
}

int cmd_diff(const char *program, int argc, char **argv)
{
	struct error err = { .offset = ERROR_NO_OFFSET };
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
	status = answer(&err);
	query_options_release();
	return status < 0 ? command_fails(program, &err) : status;
}
