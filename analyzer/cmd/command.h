/*
 * The commands of the one program. `memprof NAME ...` and a program called
 * memprof-NAME are the same; the table is in cmd/main.c.
 */
#ifndef ANALYZER_CMD_COMMAND_H
#define ANALYZER_CMD_COMMAND_H

#include "util/error.h"

#include <stdbool.h>

enum exit_status {
	EXIT_DONE = 0,
	EXIT_NO = 1,       /* done, and the answer is no */
	EXIT_UNUSABLE = 2, /* the command or its input can't be used */
};

struct command {
	const char *name;
	const char *words; /* one line for --help */
	/* @program is the name for messages ("memprof-report" or "memprof run"),
	 * argv[0] the command's name. Returns the exit status. */
	int (*run)(const char *program, int argc, char **argv);
};

#define COMMAND_RUN(name) int name(const char *program, int argc, char **argv)
COMMAND_RUN(cmd_run);
COMMAND_RUN(cmd_report);
COMMAND_RUN(cmd_diff);
COMMAND_RUN(cmd_gate);
COMMAND_RUN(cmd_ctl);

/* Whether cmd_gate will understand these options: 0, or EXIT_UNUSABLE and said why. */
COMMAND_RUN(cmd_gate_check);

/* Prints @err and returns EXIT_UNUSABLE. */
int command_fails(const char *program, const struct error *err);
/* "PROGRAM: WORDS" and a hint at --help; EXIT_UNUSABLE. */
int command_misused(const char *program, const struct error *err);
void command_print_version(const char *program);

struct trace_set;
struct query;
/* Notes on stderr, for times asked for (@WHEN, --from, --to) that are beyond the end. */
void command_note_late(const char *program, const struct trace_set *set,
		       const struct query *query);

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
bool command_wants_color(int choice, int descriptor);
/* Columns of the terminal behind @descriptor; 0 = it is none. */
unsigned command_width(int descriptor);

#endif
