/*
 * The gate's verdict for other programs, schema memprof.gate/1.
 */
#include "view/gate_report.h"

#include "view/json.h"

static const char *const verdict_keys[] = { "pass", "fail", "unknown" };
static const char *const status_keys[] = { "present", "new", "grown" };

static void write_rule(const struct gate_rule *rule, struct json *json)
{
	json_row_begin(json, NULL);
	json_string(json, "limit", rule->kind->name);
	json_string(json, "sites", rule->pattern);
	json_string(json, "given", rule->text);
	json_double(json, "allowed", rule->limit);
	json_double(json, "value", rule->value);
	json_double(json, "value_error", rule->value_error);
	json_double(json, "baseline", rule->baseline);
	json_string(json, "verdict", verdict_keys[rule->verdict]);
	if (rule->verdict == GATE_UNKNOWN)
		json_double(json, "better_rate", rule->better_rate);
	json_object_end(json);
}

static void write_frames(const struct profile_frame *frames, size_t count, struct json *json)
{
	size_t i;

	json_array_begin(json, "frames");
	for (i = 0; i < count; i++) {
		json_row_begin(json, NULL);
		json_string(json, "function", frames[i].function);
		json_string(json, "file", frames[i].file);
		if (frames[i].line)
			json_unsigned(json, "line", frames[i].line);
		else
			json_null(json, "line");
		json_string(json, "module", frames[i].module);
		json_unsigned(json, "module_offset", frames[i].module_offset);
		json_bool(json, "inlined", frames[i].is_inlined);
		json_object_end(json);
	}
	json_array_end(json);
}

static void write_leak(const struct gate_report *report, const struct gate_leak *leak,
		       struct json *json)
{
	char fingerprint[GATE_FINGERPRINT_BYTES];
	const struct profile_frame *frames;
	size_t count = gate_leak_frames(report, leak, &frames);

	json_object_begin(json, NULL);
	json_string(json, "fingerprint", gate_fingerprint(leak->entry->name, fingerprint));
	json_string(json, "status", status_keys[leak->status]);
	json_number(json, "live", &leak->entry->tally.of[METRIC_LIVE]);
	json_number(json, "more", &leak->more);
	write_frames(frames, count, json);
	json_object_end(json);
}

void gate_json(const struct gate_report *report, FILE *out)
{
	const struct gate *gate = report->gate;
	struct json json;
	size_t i;

	json_init(&json, out);
	json_object_begin(&json, NULL);
	json_string(&json, "schema", "memprof.gate/1");
	json_string(&json, "trace", report->trace);
	json_string(&json, "command", report->command);
	json_bool(&json, "complete", report->is_complete);
	json_string(&json, "baseline", report->baseline ? report->baseline->path : NULL);
	json_string(&json, "verdict", verdict_keys[gate->verdict]);
	json_array_begin(&json, "limits");
	for (i = 0; i < gate->rule_count; i++)
		write_rule(&gate->rules[i], &json);
	json_array_end(&json);
	json_array_begin(&json, "leaks");
	for (i = 0; i < gate->leak_count; i++)
		write_leak(report, &gate->leaks[i], &json);
	json_array_end(&json);
	json_number(&json, "suppressed", &report->now->suppressed);
	json_object_end(&json);
	json_end(&json);
}
