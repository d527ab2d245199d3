/*
 * How a gate tells its verdict: to people, to CI systems, to other programs.
 * Each format is a file gate_FORMAT.c with one function, and a row in the table.
 */
#ifndef ANALYZER_VIEW_GATE_REPORT_H
#define ANALYZER_VIEW_GATE_REPORT_H

#include "model/gate.h"
#include "model/profile.h"
#include "model/suppressions.h"

#include <stdio.h>

/* All that a report may tell; borrowed. */
struct gate_report {
	const struct gate *gate;
	const struct baseline *now;
	const struct baseline *baseline;        /* NULL = none */
	struct profile *profile;                /* for the frames of leaks */
	const struct suppressions *suppressions;
	const char *trace;                      /* as the user named it */
	const char *command;                    /* what was profiled */
	bool is_complete;
	bool color;
	size_t stacks_max;                      /* leaks told in full by people's formats */
};

struct gate_report_format {
	const char *name;
	const char *words;
	void (*write)(const struct gate_report *report, FILE *out);
};

extern const struct gate_report_format gate_report_formats[];
extern const size_t gate_report_format_count;
const struct gate_report_format *gate_report_find(const char *name);

void gate_text(const struct gate_report *report, FILE *out);
void gate_json(const struct gate_report *report, FILE *out);
void gate_junit(const struct gate_report *report, FILE *out);
void gate_sarif(const struct gate_report *report, FILE *out);
void gate_github(const struct gate_report *report, FILE *out);
void gate_gitlab(const struct gate_report *report, FILE *out);

/* ---- what several formats need ----------------------------------------------- */

/* The frames of a leak, innermost first, from its call site outwards. */
size_t gate_leak_frames(const struct gate_report *report, const struct gate_leak *leak,
			const struct profile_frame **frames);

/* One line: "48.0K in 1000 blocks not freed by handle_request (server.c:42)". */
char *gate_leak_words(const struct gate_report *report, const struct gate_leak *leak, char *text,
		      size_t room);

/* One line: "max-leaked: 48.0K bytes not freed at exit, 0 allowed". */
char *gate_rule_words(const struct gate_report *report, const struct gate_rule *rule, char *text,
		      size_t room);

/* A suppression of the user's that covered nothing. */
bool gate_is_unused(struct suppression_use use);

/* 16 hex digits that stay the same over rebuilds. */
#define GATE_FINGERPRINT_BYTES 17
char *gate_fingerprint(const char *name, char text[GATE_FINGERPRINT_BYTES]);

/* @file below the working directory as a path relative to it; else as it is. */
const char *gate_relative_path(const char *file);

#endif
