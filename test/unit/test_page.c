/* LINK: analyzer */
/*
 * What the page is told: its moments and its curve against a slow, simple
 * reference; its tables of names; text that stays text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "page/page_facts.h"
#include "page/page_names.h"
#include "view/html_plain.h"

#include <stdlib.h>
#include <string.h>

#define STACKS 5
#define BLOCKS 40
#define STEPS 3000
#define LENGTH_NS 1000000u

/* ---- a trace of nothing but its length and marks ---- */

static struct trace bare_trace(struct trace_marker *marks, size_t count)
{
	return (struct trace){.info.duration_ns = LENGTH_NS, .marks = marks, .mark_count = count};
}

static void make_axis(struct page_axis *axis, struct trace *trace)
{
	uint64_t shift = 0, end = LENGTH_NS;

	page_axis_init(axis, &trace, &shift, &end, 1);
}

static void feed(struct page_facts *facts, const struct trace_event *event)
{
	facts->aggregator.take(&facts->aggregator, event, 1);
}

/* What row @column of a stack is at @moment, as the page sums it up. */
static double at_moment(const struct page_facts *facts, uint32_t stack, size_t moment,
			unsigned column)
{
	uint32_t index = page_facts_series(facts, TALLY_HEAP, stack);
	double value = 0;

	if (index == UINT32_MAX)
		return 0;
	for (size_t c = 0; c < facts->series[index].change_count; c++)
		if (facts->series[index].changes[c].at <= moment)
			value += facts->series[index].changes[c].by[column];
	return value;
}

/* ---- moments ---- */

struct step {
	struct trace_event event;
	double live_bytes[STACKS], live_count[STACKS], made_bytes[STACKS];
	double total;
};

static struct step *random_steps(void)
{
	struct step *steps = test_calloc(STEPS, sizeof(*steps));
	struct trace_event blocks[BLOCKS] = {{0}};
	struct step now = {{0}, {0}, {0}, {0}, 0};

	srand(11);
	for (int i = 0; i < STEPS; i++) {
		int block = rand() % BLOCKS;
		struct trace_event *e = &blocks[block];
		bool is_birth = e->kind != TRACE_EVENT_ALLOCATE;

		if (is_birth)
			*e = (struct trace_event){.kind = TRACE_EVENT_ALLOCATE,
						  .rate = 1,
						  .stack = 1 + (uint32_t)(rand() % STACKS),
						  .size = (uint64_t)(rand() % 500)};
		else
			e->kind = TRACE_EVENT_FREE;
		e->birth_ns = is_birth ? 0 : e->time_ns;
		e->time_ns = (uint64_t)i * LENGTH_NS / STEPS;
		now.live_bytes[e->stack - 1] += is_birth ? (double)e->size : -(double)e->size;
		now.live_count[e->stack - 1] += is_birth ? 1 : -1;
		now.made_bytes[e->stack - 1] += is_birth ? (double)e->size : 0;
		now.total += is_birth ? (double)e->size : -(double)e->size;
		now.event = *e;
		steps[i] = now;
	}
	return steps;
}

/* The last step at or before @ns. */
static const struct step *step_at(const struct step *steps, uint64_t ns)
{
	const struct step *last = &steps[0];

	for (int i = 0; i < STEPS && steps[i].event.time_ns <= ns; i++)
		last = &steps[i];
	return last;
}

static void moments_hold_what_was_live_at_each_of_them(void **state)
{
	struct trace trace = bare_trace(NULL, 0);
	struct step *steps = random_steps();
	struct page_axis axis;
	struct page_facts *facts;

	(void)state;
	make_axis(&axis, &trace);
	facts = page_facts_new(&trace, &axis, 0);
	for (int i = 0; i < STEPS; i++)
		feed(facts, &steps[i].event);
	facts->aggregator.end(&facts->aggregator, LENGTH_NS);
	for (size_t m = 0; m < axis.moment_count; m++) {
		const struct step *truth = step_at(steps, axis.moments_ns[m]);

		for (uint32_t s = 0; s < STACKS; s++) {
			assert_true(at_moment(facts, s + 1, m, PAGE_LIVE_BYTES) ==
				    truth->live_bytes[s]);
			assert_true(at_moment(facts, s + 1, m, PAGE_LIVE_COUNT) ==
				    truth->live_count[s]);
			assert_true(at_moment(facts, s + 1, m, PAGE_MADE_BYTES) ==
				    truth->made_bytes[s]);
		}
	}
	page_facts_free(facts);
	page_axis_release(&axis);
	test_free(steps);
}

