/*
 * Reads a JSON text (RFC 8259) into a tree. Made for our own files (baselines),
 * careful with anybody's: depth, sizes and every byte are checked.
 */
#ifndef ANALYZER_UTIL_JSON_READ_H
#define ANALYZER_UTIL_JSON_READ_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json_value {
	enum json_type type;
	bool boolean;
	double number;
	const char *string;        /* UTF-8, ends with a zero; \u0000 is refused */
	struct json_value *items;  /* of an array, or the values of an object */
	const char **names;        /* of an object's values, in the file's order */
	size_t count;
};

struct json_document;

/* Parses @text. The tree lives as long as *@document, which is the caller's,
 * for json_free. @name stands for the file in errors, which name the line. */
int json_parse(const char *name, const char *text, size_t bytes, struct json_document **document,
	       struct error *err);
int json_load(const char *path, struct json_document **document, struct error *err);
void json_free(struct json_document *document);
const struct json_value *json_root(const struct json_document *document);

/* The value called @name of an object; NULL when it is not there or @object is
 * none (also NULL), so that look-ups can be chained. */
const struct json_value *json_get(const struct json_value *object, const char *name);

/* What a member says, or @otherwise when it is missing or of another type. */
const char *json_get_string(const struct json_value *object, const char *name,
			    const char *otherwise);
double json_get_number(const struct json_value *object, const char *name, double otherwise);

#endif
