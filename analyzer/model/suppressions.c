/*
 * See suppressions.h. A LeakSanitizer line is one pattern that any frame may
 * meet; a valgrind block is a row of patterns that the stack must meet in
 * order. Both are kept as rows of `struct element`, matched by one function.
 */
#include "model/suppressions.h"

#include "symbolize/demangle.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Parts of a frame that a pattern is held against. */
enum part {
	PART_FUNCTION = 1,
	PART_LINKAGE = 2,
	PART_FILE = 4,
	PART_MODULE = 8,
};

struct element {
	unsigned parts;   /* enum part; 0 = any number of frames of any kind */
	bool is_glob;     /* '?' is any one character */
	char *pattern;    /* meets the whole text; '*' is anything */
	char *readable;   /* of a pattern that is a mangled name; NULL = none */
};

struct suppression {
	struct element *elements;
	size_t count;
	bool is_block;    /* elements meet the frames in order, from the innermost on */
	struct suppression_use use;
};

struct suppressions {
	struct suppression *items;
	size_t count;
};

static const struct prefix {
	const char *text;
	unsigned parts;
} line_prefixes[] = {
	{ "leak:", PART_FUNCTION | PART_LINKAGE | PART_FILE | PART_MODULE },
	{ "function:", PART_FUNCTION | PART_LINKAGE },
	{ "file:", PART_FILE },
	{ "module:", PART_MODULE },
}, block_prefixes[] = {
	{ "fun:", PART_LINKAGE | PART_FUNCTION },
	{ "obj:", PART_MODULE },
	{ "src:", PART_FILE },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- matching ------------------------------------------------------------ */

/* Does @pattern meet all of @text? Goes back to the last star only: that is
 * enough, since an earlier star could take nothing that a later one can't. */
static bool pattern_meets(const char *pattern, const char *text, bool is_glob)
{
	const char *star = NULL, *retry = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			retry = text;
		} else if (*pattern == *text || (is_glob && *pattern == '?')) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool element_meets(const struct element *element, const struct suppression_frame *frame)
{
	const struct { unsigned part; const char *text; } texts[] = {
		{ PART_FUNCTION, frame->function },
		{ PART_LINKAGE, frame->linkage_name },
		{ PART_FILE, frame->file },
		{ PART_MODULE, frame->module },
	};
	size_t i;

	for (i = 0; i < COUNT(texts); i++)
		if ((element->parts & texts[i].part) && texts[i].text &&
		    pattern_meets(element->pattern, texts[i].text, element->is_glob))
			return true;
	/* Frames of a trace have readable names, valgrind's have mangled ones. */
	return element->readable && frame->function && !strcmp(element->readable, frame->function);
}

/* A block covers a stack whose innermost frames meet its elements in order;
 * what lies further out is free. "..." takes as few frames as will do. */
static bool block_covers_from(const struct suppression *item, size_t element,
			      const struct suppression_frame *frames, size_t frame, size_t count)
{
	size_t retry_element = 0, retry_frame = 0;

	while (element < item->count) {
		if (!item->elements[element].parts) {
			retry_element = ++element;
			retry_frame = frame;
		} else if (frame < count &&
			   element_meets(&item->elements[element], &frames[frame])) {
			element++;
			frame++;
		} else if (retry_element && retry_frame < count) {
			element = retry_element;
			frame = ++retry_frame;
		} else {
			return false;
		}
	}
	return true;
}

/* What valgrind's stacks begin with. */
static bool is_allocator(const struct element *element)
{
	static const char *const names[] = {
		"malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc",
		"valloc", "strdup", "strndup",
	};
	size_t i;

	if (!(element->parts & PART_FUNCTION))
		return false;
	for (i = 0; i < COUNT(names); i++)
		if (!strcmp(element->pattern, names[i]))
			return true;
	return !strncmp(element->pattern, "_Znw", 4) || !strncmp(element->pattern, "_Zna", 4) ||
	       !strncmp(element->pattern, "operator new", 12);
}

/* A trace's stacks begin behind malloc, and may go on with wrappers that a block
 * doesn't name (those we write don't): both ends may begin a little further out. */
static bool block_covers(const struct suppression *item, const struct suppression_frame *frames,
			 size_t count)
{
	size_t element, frame;

	for (element = 0; element < item->count; element++) {
		for (frame = 0; frame <= count; frame++) {
			if (block_covers_from(item, element, frames, frame, count))
				return true;
			if (frame == count || !frames[frame].is_wrapper)
				break;
		}
		if (!is_allocator(&item->elements[element]))
			break;
	}
	return false;
}

static bool line_covers(const struct suppression *item, const struct suppression_frame *frames,
			size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (element_meets(&item->elements[0], &frames[i]))
			return true;
	return false;
}

int suppressions_match(struct suppressions *list, const struct suppression_frame *frames,
		       size_t count, double blocks, double bytes)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		struct suppression *item = &list->items[i];

		if (!(item->is_block ? block_covers : line_covers)(item, frames, count))
			continue;
		item->use.stacks++;
		item->use.blocks += blocks;
		item->use.bytes += bytes;
		return (int)i;
	}
	return -1;
}

