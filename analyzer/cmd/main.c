/*
 * memprof: one program for all commands. Called as memprof-NAME it is
 * `memprof NAME`. What a command prints to a pipe that was closed (| head) is
 * nobody's business any more: SIGPIPE ends it quietly.
 */
#include "cmd/command.h"

#include "util/guess.h"
#include "view/view.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
	{ "run", "run a program under the profiler", cmd_run },
	{ "report", "look at traces", cmd_report },
	{ "diff", "what grew between two traces or moments", cmd_diff },
	{ "gate", "pass or fail by limits and a baseline, for CI", cmd_gate },
	{ "ctl", "steer a running process: status, start, stop, rate, snapshot", cmd_ctl },
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* Views are commands to those who type faster than they read. */
static int no_such_command(const char *name)
{
	struct guess guess = guess_of(name, strlen(name));
	char hint[GUESS_HINT];

	for (size_t i = 0; i < COMMANDS; i++)
		guess_offer(&guess, commands[i].name);
	if (view_find(name))
		fprintf(stderr, "memprof: no command \"%s\": did you mean memprof report %s?\n",
			name, name);
	else
		fprintf(stderr, "memprof: no command \"%s\"%s\n", name,
			guess_hint(&guess, "", hint));
	fputs("Try \"memprof --help\".\n", stderr);
	return EXIT_UNUSABLE;
}

static int print_help(FILE *out)
{
	fputs("memprof: where a program's memory goes\n\n"
	      "  memprof COMMAND [OPTIONS] ...\n\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].words);
	fputs("\n`memprof COMMAND --help` tells more. Five minutes:\n\n"
	      "  memprof run ./app args          records; says where the trace is\n"
	      "  memprof report                  sums up the newest trace here\n"
	      "  memprof report leaks            what was not freed, by line\n"
	      "  memprof diff X.trace@1s X.trace what grew\n",
	      out);
	return out == stdout ? EXIT_DONE : EXIT_UNUSABLE;
}

static int run_as(const struct command *command, const char *program, int argc, char **argv)
{
	argv[0] = (char *)command->name;
	return command->run(program, argc, argv);
}

/* "memprof-report" names the command; lt- and paths in front don't matter. */
static const char *command_in_name(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;

	return strncmp(name, "memprof-", 8) ? NULL : name + 8;
}

static int run_named(int argc, char **argv)
{
	const char *name = argc > 0 ? command_in_name(argv[0]) : NULL;
	const struct command *command;
	char program[64];

	if (name && (command = find_command(name))) {
		snprintf(program, sizeof(program), "memprof-%s", command->name);
		return run_as(command, program, argc, argv);
	}
	if (argc < 2)
		return print_help(stderr);
	if (!strcmp(argv[1], "--version")) {
		command_print_version("memprof");
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return print_help(stdout);
	command = find_command(argv[1]);
	if (!command)
		return no_such_command(argv[1]);
	snprintf(program, sizeof(program), "memprof %s", command->name);
	return run_as(command, program, argc - 1, argv + 1);
}

/* Help and versions go to a full disk now and then, too: then nothing is done.
 * A recorded program's own status stays what it is. */
static int with_output(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "memprof: standard output could not be written whole: %s\n",
		strerror(errno));
	return status == EXIT_DONE ? EXIT_UNUSABLE : status;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_DFL);
	return with_output(run_named(argc, argv));
}
