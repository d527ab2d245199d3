/*
 * memprof report: parses the request, opens the traces, lets the view answer,
 * and tells what was wrong with the traces.
 */
#include "cmd/command.h"

#include "cmd/query_options.h"
#include "util/guess.h"
#include "util/output.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(FILE *out, const struct view *view)
{
	if (view) {
		fprintf(out, "memprof-report %s [OPTIONS] %s\n\n  %s\n", view->name, view->usage,
			view->words);
		if (view->options)
			option_help(out, "Of this view", view->options);
	} else {
		fputs("memprof-report [VIEW] [OPTIONS] [TRACE[@WHEN]]...\n\n"
		      "  TRACE is a file, or a folder = a process tree; none = the newest here.\n"
		      "  WHEN is a snapshot's name or #number, a time (12.5s), peak, end, reset\n"
		      "  or auto#N: the heap as it was then.\n\nViews (without one: summary)\n",
		      out);
		for (view = views; view->name; view++)
			if (view->show)
				fprintf(out, "  %-11s %s\n", view->name, view->words);
	}
	query_options_help(out);
}

/* ---- the request ---- */

/* The view is the first word; options of its own may follow it only. */
static const struct view *take_view(int *argc, char ***argv)
{
	const struct view *view = *argc > 1 ? view_find((*argv)[1]) : NULL;

	if (view) {
		++*argv;
		--*argc;
	}
	return view;
}

static const struct view *view_among_words(struct option_list *words)
{
	const struct view *view = words->count ? view_find(words->items[0]) : NULL;

	if (view) {
		words->items++;
		words->count--;
	}
	return view;
}

static int parse(int argc, char **argv, const struct view *view, struct error *err)
{
	static const struct option none[] = { { 0 } };
	const struct option *tables[] = { view && view->options ? view->options : none,
					  query_choice_options, query_filter_options,
					  query_name_options, query_output_options, NULL };
	int status = option_parse(argc, argv, tables, &query_request.words, err);

	return status < 0 ? status : 0;
}

static int check(const struct view *view, struct error *err)
{
	const struct view_request *request = &query_request;

	if (request->format == FORMAT_JSON && !(view->flags & VIEW_HAS_JSON))
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "%s can't be had as JSON", view->name);
	if (request->format == FORMAT_CSV && !(view->flags & VIEW_HAS_CSV))
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET, "%s can't be had as CSV",
				 view->name);
	if ((view->flags & VIEW_NEEDS_OUTPUT) && !request->output && isatty(STDOUT_FILENO))
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "%s is nothing for a terminal: say -o FILE", view->name);
	if (request->query.max_size && request->query.max_size < request->query.min_size)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "--max-size is below --min-size");
	return 0;
}

/* ---- the answer ---- */

#define FAULTS_TOLD 3

static void tell_faults(const char *program, const struct trace_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct trace *trace = set->members[i].trace;

		for (size_t f = 0; f < trace->fault_count && f < FAULTS_TOLD; f++) {
			struct error err;

			error_set(&err, ERROR_FORMAT, trace->path, trace->faults[f].offset, "%s%s",
				  trace->faults[f].in_companion ? "(companion) " : "",
				  trace->faults[f].words);
			error_print(&err, program);
		}
		if (trace->fault_count > FAULTS_TOLD)
			fprintf(stderr, "%s: %s: %zu more faults (info lists them)\n", program,
				trace->path, trace->fault_count - FAULTS_TOLD);
	}
}

static int answer(const struct view *view, struct error *err)
{
	struct view_request *request = &query_request;
	struct trace_set set = { 0 };
	struct output output = { 0 };
	bool opens_output = !(view->flags & VIEW_PLAIN_OUTPUT);
	int status = 0, closed = 0;

	if (view->flags & VIEW_OPENS_TRACES)
		status = trace_set_open(request->words.items, request->words.count, &set, err);
	if (!status && opens_output)
		status = output_open(&output, request->output, err);
	if (!status) {
		request->out = output.file;
		status = view->show(request, &set, err);
	}
	tell_faults(request->program, &set);
	command_note_late(request->program, &set, &request->query);
	if (output.file)
		closed = output_close(&output, status >= 0, status < 0 ? NULL : err);
	trace_set_close(&set);
	return closed ? closed : status;
}

static bool answer_without_trace(const struct view *view)
{
	query_request.out = stdout;
	return view->instead && view->instead(&query_request);
}

/* A word that is no file was more likely meant to be a view. */
static int check_words(const struct view *view, struct error *err)
{
	const char *word = query_request.words.count ? query_request.words.items[0] : NULL;
	struct guess guess;
	char hint[GUESS_HINT];

	if (view || !word || strpbrk(word, "/.@") || !access(word, F_OK))
		return 0;
	guess = guess_of(word, strlen(word));
	for (const struct view *v = views; v->name; v++)
		if (v->show)
			guess_offer(&guess, v->name);
	return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET, "no view and no trace \"%s\"%s",
			 word, guess_hint(&guess, "", hint));
}

int cmd_report(const char *program, int argc, char **argv)
{
	struct error err = { .offset = ERROR_NO_OFFSET };
	const struct view *view = take_view(&argc, &argv);
	int status;

	setlocale(LC_CTYPE, "");
	query_options_init(program);
	status = parse(argc, argv, view, &err);
	if (!status && !view)
		view = view_among_words(&query_request.words);
	if (!status && query_flags.wants_help) {
		print_help(stdout, view);
		return EXIT_DONE;
	}
	if (!status && query_flags.wants_version) {
		command_print_version(program);
		return EXIT_DONE;
	}
	if (!status)
		status = check_words(view, &err);
	if (!view)
		view = view_find("summary");
	if (!status)
		status = view ? check(view, &err) : ERROR_USAGE;
	if (status)
		return command_misused(program, &err);
	query_request.color = !query_request.output && query_request.format == FORMAT_TEXT &&
			      command_wants_color(query_flags.color, STDOUT_FILENO);
	query_request.width = query_request.output ? 0 : command_width(STDOUT_FILENO);
	if (answer_without_trace(view))
		return EXIT_DONE;
	status = answer(view, &err);
	query_options_release();
	if (status < 0)
		return command_fails(program, &err);
	return status ? EXIT_NO : EXIT_DONE;
}
