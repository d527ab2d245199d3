/*
 * See moment.h. An event of the same time as a mark was before it: an allocation
 * reads the clock and then is still being recorded when the mark could come,
 * while the call behind a mark is some steps of the clock later.
 */
#include "model/moment.h"

#include "model/pass.h"
#include "model/slices.h"
#include "util/guess.h"
#include "util/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int duration_parse(const char *text, uint64_t *ns)
{
	static const struct {
		const char *suffix;
		double ns;
	} units[] = { { "ns", 1 },       { "us", 1e3 },    { "ms", 1e6 }, { "s", 1e9 },
		      { "min", 60e9 },   { "m", 60e9 },    { "h", 3600e9 } };
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0))
		return ERROR_USAGE;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].suffix))
			continue;
		if (value * units[i].ns >= 1.8e19)
			return ERROR_USAGE;
		*ns = (uint64_t)(value * units[i].ns + 0.5);
		return 0;
	}
	return ERROR_USAGE;
}

static void moment_at_mark(const struct trace_marker *mark, struct moment *moment)
{
	moment->kind = MOMENT_TIME;
	moment->time_ns = mark->time_ns;
}

static int unknown_moment(struct trace *trace, const char *when, struct error *err)
{
	static const char *const words[] = { "peak", "end", "reset" };
	struct guess guess = guess_of(when, strlen(when));
	char names[300] = "", hint[GUESS_HINT];
	size_t used = 0;

	for (size_t i = 0; i < trace->mark_count && used < sizeof(names); i++)
		if (trace->marks[i].kind == TRACE_MARK_SNAPSHOT)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", trace->marks[i].name);
	for (size_t i = 0; i < trace->mark_count; i++)
		if (trace->marks[i].kind == TRACE_MARK_SNAPSHOT)
			guess_offer(&guess, trace->marks[i].name);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		guess_offer(&guess, words[i]);
	guess_hint(&guess, "@", hint);
	return error_set(err, ERROR_USAGE, trace->path, ERROR_NO_OFFSET,
			 "no moment \"%s\"%s%s a snapshot (%s), #N, a time such as 12.5s or "
			 "50%%, peak, end, reset or auto#N",
			 when, hint, *hint ? " It is" : ": it is",
			 used ? names : "there is none");
}

static int moment_numbered(struct trace *trace, const char *when, struct moment *moment,
			   struct error *err)
{
	char *end;
	unsigned long number = strtoul(when + 1, &end, 10);

	if (*end || end == when + 1)
		return unknown_moment(trace, when, err);
	for (size_t i = 0; i < trace->mark_count; i++) {
		if (trace->marks[i].kind != TRACE_MARK_SNAPSHOT || trace->marks[i].number != number)
			continue;
		moment_at_mark(&trace->marks[i], moment);
		return 0;
	}
	return unknown_moment(trace, when, err);
}

static int moment_auto(struct trace *trace, const char *when, struct moment *moment,
		       struct error *err)
{
	struct auto_moment *moments = NULL;
	size_t count = 0;
	char *end;
	unsigned long number = strtoul(when + 5, &end, 10);
	int status = *end || end == when + 5 ? ERROR_USAGE : 0;

	if (!status)
		status = auto_moments(trace, &moments, &count, err);
	else
		status = unknown_moment(trace, when, err);
	if (!status && (number < 1 || number > count))
		status = error_set(err, ERROR_USAGE, trace->path, ERROR_NO_OFFSET,
				   "no moment \"%s\": the growth rule gives %zu", when, count);
	if (!status) {
		moment->kind = MOMENT_TIME;
		moment->time_ns = moments[number - 1].time_ns;
	}
	free(moments);
	return status;
}

static bool moment_named(struct trace *trace, const char *name, uint32_t kind,
			 struct moment *moment)
{
	for (size_t i = trace->mark_count; i-- > 0;) {
		const struct trace_marker *mark = &trace->marks[i];

		if (mark->kind != kind || (name && strcmp(mark->name, name)))
			continue;
		moment_at_mark(mark, moment);
		return true;
	}
	return false;
}

/* "50%": of the run's time. */
static int share_parse(const struct trace *trace, const char *text, uint64_t *ns)
{
	char *end;
	double share = strtod(text, &end);

	if (end == text || strcmp(end, "%") || !(share >= 0 && share <= 100))
		return ERROR_USAGE;
	*ns = (uint64_t)((double)trace->info.duration_ns * share / 100);
	return 0;
}