static void the_curve_has_the_peak_and_ends_with_what_is_live(void **state)
{
	struct trace trace = bare_trace(NULL, 0);
	struct step *steps = random_steps();
	double peak = 0, highest = 0;
	struct page_axis axis;
	struct page_facts *facts;

	(void)state;
	make_axis(&axis, &trace);
	facts = page_facts_new(&trace, &axis, 0);
	for (int i = 0; i < STEPS; i++) {
		feed(facts, &steps[i].event);
		peak = steps[i].total > peak ? steps[i].total : peak;
	}
	facts->aggregator.end(&facts->aggregator, LENGTH_NS);
	for (size_t b = 0; b < PAGE_BINS; b++)
		if (facts->bins[b].high.heap[PAGE_LIVE_BYTES] > highest)
			highest = facts->bins[b].high.heap[PAGE_LIVE_BYTES];
	assert_true(highest == peak);
	assert_true(facts->bins[PAGE_BINS - 1].last.heap[PAGE_LIVE_BYTES] ==
		    steps[STEPS - 1].total);
	page_facts_free(facts);
	page_axis_release(&axis);
	test_free(steps);
}

static void every_mark_is_a_moment(void **state)
{
	struct trace_marker marks[] = {{.kind = TRACE_MARK_SNAPSHOT, .time_ns = 333333},
				       {.kind = TRACE_MARK_EVENT, .time_ns = 777777}};
	struct trace trace = bare_trace(marks, 2);
	struct page_axis axis;
	int found = 0;

	(void)state;
	make_axis(&axis, &trace);
	for (size_t m = 0; m < axis.moment_count; m++) {
		assert_true(!m || axis.moments_ns[m] > axis.moments_ns[m - 1]);
		found += axis.moments_ns[m] == 333333 || axis.moments_ns[m] == 777777;
	}
	assert_int_equal(found, 2);
	assert_true(axis.moments_ns[0] == 0);
	assert_true(axis.moments_ns[axis.moment_count - 1] == LENGTH_NS);
	page_axis_release(&axis);
}

static void what_was_live_at_a_stop_is_not_known_any_more(void **state)
{
	struct trace_marker marks[] = {{.kind = TRACE_MARK_STOP, .time_ns = 500000}};
	struct trace trace = bare_trace(marks, 1);
	struct trace_event e = {
	    .kind = TRACE_EVENT_ALLOCATE, .stack = 1, .size = 100, .rate = 1, .time_ns = 1000};
	struct page_axis axis;
	struct page_facts *facts;

	(void)state;
	make_axis(&axis, &trace);
	facts = page_facts_new(&trace, &axis, 0);
	feed(facts, &e);
	e = (struct trace_event){.kind = TRACE_EVENT_FREE,
				 .stack = 1,
				 .size = 100,
				 .rate = 1,
				 .birth_ns = 1000,
				 .time_ns = 900000};
	feed(facts, &e);
	facts->aggregator.end(&facts->aggregator, LENGTH_NS);
	assert_true(at_moment(facts, 1, 10, PAGE_LIVE_BYTES) == 100);
	assert_true(at_moment(facts, 1, axis.moment_count - 1, PAGE_LIVE_BYTES) == 0);
	assert_true(at_moment(facts, 1, axis.moment_count - 1, PAGE_MADE_BYTES) == 100);
	page_facts_free(facts);
	page_axis_release(&axis);
}

/* ---- names ---- */

static void equal_stacks_get_one_node_and_others_their_own(void **state)
{
	struct profile_frame a[] = {{.function = "leaf", .file = "a.c", .line = 3, .module = "/m"},
				    {.function = "main", .file = "a.c", .line = 9, .module = "/m"}};
	struct profile_frame b[] = {
	    a[0], {.function = "main", .file = "a.c", .line = 10, .module = "/m"}};
	struct profile_frame unknown[] = {{.module = "/m", .module_offset = 16},
					  {.module = "/m", .module_offset = 32}};
	struct page_names names;
	uint32_t first;

	(void)state;
	page_names_init(&names);
	first = page_path(&names, a, 2);
	assert_int_equal(page_path(&names, a, 2), first);
	assert_int_not_equal(page_path(&names, b, 2), first);
	assert_int_equal(page_path(&names, a, 0), 0);
	assert_int_not_equal(page_frame(&names, &unknown[0]), page_frame(&names, &unknown[1]));
	assert_true(names.nodes[first].parent < first);
	assert_int_equal(page_string(&names, ""), 0);
	assert_int_equal(page_string(&names, NULL), 0);
	page_names_release(&names);
}

static void nothing_of_a_name_is_markup(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	html_text(out, "<script>\"x\" & 'y'\n</script>");
	fclose(out);
	assert_null(strpbrk(text, "<>\"'\n"));
	assert_non_null(strstr(text, "&#60;script&#62;"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(moments_hold_what_was_live_at_each_of_them),
	    cmocka_unit_test(the_curve_has_the_peak_and_ends_with_what_is_live),
	    cmocka_unit_test(every_mark_is_a_moment),
	    cmocka_unit_test(what_was_live_at_a_stop_is_not_known_any_more),
	    cmocka_unit_test(equal_stacks_get_one_node_and_others_their_own),
	    cmocka_unit_test(nothing_of_a_name_is_markup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
