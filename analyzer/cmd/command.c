/*
 * What commands do alike: complaining, versions, the terminal.
 */
#include "cmd/command.h"

#include "model/moment.h"
#include "model/query.h"
#include "view/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef MEMPROF_VERSION
#define MEMPROF_VERSION "0.1.0"
#endif

int command_fails(const char *program, const struct error *err)
{
	error_print(err, program);
	return EXIT_UNUSABLE;
}

int command_misused(const char *program, const struct error *err)
{
	error_print(err, program);
	fprintf(stderr, "Try \"%s --help\".\n", program);
	return EXIT_UNUSABLE;
}

void command_print_version(const char *program)
{
	(void)program;
	puts("memprof " MEMPROF_VERSION);
}

/* The processes of a tree end one by one: a moment is late when all have. */
static uint64_t end_of(const struct trace_set *set, const struct trace_set_member *member)
{
	uint64_t end_ns = member->trace->info.duration_ns;

	for (size_t i = 0; set->from_folder && i < set->count; i++)
		if (set->members[i].trace->info.duration_ns > end_ns)
			end_ns = set->members[i].trace->info.duration_ns;
	return end_ns;
}

static void note_late(const char *program, const char *path, const char *sign, const char *when,
		      uint64_t end_ns)
{
	char end[UNITS_BYTES];

	fprintf(stderr, "%s: %s: %s%s is beyond the end, which is at %s\n", program, path, sign,
		when, units_duration(end, end_ns));
}

void command_note_late(const char *program, const struct trace_set *set,
		       const struct query *query)
{
	const struct {
		const char *sign, *when;
	} asked[] = { { "--from ", query->from }, { "--to ", query->to } };
	uint64_t time_ns;

	for (size_t i = 0; i < set->count; i++) {
		const struct trace_set_member *member = &set->members[i];
		uint64_t end_ns = end_of(set, member);

		if (member->when.kind == MOMENT_TIME && member->when.time_ns > end_ns)
			note_late(program, member->trace->path, "@", member->when.words, end_ns);
		for (size_t j = 0; j < sizeof(asked) / sizeof(asked[0]); j++)
			if (asked[j].when && !duration_parse(asked[j].when, &time_ns) &&
			    time_ns > end_ns)
				note_late(program, member->trace->path, asked[j].sign,
					  asked[j].when, end_ns);
	}
}

/* NO_COLOR and CLICOLOR_FORCE as no-color.org and bixense.com/clicolors say. */
bool command_wants_color(int choice, int descriptor)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");

	if (choice != COLOR_AUTO)
		return choice == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	if (force && *force && strcmp(force, "0"))
		return true;
	return isatty(descriptor) && term && strcmp(term, "dumb");
}

unsigned command_width(int descriptor)
{
	struct winsize size;

	if (!isatty(descriptor) || ioctl(descriptor, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}
