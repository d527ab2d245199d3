/*
 * The gate's verdict as GitLab's code quality report: a list of issues, each
 * with a fingerprint, a severity and a place. GitLab wants a path for every
 * issue, so one without a source file carries its module's name.
 */
#include "view/gate_report.h"

#include "view/json.h"

static void write_issue(struct json *json, const char *check, const char *words,
			const char *fingerprint, const char *severity, const char *path,
			unsigned line)
{
	json_object_begin(json, NULL);
	json_string(json, "description", words);
	json_string(json, "check_name", check);
	json_string(json, "fingerprint", fingerprint);
	json_string(json, "severity", severity);
	json_object_begin(json, "location");
	json_string(json, "path", path);
	json_row_begin(json, "lines");
	json_unsigned(json, "begin", line ? line : 1);
	json_object_end(json);
	json_object_end(json);
	json_object_end(json);
}

static void write_leak(const struct gate_report *report, const struct gate_leak *leak,
		       struct json *json)
{
	char fingerprint[GATE_FINGERPRINT_BYTES], words[1024];
	const struct profile_frame *frames;
	size_t count = gate_leak_frames(report, leak, &frames);
	const char *path = report->trace;

	if (count && frames->file)
		path = gate_relative_path(frames->file);
	else if (count && frames->module)
		path = path_base(frames->module);
	write_issue(json, "memprof-leak", gate_leak_words(report, leak, words, sizeof(words)),
		    gate_fingerprint(leak->entry->name, fingerprint), "major", path,
		    count ? frames->line : 0);
}

void gate_gitlab(const struct gate_report *report, FILE *out)
{
	const struct gate *gate = report->gate;
	char fingerprint[GATE_FINGERPRINT_BYTES], words[1024];
	struct json json;
	size_t i;

	json_init(&json, out);
	json_array_begin(&json, NULL);
	for (i = 0; i < gate->rule_count; i++) {
		const struct gate_rule *rule = &gate->rules[i];

		if (rule->verdict == GATE_PASS)
			continue;
		write_issue(&json, "memprof-limit",
			    gate_rule_words(report, rule, words, sizeof(words)),
			    gate_fingerprint(rule->kind->name, fingerprint),
			    rule->verdict == GATE_FAIL ? "critical" : "minor", report->trace, 1);
	}
	for (i = 0; i < gate->leak_count; i++)
		write_leak(report, &gate->leaks[i], &json);
	json_array_end(&json);
	json_end(&json);
}
