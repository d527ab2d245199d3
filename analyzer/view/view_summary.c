/*
 * summary: the headline figures, the live heap in one line, what it amounts to in
 * two sentences, the sites to look at first, and the command to run next.
 */
#include "model/judgement.h"
#include "util/memory.h"
#include "view/common.h"
#include "view/sparkline.h"
#include "view/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SITES_PER_LIST 3

/* ---- JSON, CSV ---- */

static void json_curve(struct json *json, const struct judgement *judgement)
{
	uint64_t duration = judgement->profile->traces[0].trace->info.duration_ns;

	json_object_begin(json, "curve");
	json_double(json, "bucket_ns", (double)duration / CURVE_BUCKETS);
	json_list_begin(json, "live_bytes");
	for (int i = 0; i < CURVE_BUCKETS; i++)
		json_double(json, NULL, judgement->heap.live[i]);
	json_array_end(json);
	json_object_end(json);
}

static void print_json(const struct view_request *request, const struct trace_set *set,
		       const struct judgement *judgement)
{
	struct profile *profile = judgement->profile;
	size_t rows = query_rows(request->query.limit, profile->site_count, profile->site_count);
	struct json json;

	json_init(&json, request->out);
	json_object_begin(&json, NULL);
	json_string(&json, "schema", "memprof.summary/1");
	json_traces(&json, set, profile);
	json_totals(&json, profile);
	json_string(&json, "verdict", program_verdict_names[judgement->program]);
	json_curve(&json, judgement);
	json_array_begin(&json, "sites");
	for (size_t i = 0; i < rows; i++) {
		const struct profile_site *site = &profile->sites[i];

		json_object_begin(&json, NULL);
		json_string(&json, "verdict", verdict_names[judgement->sites[i]]);
		json_site(&json, profile, site,
			  query_rows(request->query.stacks, 3, site->stack_count));
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	json_end(&json);
}

static void print_csv(const struct view_request *request, const struct judgement *judgement)
{
	const struct profile *profile = judgement->profile;
	size_t rows = query_rows(request->query.limit, profile->site_count, profile->site_count);

	fputs("verdict,kind,function,file,line,module,live_bytes,live_count,peak_bytes,"
	      "allocated_bytes,allocated_count\n", request->out);
	for (size_t i = 0; i < rows; i++) {
		const struct profile_site *site = &profile->sites[i];

		csv_text(request->out, verdict_names[judgement->sites[i]], true);
		csv_text(request->out, site->kind == TALLY_HEAP ? "malloc" : "mmap", false);
		csv_text(request->out, site->where.function, false);
		csv_text(request->out, site->where.file, false);
		csv_double(request->out, site->where.line);
		csv_text(request->out, site->where.module, false);
		csv_double(request->out, site->tally.of[METRIC_LIVE].bytes);
		csv_double(request->out, site->tally.of[METRIC_LIVE].count);
		csv_double(request->out, site->tally.of[METRIC_PEAK].bytes);
		csv_double(request->out, site->tally.of[METRIC_ALLOCATED].bytes);
		csv_double(request->out, site->tally.of[METRIC_ALLOCATED].count);
		fputc('\n', request->out);
	}
}

/* ---- the figures ---- */

static uint64_t longest_run_ns(const struct profile *profile)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < profile->trace_count; i++)
		if (profile->traces[i].trace->info.duration_ns > longest)
			longest = profile->traces[i].trace->info.duration_ns;
	return longest;
}

static void print_rate(const struct view_request *request, const struct profile *profile)
{
	const struct number *allocated = &profile->heap.of[METRIC_ALLOCATED];
	double seconds = (double)longest_run_ns(profile) / 1e9;
	char count[UNITS_BYTES];

	if (seconds < 0.1)
		return;
	fprintf(request->out, " (%s per second)",
		units_count(count, (double)(uint64_t)(allocated->count / seconds), request->raw));
}

