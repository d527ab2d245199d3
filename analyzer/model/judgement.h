/*
 * A profile with the verdict on each of its sites and on the program: one replay
 * for both.
 */
#ifndef ANALYZER_MODEL_JUDGEMENT_H
#define ANALYZER_MODEL_JUDGEMENT_H

#include "model/curves.h"
#include "model/profile.h"
#include "model/verdict.h"

struct judgement {
	struct profile *profile;
	struct curves **curves;      /* by trace */
	enum verdict *sites;         /* by site of the profile; UNKNOWN where cells are divided */
	struct curve heap;           /* the whole heap; of several traces their sum */
	struct curve leaking, growing; /* heap sites judged so, together */
	size_t leaking_count, growing_count;
	enum program_verdict program;
};

int judgement_build(struct trace_set *set, const struct query *query, struct judgement *judgement,
		    struct error *err);
void judgement_release(struct judgement *judgement);

/* The curve of one site. */
void judgement_curve(const struct judgement *judgement, const struct profile_site *site,
		     struct curve *curve);

#endif
