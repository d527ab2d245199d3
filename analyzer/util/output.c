/*
 * See output.h.
 */
#include "util/output.h"

#include "util/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(struct error *err, const char *path, const char *what)
{
	return error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "%s: %s", what,
			 strerror(errno));
}

/* A device or pipe given as -o is written to as it is. */
static bool is_no_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static int give_up(struct output *output, int descriptor, struct error *err)
{
	int status = failed(err, output->path, "can't be written");

	if (descriptor >= 0) {
		close(descriptor);
		unlink(output->temporary);
	}
	free(output->temporary);
	free(output->path);
	*output = (struct output){ 0 };
	return status;
}

int output_open(struct output *output, const char *path, struct error *err)
{
	int descriptor;

	*output = (struct output){ .file = stdout };
	if (!path || !strcmp(path, "-"))
		return 0;
	output->path = memory_string(path);
	if (is_no_file(path)) {
		output->file = fopen(path, "w");
		return output->file ? 0 : give_up(output, -1, err);
	}
	output->temporary = memory_format("%s.XXXXXX", path);
	descriptor = mkstemp(output->temporary);
	output->file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
	if (!output->file)
		return give_up(output, descriptor, err);
	/* mkstemp's 0600 would be odd for a report: what umask lets through. */
	mode_t mask = umask(0);

	umask(mask);
	fchmod(descriptor, 0666 & ~mask);
	return 0;
}

int output_close(struct output *output, bool keep, struct error *err)
{
	int status = 0;
	bool is_bad = ferror(output->file) || fflush(output->file);

	if (output->file != stdout)
		is_bad |= fclose(output->file) != 0;
	if (is_bad && keep)
		status = failed(err, output->path ? output->path : "standard output",
				"could not be written whole");
	if (output->temporary) {
		if (!keep || status)
			unlink(output->temporary);
		else if (rename(output->temporary, output->path))
			status = failed(err, output->path, "can't be put in its place");
	}
	free(output->temporary);
	free(output->path);
	*output = (struct output){ 0 };
	return status;
}
