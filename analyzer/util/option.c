/*
 * See option.h. No getopt: its tables can't carry targets, help and choices, and
 * two tables can't be used side by side.
 */
#include "util/option.h"

#include "util/guess.h"
#include "util/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int misuse(struct error *err, const char *format, const char *what, const char *more)
{
	return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET, format, what, more);
}

int option_list_add(struct option_list *list, const char *item)
{
	MEMORY_ROOM(list->items, list->count);
	list->items[list->count++] = item;
	return 0;
}

int option_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	char *end;
	double value;
	const char *unit;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || errno || !(value >= 0))
		return ERROR_USAGE;
	unit = *end ? strchr(units, *end >= 'a' ? *end - 32 : *end) : NULL;
	if (unit) {
		value *= (double)(1ull << (10 * (unit - units + 1)));
		end++;
		if (*end == 'i')
			end++;
	}
	if (*end == 'B' || *end == 'b')
		end++;
	if (*end || value >= 18446744073709551615.0)
		return ERROR_USAGE;
	*bytes = (uint64_t)value;
	return 0;
}

static int take_number(uint64_t *target, const char *text)
{
	char *end;

	errno = 0;
	*target = strtoull(text, &end, 10);
	return end == text || *end || errno || *text == '-' ? ERROR_USAGE : 0;
}

static int take_choice(const struct option *option, const char *text, struct error *err)
{
	struct guess guess = guess_of(text, strlen(text));
	char all[256] = "", hint[GUESS_HINT];

	for (int i = 0; option->choices[i]; i++) {
		if (!strcmp(option->choices[i], text)) {
			*(int *)option->target = i;
			return 0;
		}
		guess_offer(&guess, option->choices[i]);
		strncat(all, i ? ", " : "", sizeof(all) - strlen(all) - 1);
		strncat(all, option->choices[i], sizeof(all) - strlen(all) - 1);
	}
	guess_hint(&guess, "", hint);
	return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
			 "--%s does not know \"%s\"%s%s one of %s", option->name, text, hint,
			 *hint ? " It is" : ": it is", all);
}

static int option_take(const struct option *option, const char *argument, struct error *err)
{
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)option->target = true;
		return 0;
	case OPTION_STRING:
		*(const char **)option->target = argument;
		return 0;
	case OPTION_NUMBER:
		if (take_number(option->target, argument))
			return misuse(err, "--%s needs a whole number, not \"%s\"", option->name,
				      argument);
		return 0;
	case OPTION_SIZE:
		if (option_size(argument, option->target))
			return misuse(err, "--%s needs a size such as 4096 or 24MB, not \"%s\"",
				      option->name, argument);
		return 0;
	case OPTION_CHOICE:
		return take_choice(option, argument, err);
	case OPTION_LIST:
		return option_list_add(option->target, argument);
	case OPTION_CALL:
		return option->take(option->target, argument, err);
	}
	return ERROR_USAGE;
}

static const struct option *find_name(const struct option *const *tables, const char *name,
				      size_t length)
{
	for (; *tables; tables++)
		for (const struct option *o = *tables; o->name; o++)
			if (strlen(o->name) == length && !memcmp(o->name, name, length))
				return o;
	return NULL;
}

static const struct option *find_letter(const struct option *const *tables, char letter)
{
	for (; *tables; tables++)
		for (const struct option *o = *tables; o->name; o++)
			if (o->letter == letter)
				return o;
	return NULL;
}

struct option_walk {
	int argc, at;
	char **argv;
	const struct option *const *tables;
};

static int take_with_argument(struct option_walk *walk, const struct option *option,
			      const char *attached, struct error *err)
{
	if (!option->argument) {
		if (attached)
			return misuse(err, "--%s takes no value (\"%s\")", option->name, attached);
		return option_take(option, NULL, err);
	}
	if (!attached && option->argument[0] != '[') {
		if (walk->at >= walk->argc)
			return misuse(err, "--%s needs a value: %s", option->name,
				      option->argument);
		attached = walk->argv[walk->at++];
	}
	return option_take(option, attached, err);
}

static int no_such_option(const struct option_walk *walk, const char *name, size_t length,
			  struct error *err)
{
	struct guess guess = guess_of(name, length);
	char hint[GUESS_HINT];

	for (const struct option *const *table = walk->tables; *table; table++)
		for (const struct option *o = *table; o->name; o++)
			if (o->words)
				guess_offer(&guess, o->name);
	return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET, "no option --%.*s%s",
			 (int)length, name, guess_hint(&guess, "--", hint));
}

static int take_long(struct option_walk *walk, const char *text, struct error *err)
{
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : strlen(text);
	const struct option *option = find_name(walk->tables, text, length);

	if (!option)
		return no_such_option(walk, text, length, err);
	return take_with_argument(walk, option, equals ? equals + 1 : NULL, err);
}

static int take_letters(struct option_walk *walk, const char *text, struct error *err)
{
	for (; *text; text++) {
		const struct option *option = find_letter(walk->tables, *text);

		if (!option)
			return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET, "no option -%c",
					 *text);
		if (option->argument)
			return take_with_argument(walk, option, text[1] ? text + 1 : NULL, err);
		if (option_take(option, NULL, err))
			return ERROR_USAGE;
	}
	return 0;
}

int option_parse(int argc, char **argv, const struct option *const *tables,
		 struct option_list *words, struct error *err)
{
	struct option_walk walk = { .argc = argc, .at = 1, .argv = argv, .tables = tables };

	while (walk.at < argc) {
		const char *text = argv[walk.at];
		int status = 0;

		if (!strcmp(text, "--")) {
			walk.at++;
			break;
		}
		if (text[0] != '-' || !text[1]) {
			if (!words)
				return walk.at;
			option_list_add(words, text);
			walk.at++;
			continue;
		}
		walk.at++;
		if (text[1] == '-')
			status = take_long(&walk, text + 2, err);
		else
			status = take_letters(&walk, text + 1, err);
		if (status)
			return status;
	}
	for (; words && walk.at < argc; walk.at++)
		option_list_add(words, argv[walk.at]);
	return walk.at;
}

static int option_spelling(const struct option *option, char *text, size_t size)
{
	const char *argument = option->argument;
	const char *join = !argument ? "" : argument[0] == '[' ? "" : " ";
	char letter[8] = "    ";

	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	if (argument && argument[0] == '[')
		return snprintf(text, size, "%s--%s[=%s", letter, option->name, argument + 1);
	return snprintf(text, size, "%s--%s%s%s", letter, option->name, join,
			argument ? argument : "");
}

#define HELP_COLUMN 32

void option_help(FILE *out, const char *title, const struct option *table)
{
	char spelling[256];

	fprintf(out, "\n%s\n", title);
	for (const struct option *o = table; o->name; o++) {
		if (!o->words)
			continue;
		if (option_spelling(o, spelling, sizeof(spelling)) > HELP_COLUMN - 4)
			fprintf(out, "  %s\n%*s%s\n", spelling, HELP_COLUMN, "", o->words);
		else
			fprintf(out, "  %-*s%s\n", HELP_COLUMN - 2, spelling, o->words);
	}
}
