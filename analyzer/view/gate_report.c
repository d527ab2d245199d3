/*
 * See gate_report.h: the table of formats, and the words that they share.
 */
#include "view/gate_report.h"

#include "model/leak_suppressions.h"
#include "view/units.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

const struct gate_report_format gate_report_formats[] = {
	{ "text", "for people, worst first, with stacks", gate_text },
	{ "json", "schema memprof.gate/1", gate_json },
	{ "junit", "JUnit XML: one case a limit, one a leaking stack", gate_junit },
	{ "sarif", "SARIF 2.1.0, for code scanning", gate_sarif },
	{ "github", "::error lines and the step summary of GitHub's workflows", gate_github },
	{ "gitlab", "GitLab's code quality report", gate_gitlab },
};

const size_t gate_report_format_count =
	sizeof(gate_report_formats) / sizeof(gate_report_formats[0]);

const struct gate_report_format *gate_report_find(const char *name)
{
	size_t i;

	for (i = 0; i < gate_report_format_count; i++)
		if (!strcmp(gate_report_formats[i].name, name))
			return &gate_report_formats[i];
	return NULL;
}

/* "[stack lost here]" and the like. */
static bool is_mark(const struct profile_frame *frame)
{
	return !frame->module && frame->function && frame->function[0] == '[';
}

size_t gate_leak_frames(const struct gate_report *report, const struct gate_leak *leak,
			const struct profile_frame **frames)
{
	size_t count = profile_frames(report->profile, leak->entry->stack, frames);
	size_t skipped = 0;

	while (skipped < count && (*frames)[skipped].is_wrapper)
		skipped++;
	if (skipped == count || is_mark(&(*frames)[skipped]))
		return count; /* wrappers all the way */
	*frames += skipped;
	return count - skipped;
}

static const char *function_name(const struct profile_frame *frame)
{
	return frame->function ? frame->function : "a function without a name";
}

char *gate_leak_words(const struct gate_report *report, const struct gate_leak *leak, char *text,
		      size_t room)
{
	const struct profile_frame *frames;
	size_t count = gate_leak_frames(report, leak, &frames);
	char bytes[UNITS_BYTES], blocks[UNITS_BYTES];
	char place[PATH_MAX + 32] = "";

	units_number(bytes, &leak->more, false, false);
	units_number(blocks, &leak->more, true, false);
	if (count && frames->file)
		snprintf(place, sizeof(place), " (%s:%u)", path_base(frames->file), frames->line);
	else if (count && frames->module)
		snprintf(place, sizeof(place), " (%s+0x%" PRIx64 ")", path_base(frames->module),
			 frames->module_offset);
	snprintf(text, room, "%s in %s block%s %s: %s%s", bytes, blocks,
		 leak->more.count == 1 ? "" : "s",
		 gate_leak_status_words[leak->status], count ? function_name(frames) : "no stack",
		 place);
	return text;
}

static char *value_words(const struct gate_rule *rule, double value, double error, char *text)
{
	struct number number = { .count = value, .bytes = value,
				 .count_variance = error * error, .bytes_variance = error * error };

	return units_number(text, &number, rule->kind->by_count, false);
}

static size_t append_better_rate(const struct gate_report *report, const struct gate_rule *rule,
				 char *text, size_t room)
{
	char rate[UNITS_BYTES], unseen[UNITS_BYTES];

	if (rule->verdict != GATE_UNKNOWN)
		return 0;
	units_bytes(unseen, 3.0 * (double)report->now->rate_bytes, false);
	if (rule->better_rate <= 1)
		return (size_t)snprintf(text, room, "; sampled at %" PRIu64 " this can't be "
					"judged: record with --exact", report->now->rate_bytes);
	units_bytes(rate, rule->better_rate, false);
	return (size_t)snprintf(text, room, "; up to %s may be unseen at this rate: record with "
				"--rate %s or less, or --exact", unseen, rate);
}

/* A size tells its unit itself. */
static const char *kind_words(const struct gate_kind *kind)
{
	static const char unit[] = "bytes ";
	size_t length = sizeof(unit) - 1;

	return kind->words + (!kind->by_count && !strncmp(kind->words, unit, length) ? length : 0);
}

char *gate_rule_words(const struct gate_report *report, const struct gate_rule *rule, char *text,
		      size_t room)
{
	char value[UNITS_BYTES], limit[UNITS_BYTES], before[UNITS_BYTES], baseline[128] = "";
	int used;

	value_words(rule, rule->value, rule->value_error, value);
	value_words(rule, rule->limit, 0, limit);
	if (!isnan(rule->baseline))
		snprintf(baseline, sizeof(baseline), ", baseline %s",
			 value_words(rule, rule->baseline, 0, before));
	used = snprintf(text, room, "%s%s%s: %s %s, %s allowed (%s)%s", rule->kind->name,
			rule->pattern ? " of " : "", rule->pattern ? rule->pattern : "", value,
			kind_words(rule->kind), limit, rule->text, baseline);
	if (used > 0 && (size_t)used < room)
		append_better_rate(report, rule, text + used, room - (size_t)used);
	return text;
}

bool gate_is_unused(struct suppression_use use)
{
	return !use.stacks && strcmp(use.file, LEAK_SUPPRESSIONS_NAME);
}

char *gate_fingerprint(const char *name, char text[GATE_FINGERPRINT_BYTES])
{
	snprintf(text, GATE_FINGERPRINT_BYTES, "%016" PRIx64,
		 (uint64_t)XXH3_64bits(name, strlen(name)));
	return text;
}

const char *gate_relative_path(const char *file)
{
	char here[PATH_MAX];
	size_t length;

	if (!file || !getcwd(here, sizeof(here)))
		return file;
	length = strlen(here);
	if (length > 1 && !strncmp(file, here, length) && file[length] == '/')
		return file + length + 1;
	return file;
}
