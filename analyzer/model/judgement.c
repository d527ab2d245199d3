/*
 * See judgement.h.
 */
#include "model/judgement.h"

#include "util/memory.h"

#include <stdlib.h>

void judgement_curve(const struct judgement *judgement, const struct profile_site *site,
		     struct curve *curve)
{
	*curve = (struct curve){ 0 };
	for (size_t i = 0; i < site->cell_count; i++) {
		const struct profile_cell *cell = &site->cells[i];

		curves_add(judgement->curves[cell->member], cell->node, cell->kind, curve);
	}
}

static void curve_join(struct curve *to, const struct curve *curve)
{
	for (unsigned i = 0; i < CURVE_BUCKETS; i++)
		to->live[i] += curve->live[i];
	to->allocated_count += curve->allocated_count;
	to->allocated_bytes += curve->allocated_bytes;
	to->freed_count += curve->freed_count;
	to->freed_young_count += curve->freed_young_count;
	to->freed_old_bytes += curve->freed_old_bytes;
	to->freed_old_count += curve->freed_old_count;
	to->early_bytes += curve->early_bytes;
	for (unsigned i = 0; i < BORN_WINDOWS; i++) {
		to->stayed_bytes[i] += curve->stayed_bytes[i];
		to->stayed_count[i] += curve->stayed_count[i];
	}
	to->given_back_bytes += curve->given_back_bytes;
	to->samples += curve->samples;
	to->sampled |= curve->sampled;
}

/* By thread, scope or size a stack is in several sites; its curve is not divided. */
static bool can_judge(const struct query *query)
{
	return query->by != BY_THREAD && query->by != BY_SCOPE && query->by != BY_SIZE;
}

static void judge_sites(struct judgement *judgement)
{
	const struct profile *profile = judgement->profile;
	struct curve curve;

	judgement->sites = memory_zeroed(profile->site_count, sizeof(*judgement->sites));
	for (size_t i = 0; can_judge(profile->query) && i < profile->site_count; i++) {
		judgement_curve(judgement, &profile->sites[i], &curve);
		judgement->sites[i] = verdict_of_site(&curve);
		if (profile->sites[i].kind != TALLY_HEAP)
			continue;
		if (judgement->sites[i] == VERDICT_LEAK) {
			curve_join(&judgement->leaking, &curve);
			judgement->leaking_count++;
		} else if (judgement->sites[i] == VERDICT_GROWING) {
			curve_join(&judgement->growing, &curve);
			judgement->growing_count++;
		}
	}
}

/* The curve of the heap, of those stacks alone that are looked at. */
static void heap_curve(struct judgement *judgement)
{
	const struct profile *profile = judgement->profile;
	struct curve curve;

	if (query_narrows_stacks(profile->query) && can_judge(profile->query)) {
		for (size_t i = 0; i < profile->site_count; i++) {
			if (profile->sites[i].kind != TALLY_HEAP)
				continue;
			judgement_curve(judgement, &profile->sites[i], &curve);
			curve_join(&judgement->heap, &curve);
		}
		return;
	}
	for (size_t i = 0; i < profile->trace_count; i++)
		curves_add_all(judgement->curves[i], TALLY_HEAP, &judgement->heap);
}

static void judge_program(struct judgement *judgement)
{
	heap_curve(judgement);
	judgement->program =
		verdict_of_program(&judgement->heap, &judgement->leaking, &judgement->growing);
}

int judgement_build(struct trace_set *set, const struct query *query, struct judgement *judgement,
		    struct error *err)
{
	struct aggregator **each = memory_zeroed(set->count, sizeof(*each));
	struct aggregator *const **extra = memory_zeroed(set->count, sizeof(*extra));
	struct event_filter *filters = memory_zeroed(set->count, sizeof(*filters));
	int status = 0;

	*judgement = (struct judgement){ 0 };
	judgement->curves = memory_zeroed(set->count, sizeof(*judgement->curves));
	for (size_t i = 0; !status && i < set->count; i++) {
		status = event_filter_init(&filters[i], set->members[i].trace, query, err);
		if (status)
			break;
		judgement->curves[i] = curves_new(set->members[i].trace, &filters[i]);
		each[i] = curves_aggregator(judgement->curves[i]);
		extra[i] = &each[i];
	}
	if (!status)
		status = profile_build_with(set, query, extra, 1, &judgement->profile, err);
	if (!status) {
		judge_sites(judgement);
		judge_program(judgement);
	}
	free(each);
	free(extra);
	for (size_t i = 0; i < set->count; i++)
		event_filter_release(&filters[i]);
	free(filters);
	if (status) {
		for (size_t i = 0; i < set->count; i++)
			curves_free(judgement->curves[i]);
		free(judgement->curves);
	}
	return status;
}

void judgement_release(struct judgement *judgement)
{
	for (size_t i = 0; i < judgement->profile->trace_count; i++)
		curves_free(judgement->curves[i]);
	free(judgement->curves);
	free(judgement->sites);
	profile_free(judgement->profile);
	*judgement = (struct judgement){ 0 };
}
