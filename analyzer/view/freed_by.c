/*
 * See freed_by.h.
 */
#include "view/freed_by.h"

#include "util/memory.h"
#include "view/common.h"

#include <stdlib.h>

int freed_by_build(struct trace_set *set, const struct query *query, struct freed_by *freed_by,
		   struct profile **profile, struct error *err)
{
	struct aggregator **each = memory_zeroed(set->count, sizeof(*each));
	struct aggregator *const **extra = memory_zeroed(set->count, sizeof(*extra));
	int status = 0;

	*freed_by = (struct freed_by){ .sites = memory_zeroed(set->count + 1, sizeof(void *)),
				       .count = set->count };
	for (size_t i = 0; !status && i < set->count; i++) {
		status = free_sites_new(set->members[i].trace, query, &freed_by->sites[i], err);
		if (status)
			break;
		each[i] = free_sites_aggregator(freed_by->sites[i]);
		extra[i] = &each[i];
	}
	if (!status)
		status = profile_build_with(set, query, extra, 1, profile, err);
	if (status)
		freed_by_release(freed_by);
	free(each);
	free(extra);
	return status;
}

void freed_by_release(struct freed_by *freed_by)
{
	for (size_t i = 0; i < freed_by->count; i++)
		free_sites_free(freed_by->sites[i]);
	free(freed_by->sites);
	*freed_by = (struct freed_by){ 0 };
}

char *freed_by_words(const struct freed_by *freed_by, struct profile *profile,
		     const struct profile_site *site)
{
	struct usual_free usual;
	char count[UNITS_BYTES], of[UNITS_BYTES], *where, *words;

	if (!free_sites_usual(freed_by->sites, profile, site, &usual))
		return NULL;
	where = frame_words(&usual.where);
	words = memory_format("    usually freed by %s (%s of %s frees)", where,
			      units_count(count, usual.count, false),
			      units_count(of, usual.of, false));
	free(where);
	return words;
}

void freed_by_json(const struct freed_by *freed_by, struct json *json, struct profile *profile,
		   const struct profile_site *site)
{
	struct usual_free usual;

	if (!free_sites_usual(freed_by->sites, profile, site, &usual))
		return;
	json_object_begin(json, "freed_by");
	json_place(json, &usual.where);
	json_double(json, "count", usual.count);
	json_double(json, "of", usual.of);
	json_object_end(json);
}
