/*
 * See error.h. Nothing here allocates, so an error can always be told.
 */
#include "util/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *err, enum error_code code, const char *file, uint64_t offset,
	      const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	err->offset = offset;
	snprintf(err->file, sizeof(err->file), "%s", file ? file : "");
	va_start(args, format);
	vsnprintf(err->words, sizeof(err->words), format, args);
	va_end(args);
	return code;
}

void error_print(const struct error *err, const char *program)
{
	fprintf(stderr, "%s: ", program);
	if (err->file[0])
		fprintf(stderr, "%s: ", err->file);
	if (err->offset != ERROR_NO_OFFSET)
		fprintf(stderr, "offset %" PRIu64 ": ", err->offset);
	fprintf(stderr, "%s\n", err->words);
}
