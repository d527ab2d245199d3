/*
 * Which site of one profile is which of another, built perhaps from other
 * sources. Sites are matched by their names, never by addresses: first by
 * function, file and module (without their folders) and line. Where the two
 * sides ran different builds, lines may have moved: the sites of one function
 * are paired in the order of their lines; then what is left by function alone,
 * since code moves to other files and files get other names. By stack: first by
 * all functions of the stack, then by those from the call site outwards (inner
 * wrappers come and go), then by the function of the call site.
 *
 * Code of a module that both sides ran in the very same build has not moved, and
 * is only matched with itself.
 */
#ifndef ANALYZER_MODEL_SITE_MATCH_H
#define ANALYZER_MODEL_SITE_MATCH_H

#include "model/profile.h"

struct match_site {
	struct profile *profile;
	const struct profile_site *site;
};

#define MATCH_NONE SIZE_MAX

struct match_pair {
	size_t before, after;      /* indices; one of them may be MATCH_NONE */
	bool is_moved;             /* matched by less than its full names */
};

/* Every site of both sides is in one pair. @one_trace: two moments of the same
 * trace. The array is the caller's, for free(); its length is the result. The
 * sites of @after are all of one profile. */
size_t site_match(const struct match_site *before, size_t before_count,
		  const struct match_site *after, size_t after_count, bool one_trace,
		  struct match_pair **pairs);

#endif
