/*
 * See pass.h.
 */
#include "model/pass.h"

#include "model/slices.h"
#include "util/memory.h"
#include "util/progress.h"

#include <stdlib.h>
#include <string.h>

static int peak_find(struct trace *trace, uint64_t *events, uint64_t *time_ns,
		     struct error *err);

/* ---- filter ---- */

static bool thread_matches(const struct trace_thread *thread, const struct pattern *pattern)
{
	char tid[16];

	snprintf(tid, sizeof(tid), "%u", thread->tid);
	return pattern_matches(pattern, thread->name) || pattern_matches(pattern, tid);
}

int event_filter_init(struct event_filter *filter, struct trace *trace, const struct query *query,
		      struct error *err)
{
	struct moment from;

	*filter = (struct event_filter){ .min_size = query->min_size,
					 .max_size = query->max_size ? query->max_size :
								       UINT64_MAX };
	if (query->from) {
		int status = moment_parse(trace, query->from, &from, err);

		if (status)
			return status;
		if (from.kind == MOMENT_PEAK)
			status = peak_find(trace, NULL, &from.time_ns, err);
		if (status)
			return status;
		filter->from_ns = from.kind == MOMENT_END ? UINT64_MAX : from.time_ns + 1;
	}
	if (query->thread.count) {
		filter->thread_count = trace->thread_count;
		filter->threads = memory_zeroed(trace->thread_count, sizeof(bool));
		for (size_t i = 0; i < trace->thread_count; i++)
			filter->threads[i] = thread_matches(&trace->threads[i], &query->thread);
	}
	filter->active = filter->from_ns || query->min_size || query->max_size || filter->threads;
	return 0;
}

void event_filter_release(struct event_filter *filter)
{
	free(filter->threads);
	free(filter->stacks);
	*filter = (struct event_filter){ 0 };
}

/* ---- the pass ---- */

struct pass {
	struct aggregator *const *aggregators;
	size_t count;
	uint64_t to_ns, events_left, last_ns;
	struct progress progress;
	struct slices slices;
};

