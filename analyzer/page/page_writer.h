/*
 * What the files that write the payload share: one part of it being written.
 * page_payload.c begins and ends; the others each write some of its members.
 */
#ifndef ANALYZER_PAGE_PAGE_WRITER_H
#define ANALYZER_PAGE_PAGE_WRITER_H

#include "page/page_names.h"
#include "page/page_payload.h"
#include "view/json.h"

/* A stack of the payload: one or several of the profile. */
struct page_row {
	uint32_t site, node;
	struct tally tally;
	double score; /* how much it matters over time */
	size_t changes;
};

struct page_writer {
	const struct page_part *part;
	struct profile *profile;
	struct json *json;
	struct page_names names;
	struct page_row *rows;
	size_t row_count;
	struct hash_map row_of;    /* by site and node */
	uint32_t **rows_of_series; /* by member and series; UINT32_MAX = none */
	uint32_t *site_frames;
};

static inline uint64_t micros(uint64_t ns)
{
	return ns / 1000;
}

static inline void column_begin(struct page_writer *w, const char *name)
{
	json_array_begin(w->json, name);
}

static inline void column_end(struct page_writer *w)
{
	json_array_end(w->json);
}

/* The next value of a column that is kept as differences from the one before:
 * curves and indices that mostly rise pack into half. @before starts at 0. */
static inline void column_step(struct page_writer *w, double *before, double value)
{
	json_double(w->json, NULL, value - *before);
	*before = value;
}

/* "timeline", "readings", "moments" (page_times.c) */
void page_write_times(struct page_writer *w);
/* "marks", "sizes", "lifetimes", "threads", "modules", "processes" (page_tables.c) */
void page_write_tables(struct page_writer *w);
/* "sources" (page_sources.c) */
void page_write_sources(struct page_writer *w);

#endif