static void print_figures(const struct view_request *request, const struct profile *profile)
{
	const struct tally *heap = &profile->heap;
	FILE *out = request->out;
	char text[UNITS_BYTES], when[UNITS_BYTES];
	bool raw = request->raw;

	fprintf(out, "  live at the end   %s in ",
		units_number(text, &heap->of[METRIC_LIVE], false, raw));
	fprintf(out, "%s blocks\n", units_number(text, &heap->of[METRIC_LIVE], true, raw));
	fprintf(out, "  peak              %s in ",
		units_number(text, &heap->of[METRIC_PEAK], false, raw));
	fprintf(out, "%s blocks", units_number(text, &heap->of[METRIC_PEAK], true, raw));
	if (profile->trace_count == 1)
		fprintf(out, ", at %s", units_duration(when, profile->traces[0].totals.peak_ns));
	else
		fputs(", each process at its own moment", out);
	fprintf(out, "\n  allocated         %s in ",
		units_number(text, &heap->of[METRIC_ALLOCATED], false, raw));
	fprintf(out, "%s calls", units_number(text, &heap->of[METRIC_ALLOCATED], true, raw));
	print_rate(request, profile);
	fprintf(out, "\n  temporary         %s of the calls: freed before the next allocation\n",
		units_percent(text, heap->of[METRIC_TEMPORARY].count,
			      heap->of[METRIC_ALLOCATED].count));
	if (profile->mapped.of[METRIC_ALLOCATED].bytes > 0)
		fprintf(out, "  mapped itself     %s (mmap, brk; not part of the heap)\n",
			units_number(text, &profile->mapped.of[METRIC_PEAK], false, raw));
	if (profile->inherited.count)
		fprintf(out,
			"  inherited         %s blocks freed that are older than the recording\n",
			units_number(text, &profile->inherited, true, raw));
	if (profile->unknown.count)
		fprintf(out, "  unknown           %s live when recording was stopped\n",
			units_number(text, &profile->unknown, false, raw));
}

static void print_curve(const struct view_request *request, const struct judgement *judgement)
{
	size_t columns = request->width > 40 ? request->width - 22 : 58;

	if (columns > 100)
		columns = 100;
	fputs("  over time         ", request->out);
	sparkline_print(request->out, judgement->heap.live, CURVE_BUCKETS, columns);
	fputs("\n", request->out);
}

/* ---- the verdict ---- */

static void say_retention(const struct view_request *request, const struct judgement *judgement)
{
	double live = curve_peak_bytes(&judgement->leaking);
	double rise = curve_rise_bytes(&judgement->leaking);
	char a[UNITS_BYTES], b[UNITS_BYTES], c[UNITS_BYTES];

	fprintf(
	    request->out,
	    "Retention: live bytes rise to the end, and what they rise by is hardly ever freed.\n"
	    "%zu leak suspect%s reached %s (%s of the peak), %s of it in the last third.\n",
	    judgement->leaking_count, judgement->leaking_count == 1 ? "" : "s",
	    units_bytes(a, live, request->raw),
	    units_percent(b, live, curve_peak_bytes(&judgement->heap)),
	    units_bytes(c, rise, request->raw));
}

static void say_growth(const struct view_request *request, const struct judgement *judgement)
{
	char a[UNITS_BYTES], b[UNITS_BYTES];

	fprintf(request->out,
		"Growth: live bytes rise to the end, by sites that also free old blocks, or by "
		"tables that grow.\nThe last third added %s to %s; %zu growing site%s.\n",
		units_bytes(a, curve_rise_bytes(&judgement->heap), request->raw),
		units_bytes(b, curve_peak_bytes(&judgement->heap), request->raw),
		judgement->growing_count, judgement->growing_count == 1 ? "" : "s");
}

static void say_plateau(const struct view_request *request, const struct judgement *judgement)
{
	char a[UNITS_BYTES];

	fprintf(request->out,
		"Plateau: live bytes reach %s and stay below it; nothing grows at the end.\n",
		units_bytes(a, curve_peak_bytes(&judgement->heap), request->raw));
	if (judgement->leaking_count)
		fprintf(request->out, "Yet %zu %s blocks slowly, see below.\n",
			judgement->leaking_count,
			judgement->leaking_count == 1 ? "site loses" : "sites lose");
}

