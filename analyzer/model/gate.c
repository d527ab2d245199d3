/*
 * See gate.h. Limits of one kind and pattern form a group; each group becomes
 * one rule. Leaks are listed by stack, worst first, when a rule on what was not
 * freed has failed: that is where a person goes next.
 */
#include "model/gate.h"

#include "util/guess.h"
#include "util/option.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct gate_kind gate_kinds[] = {
	{ "max-leaked", "bytes not freed at exit", METRIC_LIVE, false },
	{ "max-leaked-blocks", "blocks not freed at exit", METRIC_LIVE, true },
	{ "max-peak", "bytes live at the peak", METRIC_PEAK, false },
	{ "max-allocated", "bytes allocated", METRIC_ALLOCATED, false },
	{ "max-allocations", "allocations", METRIC_ALLOCATED, true },
	{ "max-temporary", "temporary allocations", METRIC_TEMPORARY, true },
};

const size_t gate_kind_count = sizeof(gate_kinds) / sizeof(gate_kinds[0]);

const char *const gate_verdict_words[] = { "passed", "failed", "can't judge" };
const char *const gate_leak_status_words[] = { "not freed", "new", "grown" };

/* One-sided 5 % point of the normal distribution, and of "no sample at all". */
#define NORMAL_5_PERCENT 1.645
#define UNSEEN_RATES 3.0
/* Below this the error's own estimate is no guide. */
#define SAMPLES_MIN 30

const struct gate_kind *gate_kind_find(const char *name)
{
	size_t i;

	for (i = 0; i < gate_kind_count; i++)
		if (!strcmp(gate_kinds[i].name, name))
			return &gate_kinds[i];
	return NULL;
}

static const char *kind_hint(const char *name, char *hint)
{
	struct guess guess = guess_of(name, strlen(name));
	size_t i;

	for (i = 0; i < gate_kind_count; i++)
		guess_offer(&guess, gate_kinds[i].name);
	return guess_hint(&guess, "", hint);
}

/* ---- limits ------------------------------------------------------------------ */

static int parse_plain(const struct gate_kind *kind, const char *text, double *value)
{
	uint64_t bytes;
	char *end;

	if (!isdigit((unsigned char)*text))
		return ERROR_USAGE;
	if (!kind->by_count) {
		int code = option_size(text, &bytes);

		*value = (double)bytes;
		return code;
	}
	*value = strtod(text, &end);
	return *end || !isfinite(*value) ? ERROR_USAGE : 0;
}

static int parse_value(struct gate_limit *limit, const char *text)
{
	size_t length = strlen(text);
	char *end;

	if (text[0] != '+') {
		limit->form = GATE_ABSOLUTE;
		return parse_plain(limit->kind, text, &limit->value);
	}
	if (text[length - 1] != '%') {
		limit->form = GATE_MORE;
		return parse_plain(limit->kind, text + 1, &limit->value);
	}
	limit->form = GATE_PERCENT;
	limit->value = strtod(text + 1, &end);
	return isdigit((unsigned char)text[1]) && end == text + length - 1 ? 0 : ERROR_USAGE;
}

static int compile_pattern(struct gate_limit *limit, const char *pattern, struct error *err)
{
	char words[256];
	int code;

	if (!pattern)
		return 0;
	code = regcomp(&limit->expression, pattern, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, &limit->expression, words, sizeof(words));
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "site pattern %s: %s", pattern, words);
	}
	limit->pattern = strdup(pattern);
	return limit->pattern ? 0 : ERROR_MEMORY;
}

int gate_limits_add(struct gate_limits *limits, const struct gate_kind *kind, const char *text,
		    const char *pattern, struct error *err)
{
	struct gate_limit *more = realloc(limits->items, (limits->count + 1) * sizeof(*more));
	struct gate_limit *limit;
	int code;

	if (!more)
		return error_set(err, ERROR_MEMORY, NULL, ERROR_NO_OFFSET, "out of memory");
	limits->items = more;
	limit = &more[limits->count];
	memset(limit, 0, sizeof(*limit));
	limit->kind = kind;
	if (parse_value(limit, text))
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "%s: %s is no limit: expected %s", kind->name, text,
				 kind->by_count ? "a number, +5% or +10 (above the baseline)"
						: "a size such as 24MB, +5% or +64KiB (above the "
						  "baseline)");
	code = compile_pattern(limit, pattern, err);
	if (code)
		return code;
	limit->text = strdup(text);
	limits->count++;
	return limit->text ? 0 : ERROR_MEMORY;
}

