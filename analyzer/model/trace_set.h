/*
 * The traces a command is about: TRACE[@WHEN] words turned into opened traces
 * and moments. A folder stands for all traces in it; no word at all for the
 * newest trace in the working directory.
 */
#ifndef ANALYZER_MODEL_TRACE_SET_H
#define ANALYZER_MODEL_TRACE_SET_H

#include "trace/trace.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A moment of a trace, as WHEN says it. */
enum moment_kind {
	MOMENT_END,    /* nothing asked: all of the trace */
	MOMENT_TIME,   /* at time_ns: events up to and at that time have happened */
	MOMENT_PEAK,   /* when the whole heap was largest */
};

struct moment {
	enum moment_kind kind;
	uint64_t time_ns;
	const char *words;       /* as the user wrote it, NULL = nothing */
};

struct trace_set_member {
	struct trace *trace;
	struct moment when;
};

struct trace_set {
	struct trace_set_member *members;
	size_t count;
	bool from_folder;        /* a process tree */
	char *name;              /* as given: file or folder */
};

/* Opens what @words name, in their order. The caller owns the set. Files in a
 * folder that are no traces are passed over; a folder without one is an error. */
int trace_set_open(const char *const *words, size_t count, struct trace_set *set,
		   struct error *err);
void trace_set_close(struct trace_set *set);

/* Parses WHEN for @trace: a snapshot's name or #N, 12.5s, peak, end, auto#N, reset. */
int moment_parse(struct trace *trace, const char *when, struct moment *moment, struct error *err);

/* The path of the newest trace in @folder (to be freed), NULL when there is none. */
char *trace_set_newest(const char *folder);

/* Splits "FILE@WHEN" into *@path (to be freed) and *@when (inside @word, NULL =
 * none): an existing file of the whole name wins, else the last '@' divides. */
int trace_word_split(const char *word, char **path, const char **when, struct error *err);

#endif
