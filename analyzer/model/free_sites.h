/*
 * Where the blocks of each stack were freed, of traces that have the stacks of frees
 * (MEMPROF_FREE_STACKS=1): what frees the siblings of a lost block should have freed
 * it, too. An aggregator.
 */
#ifndef ANALYZER_MODEL_FREE_SITES_H
#define ANALYZER_MODEL_FREE_SITES_H

#include "model/pass.h"
#include "model/profile.h"

struct free_sites;

/* One for each member of a set; @query's filters count. On success the caller's. */
int free_sites_new(struct trace *trace, const struct query *query, struct free_sites **sites,
		   struct error *err);
void free_sites_free(struct free_sites *sites);
struct aggregator *free_sites_aggregator(struct free_sites *sites);

struct usual_free {
	struct profile_frame where; /* the call site of most frees; strings are the profile's */
	double count, of;           /* frees there, and all that have a stack */
};

/* After the pass. @all: by member of the profile. false: no free of the site's blocks
 * has a stack. */
bool free_sites_usual(struct free_sites *const *all, struct profile *profile,
		      const struct profile_site *site, struct usual_free *usual);

#endif