/* The next word of @line, ended in place; NULL = none is left. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t\r\n");

	if (!*word || *word == '#')
		return NULL;
	*line = word + strcspn(word, " \t\r\n");
	if (**line)
		*(*line)++ = 0;
	return word;
}

static int parse_config_line(struct gate_limits *limits, char *line, struct error *err)
{
	char *name = next_word(&line), *pattern = NULL, *value;
	const struct gate_kind *kind;
	char hint[GUESS_HINT];

	if (!name)
		return 0;
	if (!strcmp(name, "site")) {
		pattern = next_word(&line);
		name = pattern ? next_word(&line) : NULL;
	}
	value = name ? next_word(&line) : NULL;
	if (!value || next_word(&line))
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "expected LIMIT VALUE or site PATTERN LIMIT VALUE");
	kind = gate_kind_find(name);
	if (!kind)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "%s is no limit (max-leaked, max-peak, ...)%s", name,
				 kind_hint(name, hint));
	return gate_limits_add(limits, kind, value, pattern, err);
}

static int fail_to_read(FILE *file, char *line, const char *path, struct error *err)
{
	int code = error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "can't read it: %s",
			     strerror(errno));

	free(line);
	fclose(file);
	return code;
}

int gate_limits_load(struct gate_limits *limits, const char *path, struct error *err)
{
	FILE *file = fopen(path, "re");
	struct error where = { 0 };
	char place[4096], *line = NULL;
	size_t room = 0;
	unsigned number = 0;
	int code = 0;

	if (!file)
		return error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "can't open it: %s",
				 strerror(errno));
	while (!code && getline(&line, &room, file) > 0) {
		number++;
		code = parse_config_line(limits, line, &where);
	}
	if (!code && ferror(file)) /* a folder can be opened, but not read */
		return fail_to_read(file, line, path, err);
	free(line);
	fclose(file);
	if (!code)
		return 0;
	snprintf(place, sizeof(place), "%s: line %u", path, number);
	return error_set(err, code, place, ERROR_NO_OFFSET, "%s", where.words);
}

bool gate_limits_need_baseline(const struct gate_limits *limits)
{
	size_t i;

	for (i = 0; i < limits->count; i++)
		if (limits->items[i].form != GATE_ABSOLUTE)
			return true;
	return false;
}

void gate_limits_release(struct gate_limits *limits)
{
	size_t i;

	for (i = 0; i < limits->count; i++) {
		struct gate_limit *limit = &limits->items[i];

		if (limit->pattern)
			regfree(&limit->expression);
		free(limit->pattern);
		free(limit->text);
	}
	free(limits->items);
	limits->items = NULL;
	limits->count = 0;
}

/* ---- judging ----------------------------------------------------------------- */

/* What the limit speaks about: the whole heap, or the sites it names together. */
static struct number measured(const struct baseline *of, const struct gate_limit *limit)
{
	struct number sum = { 0 };
	size_t i;

	if (!limit->pattern)
		return of->totals.of[limit->kind->metric];
	for (i = 0; i < of->sites.count; i++) {
		const struct baseline_entry *site = &of->sites.items[i];

		if (!regexec(&limit->expression, site->name, 0, NULL, 0))
			number_add(&sum, &site->tally.of[limit->kind->metric]);
	}
	return sum;
}

static bool same_group(const struct gate_limit *a, const struct gate_limit *b)
{
	if (a->kind != b->kind || !a->pattern != !b->pattern)
		return false;
	return !a->pattern || !strcmp(a->pattern, b->pattern);
}

static double allowed(const struct gate_limit *limit, double baseline)
{
	switch (limit->form) {
	case GATE_PERCENT:
		return baseline * (1 + limit->value / 100);
	case GATE_MORE:
		return baseline + limit->value;
	default:
		return limit->value;
	}
}

static void rule_set_limit(struct gate_rule *rule, const struct gate_limit *limit, double error)
{
	rule->text = limit->text;
	rule->limit = allowed(limit, rule->baseline);
	rule->limit_error = error;
}

/* Of relative allowances the largest counts; an absolute limit tops them all. */
static void rule_take_limits(struct gate_rule *rule, const struct gate_limits *limits,
			     const struct gate_limit *group, double baseline_error)
{
	size_t i;

	for (i = 0; i < limits->count; i++) {
		const struct gate_limit *limit = &limits->items[i];

		if (same_group(group, limit) && limit->form != GATE_ABSOLUTE &&
		    (!rule->text || allowed(limit, rule->baseline) > rule->limit))
			rule_set_limit(rule, limit, baseline_error);
	}
	for (i = 0; i < limits->count; i++) {
		const struct gate_limit *limit = &limits->items[i];

		if (same_group(group, limit) && limit->form == GATE_ABSOLUTE &&
		    (!rule->text || limit->value < rule->limit))
			rule_set_limit(rule, limit, 0);
	}
}

/* The largest value that a sampled trace may hide without a sample. A count
 * can't be bounded that way: blocks may be of one byte. */
static bool may_hide_more(const struct gate_rule *rule, const struct baseline *now)
{
	if (now->exact)
		return false;
	if (rule->kind->by_count)
		return now->samples < SAMPLES_MIN || rule->limit <= rule->value_error;
	return rule->limit < UNSEEN_RATES * (double)now->rate_bytes;
}

