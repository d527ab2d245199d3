/*
 * See difference.h.
 */
#include "model/difference.h"

#include "model/significance.h"

#include <math.h>
#include <string.h>

/* ---- runs of different length ---- */

struct normalize normalize_parse(const char *text)
{
	if (!strcmp(text, "events"))
		return (struct normalize){ .kind = NORMALIZE_EVENTS };
	if (!strcmp(text, "time"))
		return (struct normalize){ .kind = NORMALIZE_TIME };
	return (struct normalize){ .kind = NORMALIZE_MARK, .mark = text };
}

const char *normalize_unit(const struct normalize *normalize)
{
	switch (normalize->kind) {
	case NORMALIZE_EVENTS:
		return "million allocations";
	case NORMALIZE_TIME:
		return "second";
	case NORMALIZE_MARK:
		return normalize->mark;
	default:
		return "";
	}
}

static double marks_count(const struct profile_trace *pt, const char *name, uint64_t from_ns)
{
	double count = 0;

	for (size_t i = 0; i < pt->trace->mark_count; i++) {
		const struct trace_marker *mark = &pt->trace->marks[i];

		count += mark->kind == TRACE_MARK_EVENT && !strcmp(mark->name, name) &&
			 mark->time_ns >= from_ns && mark->time_ns <= pt->end_ns;
	}
	return count;
}

/* How much of it there was in one trace, from --from on to its moment. */
static int amount_of(const struct normalize *normalize, const struct profile_trace *pt,
		     const struct query *query, double *amount, struct error *err)
{
	struct event_filter filter;
	int status = event_filter_init(&filter, pt->trace, query, err);
	uint64_t from_ns;

	if (status)
		return status;
	from_ns = filter.from_ns;
	event_filter_release(&filter);
	if (normalize->kind == NORMALIZE_EVENTS)
		*amount = pt->totals.heap.of[METRIC_ALLOCATED].count / 1e6;
	else if (normalize->kind == NORMALIZE_MARK)
		*amount = marks_count(pt, normalize->mark, from_ns);
	else
		*amount = pt->end_ns > from_ns ? (double)(pt->end_ns - from_ns) / 1e9 : 0;
	return 0;
}

int normalize_divisor(const struct normalize *normalize, struct profile *profile,
		      double *divisor, struct error *err)
{
	double sum = 0, amount;

	*divisor = 1;
	if (normalize->kind == NORMALIZE_NOT)
		return 0;
	for (size_t i = 0; i < profile->trace_count; i++) {
		int status =
			amount_of(normalize, &profile->traces[i], profile->query, &amount, err);

		if (status)
			return status;
		/* The processes of a tree ran at the same time. */
		sum = normalize->kind == NORMALIZE_TIME ? fmax(sum, amount) : sum + amount;
	}
	if (sum <= 0)
		return error_set(err, ERROR_USAGE, profile->traces[0].trace->path, ERROR_NO_OFFSET,
				 normalize->kind == NORMALIZE_MARK ?
				 "no event \"%s\" up to this moment to divide by" :
				 "no %s up to this moment to divide by",
				 normalize_unit(normalize));
	*divisor = sum;
	return 0;
}

/* ---- errors ---- */

static bool is_one_trace(const struct difference_end *a, const struct difference_end *b)
{
	return a->set->count == 1 && b->set->count == 1 &&
	       !strcmp(a->set->members[0].trace->path, b->set->members[0].trace->path);
}

/* The blocks between two moments, gathered on the way to the later one. */
static int find_between(struct difference *difference, struct difference_end *earlier,
			struct difference_end *later, const struct query *query, struct error *err)
{
	struct aggregator *only;
	struct aggregator *const *extra[] = { &only };
	int status = between_new(later->set->members[0].trace, query,
				 earlier->profile->traces[0].end_ns, &difference->between, err);

	if (status)
		return status;
	only = between_aggregator(difference->between);
	profile_free(later->profile);
	later->profile = NULL;
	return profile_build_with(later->set, query, extra, 1, &later->profile, err);
}

int difference_init(struct difference *difference, struct difference_end *ends, size_t count,
		    const struct normalize *normalize, const struct query *query,
		    struct error *err)
{
	struct difference_end *first = &ends[0], *last = &ends[count - 1];
	int status = 0;

