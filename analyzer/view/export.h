/*
 * Exports: traces in the formats of other people's viewers. A format is a file
 * export_FORMAT.c with one function, and a row in the table in view_export.c.
 */
#ifndef ANALYZER_VIEW_EXPORT_H
#define ANALYZER_VIEW_EXPORT_H

#include "model/profile.h"
#include "view/view.h"

#include <stdio.h>

struct export_job {
	const struct view_request *request;
	struct trace_set *set;
	struct profile *profile;   /* of all sites and stacks; NULL for EXPORT_EVENTS */
	FILE *out;
};

enum export_flag {
	EXPORT_BINARY = 1,         /* nothing for a terminal */
	EXPORT_EVENTS = 2,         /* makes its own passes over the traces */
	EXPORT_LABELS = 4,         /* stacks by thread, unless asked by something else */
};

struct export_format {
	const char *name;
	const char *words;
	unsigned flags;
	int (*write)(struct export_job *job, struct error *err);
};

#define EXPORT_WRITE(name) int name(struct export_job *job, struct error *err)
EXPORT_WRITE(export_folded);
EXPORT_WRITE(export_folded_diff);
EXPORT_WRITE(export_pprof);
EXPORT_WRITE(export_speedscope);
EXPORT_WRITE(export_heaptrack);
EXPORT_WRITE(export_massif);
EXPORT_WRITE(export_callgrind);
EXPORT_WRITE(export_ndjson);
EXPORT_WRITE(export_csv);
EXPORT_WRITE(export_sqlite);

#endif
