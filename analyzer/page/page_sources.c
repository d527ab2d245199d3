/*
 * Lines of source around the sites that matter most, where the files are there
 * when the page is made.
 */
#include "page/page_writer.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

#define SOURCES_MOST 60
#define SOURCE_LINES 4 /* before and after */

static struct page_writer *sort_writer;

/* Writes the lines around @line; false when there is no such file or line. */
static bool write_source(struct page_writer *w, const char *path, uint32_t line)
{
	FILE *file = fopen(path, "re");
	uint32_t first = line > SOURCE_LINES ? line - SOURCE_LINES : 1, at = 0;
	char *text = NULL;
	size_t room = 0;
	ssize_t length;
	bool is_begun = false;

	while (file && at < line + SOURCE_LINES && (length = getline(&text, &room, file)) >= 0) {
		if (++at < first)
			continue;
		if (!is_begun) {
			json_object_begin(w->json, NULL);
			json_unsigned(w->json, "file", page_string(&w->names, path));
			json_unsigned(w->json, "first", first);
			json_array_begin(w->json, "lines");
			is_begun = true;
		}
		text[strcspn(text, "\r\n")] = '\0';
		if (length > 400)
			text[400] = '\0';
		json_string(w->json, NULL, text);
	}
	if (is_begun) {
		json_array_end(w->json);
		json_object_end(w->json);
	}
	free(text);
	if (file)
		fclose(file);
	return is_begun;
}

static double site_weight(const struct page_writer *w, const struct profile_site *site)
{
	const struct tally *all =
	    site->kind == TALLY_HEAP ? &w->profile->heap : &w->profile->mapped;
	double weight = 0;

	for (unsigned m = 0; m < METRIC_COUNT; m++)
		if (all->of[m].bytes > 0)
			weight += site->tally.of[m].bytes / all->of[m].bytes;
	return weight;
}

static int compare_sites(const void *a, const void *b)
{
	const struct profile_site *x = &sort_writer->profile->sites[*(const uint32_t *)a];
	const struct profile_site *y = &sort_writer->profile->sites[*(const uint32_t *)b];
	double p = site_weight(sort_writer, x), q = site_weight(sort_writer, y);

	if (p != q)
		return p > q ? -1 : 1;
	return x < y ? -1 : x > y;
}

void page_write_sources(struct page_writer *w)
{
	uint32_t *order = memory_zeroed(w->profile->site_count + 1, sizeof(*order));
	size_t written = 0;

	for (uint32_t i = 0; i < w->profile->site_count; i++)
		order[i] = i;
	sort_writer = w;
	qsort(order, w->profile->site_count, sizeof(*order), compare_sites);
	json_array_begin(w->json, "sources");
	for (size_t i = 0;
	     i < w->profile->site_count && i < 4 * SOURCES_MOST && written < SOURCES_MOST; i++) {
		const struct profile_frame *where = &w->profile->sites[order[i]].where;

		if (where->file && *where->file == '/' && where->line)
			written += write_source(w, where->file, where->line);
	}
	json_array_end(w->json);
	free(order);
}
