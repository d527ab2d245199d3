/*
 * The header piece: META records on the process, MODULE records of what is
 * loaded. For process.c.
 */
#ifndef LIBMEMPROF_TRACE_HEADER_H
#define LIBMEMPROF_TRACE_HEADER_H

#include <stdbool.h>

struct clock_reading;
struct process_facts;
struct record_cursor;

struct trace_header {
	const struct process_facts *facts;
	const struct clock_reading *start;
	const char *companion;    /* its path where it isn't beside the trace, else NULL */
	const char *parent_trace; /* NULL: not a child of fork */
	bool with_modules;        /* store those that are loaded */
};

void trace_header_store(const struct trace_header *header, struct record_cursor *cursor);

/* One META record. */
void meta_text(struct record_cursor *cursor, const char *key, const char *value);
void meta_number(struct record_cursor *cursor, const char *key, unsigned long value);

/* Facts of other modules (process_note_fact): kept for the headers to come. */
void header_note_fact(const char *key, const char *value);

#endif