	*difference = (struct difference){ .metric = query->sort,
					   .one_trace = is_one_trace(first, last) };
	for (size_t i = 0; !status && i < count; i++)
		status = normalize_divisor(normalize, ends[i].profile, &ends[i].divisor, err);
	difference->is_scaled = normalize->kind != NORMALIZE_NOT;
	if (status || !difference->one_trace)
		return status;
	difference->is_swapped = last->profile->traces[0].end_ns < first->profile->traces[0].end_ns;
	if (difference->is_scaled || difference->metric != METRIC_LIVE ||
	    (first->profile->exact && last->profile->exact))
		return 0;
	return difference->is_swapped ? find_between(difference, last, first, query, err) :
					find_between(difference, first, last, query, err);
}

void difference_release(struct difference *difference)
{
	between_free(difference->between);
	difference->between = NULL;
}

/* ---- where knowledge ended ---- */

static const struct trace_marker *gap_in(const struct trace *trace, uint64_t from_ns,
					 uint64_t to_ns)
{
	for (size_t i = 0; i < trace->mark_count; i++) {
		const struct trace_marker *mark = &trace->marks[i];

		if ((mark->kind == TRACE_MARK_STOP || mark->kind == TRACE_MARK_START) &&
		    mark->time_ns > from_ns && mark->time_ns <= to_ns)
			return mark;
	}
	return NULL;
}

static bool are_one_trace(const struct difference_end *ends, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (!is_one_trace(&ends[0], &ends[i]))
			return false;
	return true;
}

const struct trace_marker *difference_gap(const struct difference_end *ends, size_t count)
{
	const struct trace_marker *gap = NULL;
	uint64_t from_ns = are_one_trace(ends, count) ? UINT64_MAX : 0;

	for (size_t i = 0; from_ns && i < count; i++)
		if (ends[i].profile->traces[0].end_ns < from_ns)
			from_ns = ends[i].profile->traces[0].end_ns;
	for (size_t i = 0; !gap && i < count; i++)
		for (size_t t = 0; !gap && t < ends[i].profile->trace_count; t++)
			gap = gap_in(ends[i].profile->traces[t].trace, from_ns,
				     ends[i].profile->traces[t].end_ns);
	return gap;
}

/* ---- figures ---- */

/* Is the figure at an earlier moment a part of that at a later one? */
static bool is_sum(enum metric metric)
{
	return metric == METRIC_ALLOCATED || metric == METRIC_FREED || metric == METRIC_TEMPORARY;
}

static void uncertain_of(const struct difference *difference,
			 const struct profile_site *before_site,
			 const struct profile_site *after_site, const struct number *before,
			 const struct number *after, struct number *uncertain)
{
	const struct profile_site *latest = difference->is_swapped ? before_site : after_site;

	*uncertain = (struct number){ 0 };
	if (difference->between) {
		if (latest)
			between_add(difference->between, latest, uncertain);
	} else if (difference->one_trace && !difference->is_scaled && is_sum(difference->metric)) {
		*uncertain = difference->is_swapped ? *before : *after;
		number_remove(uncertain, difference->is_swapped ? after : before);
	} else {
		number_add(uncertain, before);
		number_add(uncertain, after);
	}
	/* Sums taken apart again may end up a rounding error below zero. */
	uncertain->count_variance = fmax(uncertain->count_variance, 0);
	uncertain->bytes_variance = fmax(uncertain->bytes_variance, 0);
}

void difference_of(const struct difference *difference, const struct profile_site *before_site,
		   const struct profile_site *after_site, const struct number *before,
		   const struct number *after, struct number *delta, struct number *uncertain)
{
	uncertain_of(difference, before_site, after_site, before, after, uncertain);
	*delta = (struct number){
		.count = after->count - before->count,
		.bytes = after->bytes - before->bytes,
		.count_variance = uncertain->count_variance,
		.bytes_variance = uncertain->bytes_variance,
	};
}

double difference_p(const struct number *delta, const struct number *uncertain, bool by_count)
{
	double sum = number_value(uncertain, by_count);
	double error = number_error(uncertain, by_count);

	/* Blocks of w bytes that stand for one sample each: n samples have the sum
	 * n w and a variance of n w^2. */
	return significance_p(number_value(delta, by_count), error,
			      sum > 0 ? error * error / sum : 0);
}
