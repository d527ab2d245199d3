/*
 * JSON, written as it comes. Keys are NULL inside arrays. Strings may hold any
 * bytes: what is no UTF-8 becomes U+FFFD. Numbers that are whole are written
 * without a fraction; a number that is none (NaN) as null.
 */
#ifndef ANALYZER_VIEW_JSON_H
#define ANALYZER_VIEW_JSON_H

#include "model/number.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 1024    /* levels; deeper ones are the caller's to leave out */

struct json {
	FILE *out;
	unsigned depth;
	bool is_compact;           /* no line breaks */
	bool has_items[JSON_DEPTH];
	bool is_inline[JSON_DEPTH];        /* the object is kept on one line */
};

void json_init(struct json *json, FILE *out);
void json_object_begin(struct json *json, const char *key);
/* The same, on one line. */
void json_row_begin(struct json *json, const char *key);
void json_object_end(struct json *json);
void json_array_begin(struct json *json, const char *key);
/* The same, on one line. */
void json_list_begin(struct json *json, const char *key);
void json_array_end(struct json *json);
void json_string(struct json *json, const char *key, const char *value); /* NULL: null */
void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_double(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
/* {count, bytes, count_error, bytes_error} */
void json_number(struct json *json, const char *key, const struct number *number);
/* A line break after the outermost value. */
void json_end(struct json *json);

#endif
