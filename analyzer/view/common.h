/*
 * What several views say in the same way: the trace they speak of, totals,
 * sites, frames; in JSON and in text.
 */
#ifndef ANALYZER_VIEW_COMMON_H
#define ANALYZER_VIEW_COMMON_H

#include "model/profile.h"
#include "view/json.h"
#include "view/table.h"
#include "view/units.h"
#include "view/view.h"

/* The word for an enum trace_loss: "no_space", ... */
const char *loss_name(uint32_t cause);

/* ---- JSON ---- */

/* "trace": {...}, or "traces": [...] for a folder or several. */
void json_traces(struct json *json, const struct trace_set *set, const struct profile *profile);
void json_trace(struct json *json, const char *key, const struct profile_trace *pt);
/* The five metrics of a tally, as members. */
void json_tally(struct json *json, const struct tally *tally);
void json_totals(struct json *json, const struct profile *profile);
/* function, file, line, module, module_offset as members. */
void json_place(struct json *json, const struct profile_frame *frame);
void json_frames(struct json *json, const char *key, const struct profile_frame *frames,
		 size_t count);
/* All of a site but its brackets. */
void json_site(struct json *json, struct profile *profile, const struct profile_site *site,
	       size_t stacks);

/* ---- text ---- */

/* "main (app.c:12)", "[libx.so+0x1234]": to be freed. */
char *frame_words(const struct profile_frame *frame);
/* The site's label or place. */
char *site_words(const struct profile_site *site);
/* Two lines on what is shown: program, time, exactness; and warnings, first. */
void print_heading(const struct view_request *request, const struct trace_set *set,
		   const struct profile *profile);
/* "12.5 s", "@warmup", "the end": where the numbers end. To be freed. */
char *moment_words(const struct moment *moment);
/* The frames of a stack as lines of @table, indented. */
void table_stack(struct table *table, struct profile *profile, const struct profile_stack *stack,
		 size_t frames_max);

/* ---- CSV ---- */

/* One field, quoted where it must be; @first: no comma in front. */
void csv_text(FILE *out, const char *text, bool first);
void csv_double(FILE *out, double value);

#endif