/* A rate at which a sum as large as the limit would have samples enough. */
static double better_rate(const struct gate_rule *rule)
{
	if (rule->kind->by_count || rule->limit < UNSEEN_RATES)
		return 1;
	return floor(rule->limit / UNSEEN_RATES);
}

static void rule_judge(struct gate_rule *rule, const struct baseline *now)
{
	double margin = NORMAL_5_PERCENT * hypot(rule->value_error, rule->limit_error);

	if (rule->value - rule->limit > margin) {
		rule->verdict = GATE_FAIL;
	} else if (may_hide_more(rule, now)) {
		rule->verdict = GATE_UNKNOWN;
		rule->better_rate = better_rate(rule);
	}
}

static bool group_is_done(const struct gate_limits *limits, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (same_group(&limits->items[i], &limits->items[index]))
			return true;
	return false;
}

static void judge_group(struct gate *gate, const struct gate_limits *limits, size_t first,
			const struct baseline *now, const struct baseline *baseline)
{
	const struct gate_limit *limit = &limits->items[first];
	struct gate_rule *rule = &gate->rules[gate->rule_count++];
	struct number value = measured(now, limit), before = { 0 };
	double before_error = 0;

	*rule = (struct gate_rule){
		.kind = limit->kind,
		.pattern = limit->pattern,
		.value = number_value(&value, limit->kind->by_count),
		.value_error = number_error(&value, limit->kind->by_count),
		.baseline = NAN,
	};
	if (baseline) {
		before = measured(baseline, limit);
		rule->baseline = number_value(&before, limit->kind->by_count);
		before_error = number_error(&before, limit->kind->by_count);
	}
	rule_take_limits(rule, limits, limit, before_error);
	rule_judge(rule, now);
}

/* ---- leaks ------------------------------------------------------------------- */

static bool leak_of(const struct baseline_entry *entry, const struct baseline *baseline,
		    struct gate_leak *leak)
{
	const struct baseline_entry *before =
		baseline ? baseline_find(&baseline->stacks, entry->name) : NULL;
	const struct number *now = &entry->tally.of[METRIC_LIVE];

	*leak = (struct gate_leak){ .entry = entry, .more = *now };
	if (entry->is_suppressed || now->count <= 0)
		return false;
	if (!baseline)
		return true;
	leak->status = before ? GATE_LEAK_GROWN : GATE_LEAK_NEW;
	if (before) {
		const struct number *then = &before->tally.of[METRIC_LIVE];

		/* Of two runs: the errors add. */
		leak->more.count -= then->count;
		leak->more.bytes -= then->bytes;
		leak->more.count_variance += then->count_variance;
		leak->more.bytes_variance += then->bytes_variance;
	}
	return leak->more.bytes > NORMAL_5_PERCENT * number_bytes_error(&leak->more) ||
	       leak->more.count > NORMAL_5_PERCENT * number_count_error(&leak->more);
}

static int worst_first(const void *a, const void *b)
{
	const struct gate_leak *x = a, *y = b;

	if (x->more.bytes != y->more.bytes)
		return x->more.bytes > y->more.bytes ? -1 : 1;
	return strcmp(x->entry->name, y->entry->name);
}

static int list_leaks(struct gate *gate, const struct baseline *now,
		      const struct baseline *baseline)
{
	size_t i;

	gate->leaks = calloc(now->stacks.count + 1, sizeof(*gate->leaks));
	if (!gate->leaks)
		return ERROR_MEMORY;
	for (i = 0; i < now->stacks.count; i++)
		gate->leak_count += leak_of(&now->stacks.items[i], baseline,
					    &gate->leaks[gate->leak_count]);
	if (gate->leak_count)
		qsort(gate->leaks, gate->leak_count, sizeof(*gate->leaks), worst_first);
	return 0;
}

int gate_judge(const struct baseline *now, const struct baseline *baseline,
	       const struct gate_limits *limits, struct gate **result, struct error *err)
{
	struct gate *gate = calloc(1, sizeof(*gate));
	bool leaks_failed = false;
	int code = 0;
	size_t i;

	if (gate)
		gate->rules = calloc(limits->count + 1, sizeof(*gate->rules));
	if (!gate || !gate->rules)
		code = ERROR_MEMORY;
	for (i = 0; !code && i < limits->count; i++)
		if (!group_is_done(limits, i))
			judge_group(gate, limits, i, now, baseline);
	for (i = 0; !code && i < gate->rule_count; i++) {
		const struct gate_rule *rule = &gate->rules[i];

		if (rule->verdict == GATE_FAIL || gate->verdict == GATE_PASS)
			gate->verdict = rule->verdict;
		leaks_failed |= rule->verdict == GATE_FAIL && rule->kind->metric == METRIC_LIVE;
	}
	if (!code && leaks_failed)
		code = list_leaks(gate, now, baseline);
	if (code) {
		gate_free(gate);
		return error_set(err, code, NULL, ERROR_NO_OFFSET, "out of memory");
	}
	*result = gate;
	return 0;
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	free(gate->rules);
	free(gate->leaks);
	free(gate);
}