static void say_churn(const struct view_request *request, const struct judgement *judgement)
{
	const struct number *allocated = &judgement->profile->heap.of[METRIC_ALLOCATED];
	double peak = judgement->profile->heap.of[METRIC_PEAK].bytes;
	char a[UNITS_BYTES], b[UNITS_BYTES];

	fprintf(request->out,
		"Churn: live bytes do not rise, but %s went through a heap of %s, %.0f times its "
		"peak.\nTime goes into malloc and free, not memory into leaks.\n",
		units_bytes(a, allocated->bytes, request->raw), units_bytes(b, peak, request->raw),
		peak > 0 ? allocated->bytes / peak : 0);
}

static void say_unknown(const struct view_request *request, const struct judgement *judgement)
{
	const struct profile *profile = judgement->profile;

	if (profile->heap.of[METRIC_ALLOCATED].count > 0)
		fputs("Can't tell how memory behaves: too few allocations or samples.\n",
		      request->out);
	else if (query_narrows(&request->query))
		fputs("No allocation matches what was asked for.\n", request->out);
	else
		fputs("No allocation was recorded.\n", request->out);
}

void summary_print_verdict(const struct view_request *request, const struct judgement *judgement)
{
	static void (*const say[])(const struct view_request *, const struct judgement *) = {
		[PROGRAM_UNKNOWN] = say_unknown, [PROGRAM_RETENTION] = say_retention,
		[PROGRAM_GROWTH] = say_growth,   [PROGRAM_PLATEAU] = say_plateau,
		[PROGRAM_CHURN] = say_churn,
	};

	fputc('\n', request->out);
	say[judgement->program](request, judgement);
}

/* ---- the sites ---- */

struct ranked {
	size_t index;
	double value;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Fills @best with up to SITES_PER_LIST sites of the heap; returns how many. */
static size_t rank(const struct profile *profile, enum metric metric, bool by_count,
		   struct ranked *best)
{
	struct ranked *all = memory_zeroed(profile->site_count, sizeof(*all));
	size_t count = 0;

