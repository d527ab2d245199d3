/*
 * The gate's verdict as JUnit XML: one suite for limits with a case each, one
 * suite for the stacks that left too much behind. A limit that can't be judged
 * is an error, one that does not hold a failure.
 */
#include "view/gate_report.h"

#include <inttypes.h>

/* Bytes that XML 1.0 can't hold become '?'. */
static void escape(const char *text, FILE *out)
{
	for (; *text; text++) {
		switch (*text) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		case '\n': fputs("&#10;", out); break;
		default:
			fputc((unsigned char)*text < 0x20 ? '?' : *text, out);
		}
	}
}

static void write_rule(const struct gate_report *report, const struct gate_rule *rule, FILE *out)
{
	static const char *const elements[] = { NULL, "failure", "error" };
	char words[1024];

	fprintf(out, "    <testcase classname=\"memprof.limits\" name=\"%s", rule->kind->name);
	if (rule->pattern) {
		fputs(" of ", out);
		escape(rule->pattern, out);
	}
	if (rule->verdict == GATE_PASS) {
		fputs("\"/>\n", out);
		return;
	}
	fprintf(out, "\">\n      <%s message=\"", elements[rule->verdict]);
	escape(gate_rule_words(report, rule, words, sizeof(words)), out);
	fputs("\"/>\n    </testcase>\n", out);
}

static void write_leak(const struct gate_report *report, const struct gate_leak *leak, FILE *out)
{
	char fingerprint[GATE_FINGERPRINT_BYTES], words[1024];
	const struct profile_frame *frames;
	size_t count = gate_leak_frames(report, leak, &frames), i;

	fputs("    <testcase classname=\"memprof.leaks\" name=\"", out);
	escape(count && frames->function ? frames->function : "no name", out);
	fprintf(out, " %s\"", gate_fingerprint(leak->entry->name, fingerprint));
	if (count && frames->file) {
		fputs(" file=\"", out);
		escape(gate_relative_path(frames->file), out);
		fprintf(out, "\" line=\"%u\"", frames->line);
	}
	fputs(">\n      <failure message=\"", out);
	escape(gate_leak_words(report, leak, words, sizeof(words)), out);
	fputs("\">", out);
	for (i = 0; i < count; i++) {
		fputs(i ? "&#10;" : "", out);
		escape(frames[i].function ? frames[i].function : "??", out);
		if (frames[i].file) {
			fputc(' ', out);
			escape(frames[i].file, out);
			fprintf(out, ":%u", frames[i].line);
		}
	}
	fputs("</failure>\n    </testcase>\n", out);
}

static size_t count_verdicts(const struct gate *gate, enum gate_verdict verdict)
{
	size_t count = 0, i;

	for (i = 0; i < gate->rule_count; i++)
		count += gate->rules[i].verdict == verdict;
	return count;
}

void gate_junit(const struct gate_report *report, FILE *out)
{
	const struct gate *gate = report->gate;
	size_t failed = count_verdicts(gate, GATE_FAIL),
	       unknown = count_verdicts(gate, GATE_UNKNOWN);
	size_t i;

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"memprof-gate\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n"
		"  <testsuite name=\"memprof limits\" tests=\"%zu\" failures=\"%zu\" "
		"errors=\"%zu\">\n",
		gate->rule_count + gate->leak_count, failed + gate->leak_count, unknown,
		gate->rule_count, failed, unknown);
	for (i = 0; i < gate->rule_count; i++)
		write_rule(report, &gate->rules[i], out);
	fprintf(out, "  </testsuite>\n  <testsuite name=\"memprof leaks\" tests=\"%zu\" "
		"failures=\"%zu\" errors=\"0\">\n", gate->leak_count, gate->leak_count);
	for (i = 0; i < gate->leak_count; i++)
		write_leak(report, &gate->leaks[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
}