/* ---- reading ------------------------------------------------------------- */

struct parser {
	const char *name;
	const char *at, *end;
	unsigned line;
	struct suppressions *into;
	struct error *err;
};

static int parse_error(const struct parser *parser, const char *words)
{
	char place[4096];

	snprintf(place, sizeof(place), "%s: line %u", parser->name, parser->line);
	return error_set(parser->err, ERROR_USAGE, place, ERROR_NO_OFFSET, "%s", words);
}

/* The next line without the blanks around it, the caller's, for free(). NULL at
 * the end. */
static char *next_line(struct parser *parser)
{
	const char *start = parser->at, *stop;

	if (start >= parser->end)
		return NULL;
	stop = memchr(start, '\n', (size_t)(parser->end - start));
	if (!stop)
		stop = parser->end;
	parser->at = stop < parser->end ? stop + 1 : parser->end;
	parser->line++;
	while (start < stop && isspace((unsigned char)*start))
		start++;
	while (stop > start && isspace((unsigned char)stop[-1]))
		stop--;
	return strndup(start, (size_t)(stop - start));
}

static struct suppression *add_item(struct parser *parser, const char *text)
{
	struct suppressions *list = parser->into;
	struct suppression *more = realloc(list->items, (list->count + 1) * sizeof(*more));

	if (!more)
		return NULL;
	list->items = more;
	more += list->count++;
	memset(more, 0, sizeof(*more));
	more->use.text = strdup(text);
	more->use.file = strdup(parser->name);
	more->use.line = parser->line;
	return more;
}

static int add_element(struct suppression *item, unsigned parts, bool is_glob, const char *pattern)
{
	struct element *more = realloc(item->elements, (item->count + 1) * sizeof(*more));

	if (!more)
		return ERROR_MEMORY;
	item->elements = more;
	more += item->count;
	*more = (struct element){ .parts = parts, .is_glob = is_glob, .pattern = strdup(pattern) };
	if ((parts & PART_LINKAGE) && !strpbrk(pattern, "*?"))
		more->readable = demangle(pattern);
	item->count++;
	if (!more->pattern)
		return ERROR_MEMORY;
	return 0;
}

/* "abc" as "*abc*", "^abc$" as "abc": what matches anywhere as what must meet
 * the whole text. */
static char *loosen(const char *pattern)
{
	bool from_start = pattern[0] == '^';
	size_t length = strlen(pattern);
	bool to_end = length > (size_t)from_start && pattern[length - 1] == '$';
	char *loose = malloc(length + 3);

	if (loose)
		snprintf(loose, length + 3, "%s%.*s%s", from_start ? "" : "*",
			 (int)(length - from_start - to_end), pattern + from_start,
			 to_end ? "" : "*");
	return loose;
}

static const struct prefix *find_prefix(const struct prefix *table, size_t count, const char *text)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strncmp(text, table[i].text, strlen(table[i].text)))
			return &table[i];
	return NULL;
}

static int parse_pattern_line(struct parser *parser, const char *text)
{
	const struct prefix *prefix = find_prefix(line_prefixes, COUNT(line_prefixes), text);
	struct suppression *item;
	char *pattern;
	int code;

	if (!prefix)
		return parse_error(parser, "is not a suppression: expected leak:PATTERN, "
					   "function:, file:, module: or a valgrind block in { }");
	if (!text[strlen(prefix->text)])
		return parse_error(parser, "has no pattern: it would hide everything");
	pattern = loosen(text + strlen(prefix->text));
	item = add_item(parser, text);
	code = pattern && item ? add_element(item, prefix->parts, false, pattern) : ERROR_MEMORY;
	free(pattern);
	return code;
}

/* One line between the braces, behind name and kind. */
static int parse_block_line(struct parser *parser, struct suppression *item, const char *text)
{
	const struct prefix *prefix = find_prefix(block_prefixes, COUNT(block_prefixes), text);

	if (!strcmp(text, "..."))
		return add_element(item, 0, true, "");
	if (prefix)
		return add_element(item, prefix->parts, true, text + strlen(prefix->text));
	if (!strncmp(text, "match-leak-kinds:", 17))
		return 0;
	return parse_error(parser, "is not known in a block: expected fun:, obj:, src: or ...");
}

/* "Memcheck:Leak", "Memcheck,Helgrind:Leak". Other kinds are passed over. */
static bool is_about_leaks(const char *kind)
{
	const char *tool = strstr(kind, "Memcheck"), *colon = strchr(kind, ':');

	return tool && colon && tool < colon && !strcmp(colon + 1, "Leak");
}