	for (size_t i = 0; i < profile->site_count; i++) {
		double value = number_value(&profile->sites[i].tally.of[metric], by_count);

		if (profile->sites[i].kind == TALLY_HEAP && value > 0)
			all[count++] = (struct ranked){ i, value };
	}
	if (count)
		qsort(all, count, sizeof(*all), compare_ranked);
	count = count < SITES_PER_LIST ? count : SITES_PER_LIST;
	if (count)
		memcpy(best, all, count * sizeof(*best));
	free(all);
	return count;
}

static const enum table_style verdict_style[] = {
	[VERDICT_LEAK] = TABLE_RED,      [VERDICT_GROWING] = TABLE_YELLOW,
	[VERDICT_PLATEAU] = TABLE_PLAIN, [VERDICT_CHURN] = TABLE_PLAIN,
	[VERDICT_ONE_TIME] = TABLE_PLAIN,[VERDICT_UNKNOWN] = TABLE_DIM,
};

static void list_rows(struct table *table, const struct view_request *request,
		      const struct judgement *judgement, enum metric metric, bool by_count,
		      const char *title)
{
	const struct profile *profile = judgement->profile;
	struct ranked best[SITES_PER_LIST];
	size_t count = rank(profile, metric, by_count, best);
	char text[UNITS_BYTES];

	for (size_t i = 0; i < count; i++) {
		const struct profile_site *site = &profile->sites[best[i].index];
		enum verdict verdict = judgement->sites[best[i].index];
		char *words = site_words(site);

		table_row(table);
		table_cell(table, TABLE_BOLD, "  %s", i ? "" : title);
		table_cell(table, TABLE_PLAIN, "%s",
			   units_number(text, &site->tally.of[metric], by_count, request->raw));
		table_cell(table, TABLE_PLAIN, "%s",
			   units_percent(text, best[i].value,
					 number_value(&profile->heap.of[metric], by_count)));
		table_cell(table, verdict_style[verdict], "%s", verdict_names[verdict]);
		table_cell(table, TABLE_CYAN, "%s", words);
		free(words);
	}
}

static void print_sites(const struct view_request *request, const struct judgement *judgement)
{
	static const struct table_column columns[] = {
		{ "  most", TABLE_LEFT, false }, { "", TABLE_RIGHT, false },
		{ "", TABLE_RIGHT, false },      { "verdict", TABLE_LEFT, false },
		{ "call site", TABLE_LEFT, true },
	};
	struct table *table = table_new(columns, 5);

	fputc('\n', request->out);
	list_rows(table, request, judgement, METRIC_LIVE, false, "live bytes");
	list_rows(table, request, judgement, METRIC_ALLOCATED, false, "allocated bytes");
	list_rows(table, request, judgement, METRIC_ALLOCATED, true, "calls");
	table_print(table, request->out, request->width, request->color);
	table_free(table);
}

/* ---- what next ---- */

struct next_step {
	const char *command;       /* %s: the trace */
	const char *words;
};

static const struct next_step after_retention[] = {
	{ "memprof-report leaks %s", "where it came from, with stacks" },
	{ "memprof-diff %s@50%% %s", "what grew in the second half" },
	{ NULL, NULL },
};

static const struct next_step after_growth[] = {
	{ "memprof-diff %s@50%% %s", "what grew in the second half" },
	{ "memprof-report peak %s", "what the heap held at its largest" },
	{ NULL, NULL },
};

static const struct next_step after_churn[] = {
	{ "memprof-report churn %s", "short-lived allocations, by line" },
	{ "memprof-report callers -c %s", "who calls malloc most" },
	{ NULL, NULL },
};

static const struct next_step otherwise[] = {
	{ "memprof-report peak %s", "what the heap held at its largest" },
	{ "memprof-report top-sites %s", "who allocates most" },
	{ "memprof-report leaks %s", "what was not freed" },
	{ NULL, NULL },
};

static const struct next_step *const next_steps[] = {
	[PROGRAM_UNKNOWN] = otherwise,     [PROGRAM_RETENTION] = after_retention,
	[PROGRAM_GROWTH] = after_growth,   [PROGRAM_PLATEAU] = otherwise,
	[PROGRAM_CHURN] = after_churn,
};

/* The command with the trace's name in it; to be freed. */
static char *step_command(const struct next_step *step, const char *name)
{
	size_t room = strlen(step->command) + 2 * strlen(name) + 1;
	char *text = memory_zeroed(room, 1), *to = text;

	for (const char *at = step->command; *at; at++) {
		if (at[0] == '%' && at[1] == 's') {
			to = stpcpy(to, name);
			at++;
		} else {
			*to++ = *at;
			at += at[0] == '%' && at[1] == '%';
		}
	}
	return text;
}

static void print_next(const struct view_request *request, const struct trace_set *set,
		       const struct judgement *judgement)
{
	int width = 0;

	fputs("\nNext:\n", request->out);
	for (int pass = 0; pass < 2; pass++) /* the first finds the width */
		for (const struct next_step *step = next_steps[judgement->program]; step->command;
		     step++) {
			char *command = step_command(step, set->name);
			int length = (int)text_columns(command);

			if (pass)
				fprintf(request->out, "  %s%*s  # %s\n", command, width - length,
					"", step->words);
			else if (length > width)
				width = length;
			free(command);
		}
}

static void print_text(const struct view_request *request, const struct trace_set *set,
		       const struct judgement *judgement)
{
	print_heading(request, set, judgement->profile);
	print_figures(request, judgement->profile);
	print_curve(request, judgement);
	summary_print_verdict(request, judgement);
	if (!judgement->profile->site_count)
		return;
	print_sites(request, judgement);
	print_next(request, set, judgement);
}

int view_summary(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct judgement judgement;
	int status;

	if (!request->query.sort_given)
		request->query.sort = METRIC_LIVE;
	status = judgement_build(set, &request->query, &judgement, err);
	if (status)
		return status;
	if (request->format == FORMAT_JSON)
		print_json(request, set, &judgement);
	else if (request->format == FORMAT_CSV)
		print_csv(request, &judgement);
	else
		print_text(request, set, &judgement);
	judgement_release(&judgement);
	return 0;
}
