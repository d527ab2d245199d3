/*
 * The gate's verdict as SARIF 2.1.0: a result for each failed limit and each
 * stack that left too much behind, with the stack as SARIF's own `stacks`.
 * Code scanning services cap what they take, so only the worst are told.
 */
#include "view/gate_report.h"

#include "view/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RESULTS_MAX 1000

static const struct rule_text {
	const char *id, *name, *words;
} rule_texts[] = {
	{ "MP001", "leak", "Memory that was not freed at exit" },
	{ "MP002", "limit", "A limit on the program's memory does not hold" },
	{ "MP003", "unjudged", "A limit can't be judged at this sampling rate" },
};

enum { RULE_LEAK, RULE_LIMIT, RULE_UNJUDGED };

static void write_message(struct json *json, const char *key, const char *words)
{
	json_row_begin(json, key);
	json_string(json, "text", words);
	json_object_end(json);
}

static void write_driver(struct json *json)
{
	size_t i;

	json_object_begin(json, "tool");
	json_object_begin(json, "driver");
	json_string(json, "name", "memprof-gate");
	json_array_begin(json, "rules");
	for (i = 0; i < sizeof(rule_texts) / sizeof(rule_texts[0]); i++) {
		json_object_begin(json, NULL);
		json_string(json, "id", rule_texts[i].id);
		json_string(json, "name", rule_texts[i].name);
		write_message(json, "shortDescription", rule_texts[i].words);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
	json_object_end(json);
}

/* A path as the URI that SARIF wants: other than plain characters in %XX. */
static char *path_uri(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~/";
	char *uri = malloc(3 * strlen(path) + sizeof("file://")), *at = uri;

	if (!uri)
		return NULL;
	if (path[0] == '/')
		at += sprintf(at, "file://");
	for (; *path; path++)
		if (strchr(plain, *path))
			*at++ = *path;
		else
			at += sprintf(at, "%%%02X", (unsigned char)*path);
	*at = 0;
	return uri;
}

static void write_location(struct json *json, const char *key, const struct profile_frame *frame)
{
	char *uri = frame->file ? path_uri(gate_relative_path(frame->file)) : NULL;

	json_object_begin(json, key);
	if (uri) {
		json_object_begin(json, "physicalLocation");
		json_row_begin(json, "artifactLocation");
		json_string(json, "uri", uri);
		if (uri[0] != 'f' || strncmp(uri, "file://", 7))
			json_string(json, "uriBaseId", "%SRCROOT%");
		json_object_end(json);
		if (frame->line) {
			json_row_begin(json, "region");
			json_unsigned(json, "startLine", frame->line);
			json_object_end(json);
		}
		json_object_end(json);
	}
	json_array_begin(json, "logicalLocations");
	json_row_begin(json, NULL);
	json_string(json, "fullyQualifiedName", frame->function ? frame->function : "??");
	json_string(json, "kind", "function");
	json_object_end(json);
	json_array_end(json);
	json_object_end(json);
	free(uri);
}

static void write_stack(struct json *json, const struct profile_frame *frames, size_t count)
{
	size_t i;

	json_array_begin(json, "stacks");
	json_object_begin(json, NULL);
	write_message(json, "message", "where it was allocated");
	json_array_begin(json, "frames");
	for (i = 0; i < count; i++) {
		json_object_begin(json, NULL);
		write_location(json, "location", &frames[i]);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
	json_array_end(json);
}

static void result_begin(struct json *json, unsigned rule, const char *level, const char *words,
			 const char *fingerprint)
{
	json_object_begin(json, NULL);
	json_string(json, "ruleId", rule_texts[rule].id);
	json_unsigned(json, "ruleIndex", rule);
	json_string(json, "level", level);
	write_message(json, "message", words);
	json_row_begin(json, "partialFingerprints");
	json_string(json, "memprofStack/v1", fingerprint);
	json_object_end(json);
}

static void write_leak(const struct gate_report *report, const struct gate_leak *leak,
		       struct json *json)
{
	char fingerprint[GATE_FINGERPRINT_BYTES], words[1024];
	const struct profile_frame *frames;
	size_t count = gate_leak_frames(report, leak, &frames);

	result_begin(json, RULE_LEAK, "error", gate_leak_words(report, leak, words, sizeof(words)),
		     gate_fingerprint(leak->entry->name, fingerprint));
	if (count) {
		json_array_begin(json, "locations");
		write_location(json, NULL, frames);
		json_array_end(json);
		write_stack(json, frames, count);
	}
	json_object_end(json);
}

static void write_rule(const struct gate_report *report, const struct gate_rule *rule,
		       struct json *json)
{
	char fingerprint[GATE_FINGERPRINT_BYTES], words[1024];

	if (rule->verdict == GATE_PASS)
		return;
	result_begin(json, rule->verdict == GATE_FAIL ? RULE_LIMIT : RULE_UNJUDGED,
		     rule->verdict == GATE_FAIL ? "error" : "warning",
		     gate_rule_words(report, rule, words, sizeof(words)),
		     gate_fingerprint(rule->kind->name, fingerprint));
	json_object_end(json);
}

void gate_sarif(const struct gate_report *report, FILE *out)
{
	const struct gate *gate = report->gate;
	struct json json;
	size_t i;

	json_init(&json, out);
	json_object_begin(&json, NULL);
	json_string(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_string(&json, "version", "2.1.0");
	json_array_begin(&json, "runs");
	json_object_begin(&json, NULL);
	write_driver(&json);
	json_array_begin(&json, "results");
	for (i = 0; i < gate->rule_count; i++)
		write_rule(report, &gate->rules[i], &json);
	for (i = 0; i < gate->leak_count && i < RESULTS_MAX; i++)
		write_leak(report, &gate->leaks[i], &json);
	json_array_end(&json);
	if (gate->leak_count > RESULTS_MAX) {
		json_row_begin(&json, "properties");
		json_unsigned(&json, "leaksLeftOut", gate->leak_count - RESULTS_MAX);
		json_object_end(&json);
	}
	json_object_end(&json);
	json_array_end(&json);
	json_object_end(&json);
	json_end(&json);
}
