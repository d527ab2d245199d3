/*
 * See json_read.h. One pass of recursive descent. All memory of a document
 * hangs on one list of blocks, so it is given back at once and nothing is lost
 * where an error ends the parse.
 */
#include "util/json_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

struct block {
	struct block *next;
	_Alignas(16) char bytes[];
};

struct json_document {
	struct block *blocks;
	struct json_value root;
};

struct parser {
	struct json_document *document;
	const char *name;
	const char *start, *at, *end;
	unsigned depth;
	struct error *err;
};

static int fail(const struct parser *parser, const char *words)
{
	unsigned line = 1;
	char place[4096];
	const char *at;

	for (at = parser->start; at < parser->at; at++)
		line += *at == '\n';
	snprintf(place, sizeof(place), "%s: line %u", parser->name, line);
	return error_set(parser->err, ERROR_FORMAT, place, ERROR_NO_OFFSET, "%s", words);
}

static void *document_take(struct json_document *document, size_t bytes)
{
	struct block *block = malloc(sizeof(*block) + bytes);

	if (!block)
		return NULL;
	block->next = document->blocks;
	document->blocks = block;
	return block->bytes;
}

static int out_of_memory(const struct parser *parser)
{
	return error_set(parser->err, ERROR_MEMORY, parser->name, ERROR_NO_OFFSET,
			 "out of memory");
}

static void skip_blanks(struct parser *parser)
{
	while (parser->at < parser->end && memchr(" \t\r\n", *parser->at, 4))
		parser->at++;
}

/* Takes @c when it is next. */
static bool take(struct parser *parser, char c)
{
	skip_blanks(parser);
	if (parser->at == parser->end || *parser->at != c)
		return false;
	parser->at++;
	return true;
}

static bool take_word(struct parser *parser, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length))
		return false;
	parser->at += length;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits; -1 when they are none. */
