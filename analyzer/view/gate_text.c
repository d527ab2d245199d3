/*
 * The gate's verdict for people: each limit in one line, then the stacks that
 * left memory behind, worst first, then what suppressions did.
 */
#include "view/gate_report.h"

#include "view/table.h"
#include "view/units.h"

#include <inttypes.h>
#include <math.h>

static const enum table_style verdict_styles[] = { TABLE_GREEN, TABLE_RED, TABLE_YELLOW };

static void cell_value(struct table *table, const struct gate_rule *rule, double value,
		       double error)
{
	struct number number = { .count = value, .bytes = value,
				 .count_variance = error * error, .bytes_variance = error * error };
	char text[UNITS_BYTES];

	if (isnan(value))
		table_cell(table, TABLE_DIM, "-");
	else
		table_cell(table, TABLE_PLAIN, "%s",
			   units_number(text, &number, rule->kind->by_count, false));
}

static void print_rules(const struct gate_report *report, FILE *out)
{
	static const struct table_column columns[] = {
		{ "LIMIT", TABLE_LEFT, false },     { "VALUE", TABLE_RIGHT, false },
		{ "ALLOWED", TABLE_RIGHT, false },  { "BASELINE", TABLE_RIGHT, false },
		{ "", TABLE_LEFT, false },          { "SITES", TABLE_LEFT, true },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	size_t i;

	if (!table)
		return;
	for (i = 0; i < report->gate->rule_count; i++) {
		const struct gate_rule *rule = &report->gate->rules[i];

		table_row(table);
		table_cell(table, TABLE_PLAIN, "%s", rule->kind->name);
		cell_value(table, rule, rule->value, rule->value_error);
		cell_value(table, rule, rule->limit, 0);
		cell_value(table, rule, rule->baseline, 0);
		table_cell(table, verdict_styles[rule->verdict], "%s",
			   gate_verdict_words[rule->verdict]);
		table_cell(table, TABLE_PLAIN, "%s", rule->pattern ? rule->pattern : "all");
	}
	table_print(table, out, 0, report->color);
	table_free(table);
}

static void print_unknown(const struct gate_report *report, FILE *out)
{
	char text[1024];
	size_t i;

	for (i = 0; i < report->gate->rule_count; i++)
		if (report->gate->rules[i].verdict == GATE_UNKNOWN)
			fprintf(out, "%s\n", gate_rule_words(report, &report->gate->rules[i], text,
							     sizeof(text)));
}

static void print_frame(const struct profile_frame *frame, FILE *out)
{
	fprintf(out, "        %s", frame->function ? frame->function : "??");
	if (frame->file)
		fprintf(out, "  %s:%u", gate_relative_path(frame->file), frame->line);
	else if (frame->module)
		fprintf(out, "  %s+0x%" PRIx64, path_base(frame->module), frame->module_offset);
	fprintf(out, "%s\n", frame->is_inlined ? "  (inlined)" : "");
}

static void print_leaks(const struct gate_report *report, FILE *out)
{
	size_t i, j;

	for (i = 0; i < report->gate->leak_count && i < report->stacks_max; i++) {
		const struct gate_leak *leak = &report->gate->leaks[i];
		const struct profile_frame *frames;
		size_t count = gate_leak_frames(report, leak, &frames);
		char text[1024];

		fprintf(out, "\n    %s\n", gate_leak_words(report, leak, text, sizeof(text)));
		for (j = 0; j < count; j++)
			print_frame(&frames[j], out);
	}
	if (report->gate->leak_count > i)
		fprintf(out, "\n    %zu more stacks\n", report->gate->leak_count - i);
}

static void print_suppressions(const struct gate_report *report, FILE *out)
{
	char bytes[UNITS_BYTES], blocks[UNITS_BYTES];
	size_t i;

	if (report->now->suppressed.count > 0)
		fprintf(out, "\nsuppressed: %s in %s block%s\n",
			units_number(bytes, &report->now->suppressed, false, false),
			units_number(blocks, &report->now->suppressed, true, false),
			report->now->suppressed.count == 1 ? "" : "s");
	for (i = 0; report->suppressions && i < suppressions_count(report->suppressions); i++) {
		struct suppression_use use = suppressions_use(report->suppressions, i);

		if (gate_is_unused(use))
			fprintf(out, "unused suppression: %s (%s:%u)\n", use.text, use.file,
				use.line);
	}
}

void gate_text(const struct gate_report *report, FILE *out)
{
	fprintf(out, "gate %s: %s\n\n", gate_verdict_words[report->gate->verdict], report->trace);
	print_rules(report, out);
	print_unknown(report, out);
	print_leaks(report, out);
	print_suppressions(report, out);
	if (!report->is_complete)
		fprintf(out, "\nthe trace was cut short: numbers are those up to its end\n");
}