int moment_parse(struct trace *trace, const char *when, struct moment *moment, struct error *err)
{
	*moment = (struct moment){ .kind = MOMENT_END, .words = when };
	if (!strcmp(when, "end"))
		return 0;
	if (!strcmp(when, "peak")) {
		moment->kind = MOMENT_PEAK;
		return 0;
	}
	if (!strcmp(when, "reset") && moment_named(trace, NULL, TRACE_MARK_RESET, moment))
		return 0;
	if (when[0] == '#')
		return moment_numbered(trace, when, moment, err);
	if (!strncmp(when, "auto#", 5))
		return moment_auto(trace, when, moment, err);
	if (moment_named(trace, when, TRACE_MARK_SNAPSHOT, moment))
		return 0;
	moment->kind = MOMENT_TIME;
	if (!duration_parse(when, &moment->time_ns))
		return 0;
	return share_parse(trace, when, &moment->time_ns) ? unknown_moment(trace, when, err) : 0;
}

/* ---- the growth rule ---- */

static void auto_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct auto_rule *rule = (struct auto_rule *)self;
	struct number n;

	for (const struct trace_event *e = events; e < events + count; e++) {
		if (e->kind > TRACE_EVENT_FREE || (e->flags & TRACE_EVENT_INHERITED))
			continue;
		number_of_sample(e->size, e->rate, &n);
		if (e->kind == TRACE_EVENT_FREE) {
			rule->live_count -= n.count;
			rule->live_bytes -= n.bytes;
			continue;
		}
		rule->live_count += n.count;
		rule->live_bytes += n.bytes;
		if (rule->live_bytes < rule->next_bytes)
			continue;
		MEMORY_ROOM(rule->moments, rule->count);
		rule->moments[rule->count++] =
			(struct auto_moment){ e->time_ns, rule->live_count, rule->live_bytes };
		rule->next_bytes = rule->live_bytes * AUTO_GROWTH;
	}
}

static bool auto_wants(struct aggregator *self, const struct slice *slice)
{
	return slice->highest_bytes >= ((struct auto_rule *)self)->next_bytes;
}

void auto_rule_init(struct auto_rule *rule)
{
	*rule = (struct auto_rule){ .aggregator = { .take = auto_take,
						   .take_pairs = pairs_pass_over,
						   .wants_events = auto_wants },
				    .next_bytes = AUTO_FLOOR_BYTES };
}

int auto_moments(struct trace *trace, struct auto_moment **moments, size_t *count,
		 struct error *err)
{
	struct auto_rule rule;
	struct aggregator *only = &rule.aggregator;
	struct moment end = { .kind = MOMENT_END };
	int status;

	auto_rule_init(&rule);
	status = pass_run(trace, &end, 0, &only, 1, NULL, err);
	*moments = rule.moments;
	*count = rule.count;
	return status;
}

/* ---- totals at moments ---- */

static void totals_until(struct moment_totals *moments, uint64_t time_ns)
{
	for (; moments->next < moments->count && moments->totals[moments->next].time_ns < time_ns;
	     moments->next++) {
		moments->totals[moments->next].heap = moments->heap;
		moments->totals[moments->next].mapped = moments->mapped;
	}
}

static void totals_take(struct aggregator *self, const struct trace_event *events, size_t count)
{
	struct moment_totals *moments = (struct moment_totals *)self;

	for (const struct trace_event *e = events; e < events + count; e++) {
		bool is_heap = e->kind <= TRACE_EVENT_FREE;
		bool is_birth = e->kind == TRACE_EVENT_ALLOCATE || e->kind == TRACE_EVENT_MAP;
		struct number *live = is_heap ? &moments->heap : &moments->mapped;
		struct number n;

		totals_until(moments, e->time_ns);
		if (e->flags & TRACE_EVENT_INHERITED)
			continue;
		number_of_sample(e->size, e->rate, &n);
		if (is_birth)
			number_add(live, &n);
		else
			number_remove(live, &n);
	}
}

static void totals_end(struct aggregator *self, uint64_t end_ns)
{
	(void)end_ns;
	totals_until((struct moment_totals *)self, UINT64_MAX);
}

static bool totals_want(struct aggregator *self, const struct slice *slice)
{
	const struct moment_totals *moments = (struct moment_totals *)self;

	return moments->next < moments->count &&
	       moments->totals[moments->next].time_ns < slice->last_ns;
}

void moment_totals_init(struct moment_totals *moments, struct moment_total *totals, size_t count)
{
	*moments = (struct moment_totals){ .aggregator = { .take = totals_take, .end = totals_end,
							.take_pairs = pairs_pass_over,
							.wants_events = totals_want },
					   .totals = totals, .count = count };
}
