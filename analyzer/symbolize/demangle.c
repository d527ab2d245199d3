/*
 * See demangle.h. libiberty does the work. It recurses with the nesting of the
 * name and has a limit of its own for that (kept: no DMGL_NO_RECURSE_LIMIT),
 * but a short name with many back references can stand for gigabytes. Its
 * callback can't say "enough", so it jumps out of the library, which keeps its
 * state on the stack.
 */
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS (DMGL_PARAMS | DMGL_ANSI)

struct output {
	char *text;
	size_t length, room;
	jmp_buf too_long;
};

static void take_piece(const char *piece, size_t length, void *opaque)
{
	struct output *out = opaque;

	if (length > DEMANGLE_OUTPUT_MAX - out->length)
		longjmp(out->too_long, 1);
	if (out->length + length >= out->room) {
		size_t room = (out->length + length + 1) * 2;
		char *bigger = realloc(out->text, room);

		if (!bigger)
			longjmp(out->too_long, 1);
		out->text = bigger;
		out->room = room;
	}
	if (length) /* an empty piece may be NULL */
		memcpy(out->text + out->length, piece, length);
	out->length += length;
	out->text[out->length] = 0;
}

typedef int (*demangler)(const char *mangled, int options, demangle_callbackref take, void *opaque);

static char *demangle_by(demangler function, const char *mangled)
{
	struct output *out = calloc(1, sizeof(*out));
	char *text = NULL;

	if (!out)
		return NULL;
	if (!setjmp(out->too_long) && function(mangled, FLAGS, take_piece, out) && out->length)
		text = out->text;
	else
		free(out->text);
	free(out);
	return text;
}

/* "_ZN...17h<16 hex digits>E": Rust's older scheme, which is C++ with a hash. */
static bool is_rust_legacy(const char *name, size_t length)
{
	const char *hash;

	if (length < 24 || name[length - 1] != 'E')
		return false;
	hash = name + length - 20;
	if (memcmp(hash, "17h", 3))
		return false;
	return strspn(hash + 3, "0123456789abcdef") == 16;
}

/* A clone's suffix (".cold", ".part.0", ".llvm.123") is no part of the mangled
 * name for Rust; C++ takes it as " [clone .x]", which nobody wants to read. */
static size_t clone_suffix(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? (size_t)(dot - name) : strlen(name);
}

char *demangle(const char *linkage_name)
{
	char *plain, *result = NULL;
	size_t length = strnlen(linkage_name, DEMANGLE_INPUT_MAX + 1);

	if (length > DEMANGLE_INPUT_MAX || (linkage_name[0] != '_' && linkage_name[0] != '.'))
		return NULL;
	plain = strdup(linkage_name);
	if (!plain)
		return NULL;
	plain[clone_suffix(plain)] = 0;
	length = strlen(plain);
	if (!strncmp(plain, "_R", 2) || is_rust_legacy(plain, length))
		result = demangle_by(rust_demangle_callback, plain);
	if (!result && !strncmp(plain, "_Z", 2))
		result = demangle_by(cplus_demangle_v3_callback, plain);
	if (!result && !strncmp(plain, "_D", 2))
		result = dlang_demangle(plain, FLAGS);
	free(plain);
	return result;
}

/* ---- shortening ------------------------------------------------------------ */

/* Is this '<' or '>' a part of an operator's name? @at points at it. */
static size_t operator_length(const char *name, const char *at)
{
	static const char *const operators[] = { "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=",
						 ">=", "->", "<", ">", "()" };
	size_t back = strlen("operator");

	if ((size_t)(at - name) < back || memcmp(at - back, "operator", back))
		return 0;
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (!strncmp(at, operators[i], strlen(operators[i])))
			return strlen(operators[i]);
	return 0;
}

static const char *skip_nested(const char *at, char open, char close)
{
	unsigned depth = 0;

	for (; *at; at++) {
		if (*at == open)
			depth++;
		else if (*at == close && at[-1] != '-' && --depth == 0)
			return at + 1;
	}
	return NULL;
}

/* Parentheses that are part of a name: "(anonymous namespace)", and "()" of an
 * enclosing function: "main::{lambda()#1}::operator()". */
static bool is_parameter_list(const char *at)
{
	const char *behind;

	if (!strncmp(at, "(anonymous", 10))
		return false;
	behind = skip_nested(at, '(', ')');
	if (!behind)
		return false;
	while (!strncmp(behind, " const", 6) || !strncmp(behind, " volatile", 9) ||
	       !strncmp(behind, "&", 1) || !strncmp(behind, " &", 2))
		behind += behind[1] == 'c' ? 6 : behind[1] == 'v' ? 9 : *behind == '&' ? 1 : 2;
	return *behind == 0 || *behind == '[' || *behind == ':';
}

struct shortening {
	const char *at;
	char *out, *to;
	bool after_operator;   /* ... a space and template arguments may follow */
};

static void put_text(struct shortening *by, const char *text, size_t length)
{
	memcpy(by->to, text, length);
	by->to += length;
	*by->to = 0;
}

/* An operator's own '<', '>' or "()". */
static bool take_operator(struct shortening *by, const char *name)
{
	size_t length = operator_length(name, by->at);

	if (!length)
		return false;
	put_text(by, by->at, length);
	by->at += length;
	by->after_operator = true;
	if (by->at[0] == ' ' && by->at[1] == '<')
		put_text(by, by->at++, 1);
	return true;
}

/* <...>: template arguments stand behind a name, "<T as Trait>" does not. */
static bool trim_arguments(struct shortening *by, const char *name)
{
	const char *behind;

	if (*by->at != '<' || by->at == name)
		return false;
	if (!by->after_operator && (by->at[-1] == ':' || by->at[-1] == ' '))
		return false;
	behind = skip_nested(by->at, '<', '>');
	if (!behind)
		return false;
	put_text(by, "<...>", 5);
	by->at = behind;
	return true;
}

static bool drop_parameters(struct shortening *by, const char *name)
{
	if (*by->at != '(' || by->at == name || !is_parameter_list(by->at))
		return false;
	by->at = skip_nested(by->at, '(', ')');
	while (*by->at == ' ' || *by->at == '&' || !strncmp(by->at, "const", 5) ||
	       !strncmp(by->at, "volatile", 8))
		by->at += *by->at == 'c' ? 5 : *by->at == 'v' ? 8 : 1;
	return true;
}

/* What stands before a space is the return type of a template, unless the space
 * is within "(anonymous namespace)", "{lambda...}", "<X as Y>", "operator new". */
static bool drop_return_type(struct shortening *by)
{
	if (*by->at != ' ' || by->to == by->out || by->out[0] == '<' ||
	    strpbrk(by->out, "({") || strstr(by->out, "operator"))
		return false;
	by->to = by->out;
	*by->to = 0;
	by->at++;
	return true;
}

char *demangle_shorten(const char *name)
{
	struct shortening by = { .at = name };

	/* Only "<...>" for "<>" makes it longer. */
	by.out = by.to = calloc(1, strlen(name) * 3 + 8);
	if (!by.out)
		return NULL;
	while (*by.at) {
		if (take_operator(&by, name))
			continue;
		if (!trim_arguments(&by, name) && !drop_parameters(&by, name) &&
		    !drop_return_type(&by))
			put_text(&by, by.at++, 1);
		by.after_operator = false;
	}
	return by.out;
}
