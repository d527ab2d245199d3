/*
 * What commands do alike: complaining, versions, the terminal.
 */
#include "cmd/command.h"

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
