/*
 * The page of a memprof that was built without npm: a table, no script.
 */
#ifndef ANALYZER_VIEW_HTML_PLAIN_H
#define ANALYZER_VIEW_HTML_PLAIN_H

#include "model/profile.h"

#include <stdio.h>

/* Writes part @index of @count of one document. @sentences may be NULL each. */
void html_plain(FILE *out, struct profile *profile, const char *const sentences[2], size_t index,
		size_t count);

/* Text as text: what has a meaning in markup is escaped. */
void html_text(FILE *out, const char *text);

#endif
