/*
 * The gate's verdict as GitHub's workflow commands: ::error lines, which show at
 * the source line, and a table in the step summary when there is a file for it.
 * GitHub shows about ten of a kind for each step, so the worst come first.
 */
#include "view/gate_report.h"

#include <stdlib.h>
#include <string.h>

#define ANNOTATIONS_MAX 10

/* What the command's syntax takes for itself; properties also ':' and ','. */
static void escape(const char *text, bool is_property, FILE *out)
{
	for (; *text; text++) {
		if (strchr("%\r\n", *text) || (is_property && strchr(":,", *text)))
			fprintf(out, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, out);
	}
}

static void annotate(const char *level, const struct profile_frame *frame, const char *title,
		     const char *words, FILE *out)
{
	fprintf(out, "::%s title=%s", level, title);
	if (frame && frame->file) {
		fputs(",file=", out);
		escape(gate_relative_path(frame->file), true, out);
		fprintf(out, ",line=%u", frame->line);
	}
	fputs("::", out);
	escape(words, false, out);
	fputc('\n', out);
}

static void write_summary(const struct gate_report *report, FILE *out)
{
	const struct gate *gate = report->gate;
	char words[1024];
	size_t i;

	fprintf(out, "### memprof gate: %s\n\n| | limit |\n|---|---|\n",
		gate_verdict_words[gate->verdict]);
	for (i = 0; i < gate->rule_count; i++)
		fprintf(out, "| %s | %s |\n", gate_verdict_words[gate->rules[i].verdict],
			gate_rule_words(report, &gate->rules[i], words, sizeof(words)));
	for (i = 0; i < gate->leak_count && i < report->stacks_max; i++)
		fprintf(out, "%s- `%s`\n", i ? "" : "\n",
			gate_leak_words(report, &gate->leaks[i], words, sizeof(words)));
	if (gate->leak_count > i)
		fprintf(out, "- and %zu more stacks\n", gate->leak_count - i);
}

void gate_github(const struct gate_report *report, FILE *out)
{
	const char *summary_path = getenv("GITHUB_STEP_SUMMARY");
	FILE *summary = summary_path && *summary_path ? fopen(summary_path, "ae") : NULL;
	const struct gate *gate = report->gate;
	char words[1024];
	size_t i;

	for (i = 0; i < gate->rule_count; i++)
		if (gate->rules[i].verdict != GATE_PASS)
			annotate(gate->rules[i].verdict == GATE_FAIL ? "error" : "warning", NULL,
				 "memprof gate",
				 gate_rule_words(report, &gate->rules[i], words, sizeof(words)),
				 out);
	for (i = 0; i < gate->leak_count && i < ANNOTATIONS_MAX; i++) {
		const struct profile_frame *frames;
		size_t count = gate_leak_frames(report, &gate->leaks[i], &frames);

		annotate("error", count ? frames : NULL, "memory not freed",
			 gate_leak_words(report, &gate->leaks[i], words, sizeof(words)), out);
	}
	if (summary) {
		write_summary(report, summary);
		fclose(summary);
	}
}