static int parse_block_body(struct parser *parser, struct suppression *item)
{
	char *text;
	int code = 0;

	while (!code && (text = next_line(parser))) {
		bool closed = !strcmp(text, "}");

		if (item && !closed && *text && *text != '#')
			code = parse_block_line(parser, item, text);
		free(text);
		if (closed)
			return item && !item->count
				       ? parse_error(parser, "the block names no frame: it would "
							     "hide everything")
				       : 0;
	}
	return code ? code : parse_error(parser, "the block is not closed by a } of its own line");
}

static int parse_block(struct parser *parser)
{
	char *name = next_line(parser), *kind = name ? next_line(parser) : NULL;
	struct suppression *item = NULL;
	int code = 0;

	if (!kind || !strchr(kind, ':')) {
		code = parse_error(parser, "is not a kind of error: expected Memcheck:Leak");
	} else if (is_about_leaks(kind)) {
		item = add_item(parser, name);
		if (item)
			item->is_block = true;
		else
			code = ERROR_MEMORY;
	}
	if (!code)
		code = parse_block_body(parser, item);
	free(name);
	free(kind);
	return code;
}

static void release_item(struct suppression *item)
{
	size_t i;

	for (i = 0; i < item->count; i++) {
		free(item->elements[i].pattern);
		free(item->elements[i].readable);
	}
	free(item->elements);
	free((char *)item->use.text);
	free((char *)item->use.file);
}

static void truncate_items(struct suppressions *list, size_t count)
{
	while (list->count > count)
		release_item(&list->items[--list->count]);
}

int suppressions_parse(struct suppressions *list, const char *name, const char *text,
		       size_t bytes, struct error *err)
{
	struct parser parser = {
		.name = name, .at = text, .end = text + bytes, .into = list, .err = err,
	};
	size_t before = list->count;
	char *line;
	int code = 0;

	while (!code && (line = next_line(&parser))) {
		if (!strcmp(line, "{"))
			code = parse_block(&parser);
		else if (*line && *line != '#')
			code = parse_pattern_line(&parser, line);
		free(line);
	}
	if (code == ERROR_MEMORY)
		error_set(err, code, name, ERROR_NO_OFFSET, "out of memory");
	if (code)
		truncate_items(list, before);
	return code;
}

/* The whole of @file; the caller's, for free(). NULL: errno says why. */
static char *read_all(FILE *file, size_t *bytes)
{
	char *text = NULL;
	size_t room = 0, got;

	*bytes = 0;
	do {
		char *more = realloc(text, room += 65536);

		if (!more) {
			free(text);
			return NULL;
		}
		text = more;
		got = fread(text + *bytes, 1, room - *bytes, file);
		*bytes += got;
	} while (got);
	if (ferror(file)) {
		free(text);
		return NULL;
	}
	return text;
}

int suppressions_load(struct suppressions *list, const char *path, struct error *err)
{
	FILE *file = fopen(path, "re");
	size_t bytes;
	char *text = file ? read_all(file, &bytes) : NULL;
	int code;

	if (text)
		code = suppressions_parse(list, path, text, bytes, err);
	else
		code = error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET,
				 "can't read the suppressions: %s", strerror(errno));
	if (file)
		fclose(file);
	free(text);
	return code;
}

/* ---- the list ------------------------------------------------------------ */

struct suppressions *suppressions_new(void)
{
	return calloc(1, sizeof(struct suppressions));
}

void suppressions_free(struct suppressions *list)
{
	if (!list)
		return;
	truncate_items(list, 0);
	free(list->items);
	free(list);
}

size_t suppressions_count(const struct suppressions *list)
{
	return list->count;
}

struct suppression_use suppressions_use(const struct suppressions *list, size_t number)
{
	return list->items[number].use;
}

/* ---- writing ------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *first_function(const struct suppression_frame *frames, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (frames[i].function)
			return frames[i].function;
	return NULL;
}

static void generate_frame(FILE *out, const struct suppression_frame *frame)
{
	if (frame->linkage_name || frame->function)
		fprintf(out, "#    fun:%s\n",
			frame->linkage_name ? frame->linkage_name : frame->function);
	else if (frame->module)
		fprintf(out, "#    obj:*/%s\n", base_name(frame->module));
	else
		fprintf(out, "#    ...\n");
}

void suppressions_generate(FILE *out, const struct suppression_frame *frames, size_t count,
			   const char *name)
{
	const char *function = first_function(frames, count);
	size_t i;

	fprintf(out, "# %s\n", name);
	if (function)
		fprintf(out, "leak:^%s$\n", function);
	else if (count && frames[0].module)
		fprintf(out, "leak:%s\n", base_name(frames[0].module));
	fprintf(out, "# or, for this stack alone:\n# {\n#    %s\n#    Memcheck:Leak\n", name);
	for (i = 0; i < count; i++)
		generate_frame(out, &frames[i]);
	fprintf(out, "# }\n");
}