/* How many of @events lie at or before to_ns; they are in time order. */
static size_t events_until(const struct trace_event *events, size_t count, uint64_t to_ns)
{
	size_t low = 0, high = count;

	if (count && events[count - 1].time_ns <= to_ns)
		return count;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (events[middle].time_ns <= to_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void hand_on(const struct pass *pass, const struct trace_event *events, size_t count)
{
	for (size_t i = 0; count && i < pass->count; i++)
		pass->aggregators[i]->take(pass->aggregators[i], events, count);
}

static int pass_take(void *context, const struct trace_event *events, size_t count)
{
	struct pass *pass = context;
	size_t wanted = events_until(events, count, pass->to_ns);

	if (wanted > pass->events_left)
		wanted = (size_t)pass->events_left;
	pass->events_left -= wanted;
	hand_on(pass, events, wanted);
	if (wanted)
		pass->last_ns = events[wanted - 1].time_ns;
	progress_add(&pass->progress, wanted);
	return wanted < count || !pass->events_left;
}

/* ---- by slices ---- */

static bool can_use_slices(const struct pass *pass)
{
	for (size_t i = 0; i < pass->count; i++)
		if (!pass->aggregators[i]->take_pairs)
			return false;
	return true;
}

/* Slices that the pass needs in part alone. */
static bool is_cut_short(const struct pass *pass, const struct slice *slice)
{
	return slice->last_ns > pass->to_ns || slice->events > pass->events_left;
}

static bool is_looked_at(const struct pass *pass, const struct slice *slice)
{
	for (size_t i = 0; i < pass->count; i++) {
		struct aggregator *aggregator = pass->aggregators[i];

		if (aggregator->from_ns > slice->before_ns && aggregator->from_ns <= slice->last_ns)
			return true;
		if (aggregator->wants_events && aggregator->wants_events(aggregator, slice))
			return true;
	}
	return false;
}

/* The slice where the heap is largest, and the last one with a birth, of those that
 * are needed in whole. */
struct landmarks {
	size_t peak, last_birth;
};

static struct landmarks find_landmarks(const struct pass *pass)
{
	const struct slice *items = pass->slices.items;
	struct landmarks found = { SIZE_MAX, SIZE_MAX };
	uint64_t left = pass->events_left;

	for (size_t i = 0; i < pass->slices.count; i++) {
		if (items[i].last_ns > pass->to_ns || items[i].events > left)
			break;
		left -= items[i].events;
		if (found.peak == SIZE_MAX ||
		    items[i].highest_bytes > items[found.peak].highest_bytes)
			found.peak = i;
		if (items[i].births)
			found.last_birth = i;
	}
	return found;
}

static int replay_slice(struct trace *trace, struct pass *pass, size_t number,
			const struct slice_content *content, struct trace_replay_stats *stats,
			struct error *err)
{
	const struct slice *slice = &pass->slices.items[number];
	struct trace_cut cut = { .time_ns = slice->before_ns, .stats = slice->stats,
				 .last_addresses = content->addresses,
				 .thread_count = slice->address_count };
	struct trace_part part = { .from = number ? &cut : NULL, .next_cut_ns = UINT64_MAX,
				   .end_ns = pass->to_ns };

	if (number + 1 < pass->slices.count && slice->last_ns < part.end_ns)
		part.end_ns = slice->last_ns;
	return trace_replay_part(trace, &part, pass_take, pass, stats, err);
}

static void sum_up_slice(struct trace *trace, struct pass *pass, const struct slice *slice,
			 const struct slice_content *content)
{
	trace_live_take(trace, content->deaths, slice->death_count);
	trace_live_take(trace, content->others, slice->other_count);
	trace_live_take(trace, content->births, slice->birth_count);
	hand_on(pass, content->deaths, slice->death_count);
	hand_on(pass, content->others, slice->other_count);
	hand_on(pass, content->births, slice->birth_count);
	for (size_t i = 0; i < pass->count; i++)
		pass->aggregators[i]->take_pairs(pass->aggregators[i], content->pairs,
						 slice->pair_count);
	pass->events_left -= slice->events;
	if (slice->events)
		pass->last_ns = slice->last_ns;
}

static int take_slice(struct trace *trace, struct pass *pass, size_t number,
		      const struct landmarks *landmarks, struct trace_replay_stats *stats,
		      struct error *err)
{
	const struct slice *slice = &pass->slices.items[number];
	struct slice_content content;
	int status = 0;

	if (!slice_content_get(&pass->slices, number, &content))
		return error_set(err, ERROR_FORMAT, trace->path, ERROR_NO_OFFSET,
				 "its index has been damaged: ask again");
	if (number == landmarks->peak || number == landmarks->last_birth ||
	    is_cut_short(pass, slice) || is_looked_at(pass, slice))
		status = replay_slice(trace, pass, number, &content, stats, err);
	else
		sum_up_slice(trace, pass, slice, &content);
	slice_content_release(&content);
	return status;
}

static int take_steps(struct pass *pass)
{
	struct slice_step *steps = NULL;

	for (size_t i = 0; i < pass->count; i++) {
		struct aggregator *aggregator = pass->aggregators[i];

		if (!aggregator->take_steps)
			continue;
		if (!steps)
			steps = slices_steps(&pass->slices);
		if (!steps)
			return -1;
		aggregator->take_steps(aggregator, steps);
	}
	free(steps);
	return 0;
}

static int pass_slices(struct trace *trace, struct pass *pass, struct trace_replay_stats *stats,
		       struct error *err)
{
	const struct slices *slices = &pass->slices;
	struct landmarks landmarks = find_landmarks(pass);
	int status = 0;

	trace_live_clear(trace);
	*stats = slices->stats;
	for (size_t i = 0; !status && i < slices->count; i++) {
		if (!pass->events_left || (i && slices->items[i].before_ns > pass->to_ns))
			break;
		status = take_slice(trace, pass, i, &landmarks, stats, err);
		if (!status && i + 1 < slices->count)
			*stats = slices->items[i + 1].stats;
	}
	return status;
}

static int pass_replay(struct trace *trace, struct pass *pass, struct trace_replay_stats *stats,
		       struct error *err)
{
	struct trace_part part = { .next_cut_ns = UINT64_MAX, .end_ns = pass->to_ns };
	bool is_sliced = can_use_slices(pass);
	struct trace_replay_stats own;
	int status;

	if (!stats)
		stats = &own;
	/* Opened in any case: stacks have the numbers of the index, or of a replay. */
	if (slices_open(trace, is_sliced, &pass->slices) && is_sliced && !take_steps(pass)) {
		status = pass_slices(trace, pass, stats, err);
		stats->events = trace->info.events;
	} else {
		progress_begin(&pass->progress, "events");
		status = trace_replay_part(trace, &part, pass_take, pass, stats, err);
		progress_end(&pass->progress);
	}
	slices_close(&pass->slices);
	return status < 0 ? status : 0;
}

void pairs_pass_over(struct aggregator *self, const struct event_pairs *pairs, size_t count)
{
	(void)self;
	(void)pairs;
	(void)count;
}

/* ---- where the peak is ---- */

struct peak_finder {
	struct aggregator aggregator;
	double live, peak;
	uint64_t seen, at, time_ns;
};

static void peak_finder_take(struct aggregator *self, const struct trace_event *events,
			     size_t count)
{
	struct peak_finder *finder = (struct peak_finder *)self;
	struct number n;

	for (const struct trace_event *e = events; e < events + count; e++) {
		finder->seen++;
		if (e->kind > TRACE_EVENT_FREE || (e->flags & TRACE_EVENT_INHERITED))
			continue;
		number_of_sample(e->size, e->rate, &n);
		finder->live += e->kind == TRACE_EVENT_ALLOCATE ? n.bytes : -n.bytes;
		if (finder->live > finder->peak) {
			finder->peak = finder->live;
			finder->at = finder->seen;
			finder->time_ns = e->time_ns;
		}
	}
}

static void peak_finder_pairs(struct aggregator *self, const struct event_pairs *pairs,
			      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!pairs[i].is_realloc)
			((struct peak_finder *)self)->seen += 2 * pairs[i].count;
}

/* The event that made the peak, as how many there were with it, and its time. */
static int peak_find(struct trace *trace, uint64_t *events, uint64_t *time_ns,
		     struct error *err)
{
	struct peak_finder finder = { .aggregator = { .take = peak_finder_take,
							 .take_pairs = peak_finder_pairs } };
	struct aggregator *only = &finder.aggregator;
	struct pass pass = { .aggregators = &only, .count = 1, .to_ns = UINT64_MAX,
			     .events_left = UINT64_MAX };
	int status = pass_replay(trace, &pass, NULL, err);

	if (events)
		*events = finder.at;
	if (time_ns)
		*time_ns = finder.time_ns;
	return status;
}

int pass_peak_time(struct trace *trace, uint64_t *time_ns, struct error *err)
{
	return peak_find(trace, NULL, time_ns, err);
}

int pass_run(struct trace *trace, const struct moment *to, uint64_t events_max,
	     struct aggregator *const *aggregators, size_t count, struct trace_replay_stats *stats,
	     struct error *err)
{
	struct pass pass = { .aggregators = aggregators, .count = count, .to_ns = UINT64_MAX,
			     .events_left = events_max ? events_max : UINT64_MAX };
	uint64_t end_ns = trace->info.duration_ns;
	int status = 0;

	if (to->kind == MOMENT_TIME)
		pass.to_ns = end_ns = to->time_ns;
	if (to->kind == MOMENT_PEAK)
		status = peak_find(trace, &pass.events_left, &pass.to_ns, err);
	if (!status && pass.events_left)
		status = pass_replay(trace, &pass, stats, err);
	if (status)
		return status;
	if (to->kind == MOMENT_PEAK)
		end_ns = pass.last_ns;
	for (size_t i = 0; i < count; i++)
		if (aggregators[i]->end)
			aggregators[i]->end(aggregators[i], end_ns);
	return 0;
}
