/*
 * The line "usually freed by ..." of the views of sites.
 */
#ifndef ANALYZER_VIEW_FREED_BY_H
#define ANALYZER_VIEW_FREED_BY_H

#include "model/free_sites.h"
#include "view/json.h"

struct freed_by {
	struct free_sites **sites; /* by member of the set */
	size_t count;
};

/* profile_build, with the frees looked at. On success freed_by is the caller's. */
int freed_by_build(struct trace_set *set, const struct query *query, struct freed_by *freed_by,
		   struct profile **profile, struct error *err);
void freed_by_release(struct freed_by *freed_by);

/* For free(); NULL: nothing is known. */
char *freed_by_words(const struct freed_by *freed_by, struct profile *profile,
		     const struct profile_site *site);
/* The member "freed_by", if something is known. */
void freed_by_json(const struct freed_by *freed_by, struct json *json, struct profile *profile,
		   const struct profile_site *site);

#endif
