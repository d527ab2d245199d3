/*
 * Writes the payload of the page: PAYLOAD.md says what is in it.
 */
#ifndef ANALYZER_PAGE_PAGE_PAYLOAD_H
#define ANALYZER_PAGE_PAGE_PAYLOAD_H

#include "model/judgement.h"
#include "model/trace_set.h"
#include "page/page_facts.h"

#include <stdio.h>

/* One entry of the payload's `traces`: one trace, or a process tree as one. */
struct page_part {
	struct trace_set *set;
	struct judgement *judgement;
	struct page_facts **facts; /* by member of the set */
	const struct page_axis *axis;
	const char *sentences[2]; /* NULL = none */
};

void page_payload_write(FILE *out, const char *tool, const struct page_part *parts, size_t count);

#endif
