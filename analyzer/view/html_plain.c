/*
 * See html_plain.h. Everything that comes out of a trace goes through html_text.
 */
#include "view/html_plain.h"

#include "view/units.h"

#include <inttypes.h>
#include <math.h>

#define ROWS_MOST 500

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
			fprintf(out, "&#%u;", c);
		else
			fputc(c < 0x20 && c != '\t' ? ' ' : c, out);
	}
}

static void write_head(FILE *out)
{
	fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<title>memprof</title>\n<style>\n"
	      ":root { color-scheme: light dark }\n"
	      "body { font: 14px/1.5 system-ui, sans-serif; max-width: 80em; margin: 2em auto; "
	      "padding: 0 1.5em }\n"
	      "table { border-collapse: collapse; width: 100% }\n"
	      "th, td { padding: .35em 1em .35em 0; text-align: right; border-bottom: 1px solid "
	      "#8884; "
	      "font-variant-numeric: tabular-nums; white-space: nowrap }\n"
	      "th:last-child, td:last-child { text-align: left; white-space: normal; "
	      "overflow-wrap: anywhere }\n"
	      "small { opacity: .7 }\n</style></head><body>\n",
	      out);
}

static void write_cell(FILE *out, const struct number *number, bool by_count)
{
	char text[UNITS_BYTES];

	fprintf(out, "<td title=\"%.0f\">%s</td>", round(number_value(number, by_count)),
		units_number(text, number, by_count, false));
}

static void write_place(FILE *out, const struct profile_site *site)
{
	const struct profile_frame *where = &site->where;
	char offset[32];

	fputs("<td>", out);
	if (where->function) {
		html_text(out, where->function);
	} else {
		snprintf(offset, sizeof(offset), "+0x%" PRIx64, where->module_offset);
		html_text(out, path_base(where->module));
		html_text(out, offset);
	}
	fputs(" <small>", out);
	if (where->file) {
		html_text(out, where->file);
		fprintf(out, ":%u ", where->line);
	}
	if (where->module)
		html_text(out, path_base(where->module));
	fputs("</small></td>", out);
}

static void write_row(FILE *out, const struct profile_site *site)
{
	fputs("<tr>", out);
	write_cell(out, &site->tally.of[METRIC_LIVE], false);
	write_cell(out, &site->tally.of[METRIC_PEAK], false);
	write_cell(out, &site->tally.of[METRIC_ALLOCATED], false);
	write_cell(out, &site->tally.of[METRIC_ALLOCATED], true);
	write_cell(out, &site->tally.of[METRIC_TEMPORARY], true);
	write_place(out, site);
	fputs("</tr>\n", out);
}

static void write_table(FILE *out, const struct profile *profile)
{
	size_t rows = 0;

	fputs(
	    "<table><thead><tr><th>live<th>at peak<th>allocated<th>calls<th>temporary<th>call site"
	    "</tr></thead><tbody>\n",
	    out);
	for (size_t i = 0; i < profile->site_count && rows < ROWS_MOST; i++) {
		if (profile->sites[i].kind != TALLY_HEAP)
			continue;
		write_row(out, &profile->sites[i]);
		rows++;
	}
	fputs("</tbody></table>\n", out);
	if (rows == ROWS_MOST)
		fputs("<p>The rest: memprof-report top-sites -n 0</p>\n", out);
}

void html_plain(FILE *out, struct profile *profile, const char *const sentences[2], size_t index,
		size_t count)
{
	const struct trace_info *info = &profile->traces[0].trace->info;

	if (!index)
		write_head(out);
	fputs("<h1>", out);
	html_text(out, path_base(info->exe));
	fputs("</h1>\n", out);
	for (unsigned i = 0; i < 2; i++) {
		if (!sentences[i])
			continue;
		fputs("<p>", out);
		html_text(out, sentences[i]);
		fputs("</p>\n", out);
	}
	write_table(out, profile);
	if (index + 1 == count)
		fputs("<p><small>A plain page: this memprof was built without npm, which the full "
		      "one "
		      "needs.</small></p></body></html>\n",
		      out);
}