static long parse_unit(struct parser *parser)
{
	long unit = 0;
	int i;

	for (i = 0; i < 4; i++, parser->at++) {
		int digit = parser->at < parser->end ? hex_digit(*parser->at) : -1;

		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

static char *store_utf8(char *out, long point)
{
	if (point < 0x80) {
		*out++ = (char)point;
	} else if (point < 0x800) {
		*out++ = (char)(0xc0 | point >> 6);
		*out++ = (char)(0x80 | (point & 0x3f));
	} else if (point < 0x10000) {
		*out++ = (char)(0xe0 | point >> 12);
		*out++ = (char)(0x80 | (point >> 6 & 0x3f));
		*out++ = (char)(0x80 | (point & 0x3f));
	} else {
		*out++ = (char)(0xf0 | point >> 18);
		*out++ = (char)(0x80 | (point >> 12 & 0x3f));
		*out++ = (char)(0x80 | (point >> 6 & 0x3f));
		*out++ = (char)(0x80 | (point & 0x3f));
	}
	return out;
}

/* Behind "\u": one code point, maybe of two units. Negative: not one. */
static long parse_point(struct parser *parser)
{
	long high = parse_unit(parser), low;

	if (high < 0xd800 || high > 0xdfff)
		return high;
	if (high > 0xdbff || !take_word(parser, "\\u"))
		return -1;
	low = parse_unit(parser);
	if (low < 0xdc00 || low > 0xdfff)
		return -1;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static int parse_escape(struct parser *parser, char **out)
{
	static const char codes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char code = parser->at < parser->end ? *parser->at++ : 0;
	const char *known = code ? strchr(codes, code) : NULL;
	long point;

	if (known) {
		*(*out)++ = meant[known - codes];
		return 0;
	}
	point = code == 'u' ? parse_point(parser) : -1;
	if (point <= 0)
		return fail(parser, "has a bad escape in a string");
	*out = store_utf8(*out, point);
	return 0;
}

/* Behind the opening quote. An escape never grows, so the room between the
 * quotes is enough. */
static int parse_string(struct parser *parser, const char **string)
{
	const char *stop = parser->at;
	char *out, *start;

	while (stop < parser->end && *stop != '"')
		stop += *stop == '\\' ? 2 : 1;
	if (stop >= parser->end)
		return fail(parser, "has a string without an end");
	start = out = document_take(parser->document, (size_t)(stop - parser->at) + 1);
	if (!out)
		return out_of_memory(parser);
	while (parser->at < stop) {
		char c = *parser->at++;

		if ((unsigned char)c < 0x20)
			return fail(parser, "has a control character in a string");
		if (c != '\\')
			*out++ = c;
		else if (parse_escape(parser, &out))
			return ERROR_FORMAT;
	}
	*out = 0;
	parser->at = stop + 1;
	*string = start;
	return 0;
}

static int parse_number(struct parser *parser, double *number)
{
	char text[64], *end;
	size_t length = 0;

	while (parser->at + length < parser->end && length < sizeof(text) - 1 &&
	       memchr("+-0123456789.eE", parser->at[length], 15))
		length++;
	memcpy(text, parser->at, length);
	text[length] = 0;
	*number = strtod(text, &end);
	if (!length || *end || text[0] == '+' || text[0] == '.')
		return fail(parser, "has something that is no JSON value");
	parser->at += length;
	return 0;
}

static int parse_value(struct parser *parser, struct json_value *value);

/* Moves @count values (and names) that were gathered on the heap into the
 * document. */
static int keep_items(struct parser *parser, struct json_value *value, struct json_value *items,
		      const char **names, size_t count)
{
	value->count = count;
	if (!count)
		return 0;
	value->items = document_take(parser->document, count * sizeof(*items));
	if (!value->items)
		return out_of_memory(parser);
	memcpy(value->items, items, count * sizeof(*items));
	if (!names)
		return 0;
	value->names = document_take(parser->document, count * sizeof(*names));
	if (!value->names)
		return out_of_memory(parser);
	memcpy(value->names, names, count * sizeof(*names));
	return 0;
}

static int parse_name(struct parser *parser, const char **name)
{
	int code;

	if (!take(parser, '"'))
		return fail(parser, "has an object whose member has no name");
	code = parse_string(parser, name);
	if (!code && !take(parser, ':'))
		code = fail(parser, "lacks a ':' behind a name");
	return code;
}

/* Behind the opening bracket; @close says which it was. */
static int parse_items(struct parser *parser, struct json_value *value, char close)
{
	struct json_value *items = NULL;
	const char **names = NULL;
	size_t count = 0, room = 0;
	bool named = close == '}';
	int code = 0;

	if (take(parser, close))
		return 0;
	do {
		if (count == room) {
			struct json_value *more;
			const char **more_names;

			room = room ? 2 * room : 16;
			more = realloc(items, room * sizeof(*items));
			items = more ? more : items;
			more_names = more ? realloc(names, room * sizeof(*names)) : NULL;
			names = more_names ? more_names : names;
			if (!more_names) {
				code = out_of_memory(parser);
				break;
			}
		}
		if (named)
			code = parse_name(parser, &names[count]);
		if (!code)
			code = parse_value(parser, &items[count]);
		count += !code;
	} while (!code && take(parser, ','));
	if (!code && !take(parser, close))
		code = fail(parser, named ? "lacks a '}' or ','" : "lacks a ']' or ','");
	if (!code)
		code = keep_items(parser, value, items, named ? names : NULL, count);
	free(items);
	free(names);
	return code;
}

static int parse_nested(struct parser *parser, struct json_value *value, char close)
{
	int code;

	if (++parser->depth > DEPTH_MAX)
		return fail(parser, "is nested too deeply");
	code = parse_items(parser, value, close);
	parser->depth--;
	return code;
}

static int parse_value(struct parser *parser, struct json_value *value)
{
	memset(value, 0, sizeof(*value));
	skip_blanks(parser);
	if (take_word(parser, "null"))
		return 0;
	if (take(parser, '{')) {
		value->type = JSON_OBJECT;
		return parse_nested(parser, value, '}');
	}
	if (take(parser, '[')) {
		value->type = JSON_ARRAY;
		return parse_nested(parser, value, ']');
	}
	if (take(parser, '"')) {
		value->type = JSON_STRING;
		return parse_string(parser, &value->string);
	}
	value->type = JSON_BOOL;
	value->boolean = take_word(parser, "true");
	if (value->boolean || take_word(parser, "false"))
		return 0;
	value->type = JSON_NUMBER;
	return parse_number(parser, &value->number);
}

int json_parse(const char *name, const char *text, size_t bytes, struct json_document **document,
	       struct error *err)
{
	struct parser parser = {
		.name = name, .start = text, .at = text, .end = text + bytes, .err = err,
	};
	int code;

	parser.document = calloc(1, sizeof(*parser.document));
	if (!parser.document)
		return out_of_memory(&parser);
	code = parse_value(&parser, &parser.document->root);
	skip_blanks(&parser);
	if (!code && parser.at < parser.end)
		code = fail(&parser, "goes on behind its end");
	if (code)
		json_free(parser.document);
	else
		*document = parser.document;
	return code;
}

int json_load(const char *path, struct json_document **document, struct error *err)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t bytes;
	int code;

	if (!file)
		return error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "can't open it: %s",
				 strerror(errno));
	/* JSON holds no zero byte, so the "line" is the whole file. */
	errno = 0;
	bytes = getdelim(&text, &room, 0, file);
	if (bytes < 0 && errno)
		code = error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "can't read it: %s",
				 strerror(errno));
	else
		code = json_parse(path, text, bytes < 0 ? 0 : (size_t)bytes, document, err);
	fclose(file);
	free(text);
	return code;
}

void json_free(struct json_document *document)
{
	while (document && document->blocks) {
		struct block *block = document->blocks;

		document->blocks = block->next;
		free(block);
	}
	free(document);
}

const struct json_value *json_root(const struct json_document *document)
{
	return &document->root;
}

const struct json_value *json_get(const struct json_value *object, const char *name)
{
	size_t i;

	if (!object || object->type != JSON_OBJECT)
		return NULL;
	for (i = 0; i < object->count; i++)
		if (!strcmp(object->names[i], name))
			return &object->items[i];
	return NULL;
}

const char *json_get_string(const struct json_value *object, const char *name,
			    const char *otherwise)
{
	const struct json_value *value = json_get(object, name);

	return value && value->type == JSON_STRING ? value->string : otherwise;
}

double json_get_number(const struct json_value *object, const char *name, double otherwise)
{
	const struct json_value *value = json_get(object, name);

	return value && value->type == JSON_NUMBER ? value->number : otherwise;
}
