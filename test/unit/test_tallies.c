/* LINK: analyzer */
/*
 * Tallies against a slow, simple reference: every block in a list, the heap
 * copied at each new peak. Traces are random, made by trace_builder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model/tallies.h"
#include "trace_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACKS 7
#define BLOCKS 64
#define STEPS 4000

/* ---- the reference ---- */

struct block {
	uint64_t size;
	unsigned stack;
	bool is_live;
};

struct reference {
	struct block blocks[BLOCKS];
	uint64_t made_count[STACKS], made_bytes[STACKS];
	uint64_t live_count[STACKS], live_bytes[STACKS];
	uint64_t peak_count[STACKS], peak_bytes[STACKS];
	uint64_t temporary_count[STACKS];
	uint64_t total, peak;
	int last_allocated;
};

static void reference_allocate(struct reference *r, int block, unsigned stack, uint64_t size)
{
	r->blocks[block] = (struct block){ size, stack, true };
	r->made_count[stack]++;
	r->made_bytes[stack] += size;
	r->live_count[stack]++;
	r->live_bytes[stack] += size;
	r->total += size;
	r->last_allocated = block;
	if (r->total <= r->peak)
		return;
	r->peak = r->total;
	memcpy(r->peak_count, r->live_count, sizeof(r->live_count));
	memcpy(r->peak_bytes, r->live_bytes, sizeof(r->live_bytes));
}

static void reference_free(struct reference *r, int block)
{
	struct block *b = &r->blocks[block];

	b->is_live = false;
	r->live_count[b->stack]--;
	r->live_bytes[b->stack] -= b->size;
	r->total -= b->size;
	r->temporary_count[b->stack] += r->last_allocated == block;
}

/* ---- the trace ---- */

static char path[256];

static void trace_path(void)
{
	snprintf(path, sizeof(path), "%s/tallies.trace",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
}

static void choose_stack(struct trace_builder *b, unsigned stack)
{
	uint64_t frames[] = { 0x401010 + stack * 16, 0x402000, 0x403000 };

	trace_builder_stack(b, frames, 3);
}

static void make_random(struct reference *r, unsigned seed)
{
	struct trace_builder *b = trace_builder_new();

	srand(seed);
	*r = (struct reference){ .last_allocated = -1 };
	for (int step = 0; step < STEPS; step++) {
		int block = rand() % BLOCKS;
		uint64_t address = 0x10000 + (uint64_t)block * 0x1000;

		trace_builder_at(b, (uint64_t)step * 64 + 64);
		if (r->blocks[block].is_live) {
			trace_builder_free(b, address);
			reference_free(r, block);
		} else {
			unsigned stack = (unsigned)rand() % STACKS;
			uint64_t size = (uint64_t)(rand() % 3000);

			choose_stack(b, stack);
			trace_builder_allocate(b, address, size);
			reference_allocate(r, block, stack, size);
		}
	}
	trace_builder_write(b, path);
	trace_builder_free_all(b);
}

static struct trace *opened(void)
{
	struct trace *trace;
	struct error err;

	assert_int_equal(trace_open(path, &trace, &err), 0);
	return trace;
}

static struct tallies *tallied(struct trace *trace, const struct moment *to,
			       const struct event_filter *filter)
{
	struct tallies *tallies = tallies_new(trace, DIMENSION_NONE, filter);
	struct aggregator *only = tallies_aggregator(tallies);
	struct error err;

	assert_int_equal(pass_run(trace, to, 0, &only, 1, NULL, &err), 0);
	return tallies;
}

/* Which of the reference's stacks a cell is: by its innermost frame. */
static unsigned stack_of(const struct trace *trace, uint32_t node)
{
	return (unsigned)(trace->pcs[trace->nodes[node].pc].address - 0x401010) / 16;
}

static const struct moment end = { .kind = MOMENT_END };

static void tallies_equal_those_of_a_slow_reference(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct reference r;
		struct trace *trace;
		struct tallies *tallies;
		struct tallies_cell cell;
		size_t seen = 0;

		make_random(&r, seed);
		trace = opened();
		tallies = tallied(trace, &end, NULL);
		for (size_t i = 0; i < tallies_count(tallies); i++) {
			unsigned s;

			tallies_cell(tallies, i, &cell);
			s = stack_of(trace, cell.stack);
			assert_true(s < STACKS);
			assert_true(cell.tally.of[METRIC_ALLOCATED].count == r.made_count[s]);
			assert_true(cell.tally.of[METRIC_ALLOCATED].bytes == r.made_bytes[s]);
			assert_true(cell.tally.of[METRIC_LIVE].count == r.live_count[s]);
			assert_true(cell.tally.of[METRIC_LIVE].bytes == r.live_bytes[s]);
			assert_true(cell.tally.of[METRIC_PEAK].count == r.peak_count[s]);
			assert_true(cell.tally.of[METRIC_PEAK].bytes == r.peak_bytes[s]);
			assert_true(cell.tally.of[METRIC_TEMPORARY].count == r.temporary_count[s]);
			assert_true(cell.tally.of[METRIC_FREED].count ==
				    r.made_count[s] - r.live_count[s]);
			seen++;
		}
		assert_int_equal(seen, STACKS);
		tallies_free(tallies);
		trace_close(trace);
	}
}

static void cells_add_up_to_the_totals(void **state)
{
	struct reference r;
	struct trace *trace;
	struct tallies *tallies;
	struct tallies_totals totals;

	(void)state;
	make_random(&r, 99);
	trace = opened();
	tallies = tallied(trace, &end, NULL);
	tallies_totals(tallies, &totals);
	assert_true(totals.heap.of[METRIC_PEAK].bytes == (double)r.peak);
	assert_true(totals.peak_whole.bytes == (double)r.peak);
	assert_true(totals.heap.of[METRIC_LIVE].bytes == (double)r.total);
	assert_int_equal(totals.sampled, 0);
	tallies_free(tallies);
	trace_close(trace);
}

static void the_live_blocks_at_the_peak_are_its_composition(void **state)
{
	struct reference r;
	struct trace *trace;
	struct tallies *whole, *at_peak;
	struct tallies_totals totals;
	struct moment peak = { .kind = MOMENT_PEAK };

	(void)state;
	make_random(&r, 7);
	trace = opened();
	whole = tallied(trace, &end, NULL);
	at_peak = tallied(trace, &peak, NULL);
	tallies_totals(at_peak, &totals);
	assert_true(totals.heap.of[METRIC_LIVE].bytes == (double)r.peak);
	for (size_t i = 0; i < tallies_count(at_peak); i++) {
		struct tallies_cell a, b;

		tallies_cell(at_peak, i, &a);
		for (size_t j = 0; j < tallies_count(whole); j++) {
			tallies_cell(whole, j, &b);
			if (stack_of(trace, a.stack) == stack_of(trace, b.stack))
				assert_true(a.tally.of[METRIC_LIVE].bytes ==
					    b.tally.of[METRIC_PEAK].bytes);
		}
	}
	tallies_free(whole);
	tallies_free(at_peak);
	trace_close(trace);
}

static void a_filter_by_size_keeps_the_peak_of_the_whole_heap(void **state)
{
	struct event_filter filter = { .active = true, .min_size = 1000, .max_size = UINT64_MAX };
	struct reference r;
	struct trace *trace;
	struct tallies *tallies;
	struct tallies_totals totals;
	double large = 0;

	(void)state;
	make_random(&r, 3);
	for (int i = 0; i < BLOCKS; i++)
		if (r.blocks[i].is_live && r.blocks[i].size >= 1000)
			large += (double)r.blocks[i].size;
	trace = opened();
	tallies = tallied(trace, &end, &filter);
	tallies_totals(tallies, &totals);
	assert_true(totals.heap.of[METRIC_LIVE].bytes == large);
	assert_true(totals.peak_whole.bytes == (double)r.peak);
	assert_true(totals.heap.of[METRIC_PEAK].bytes <= (double)r.peak);
	tallies_free(tallies);
	trace_close(trace);
}

static void blocks_from_before_the_window_are_inherited(void **state)
{
	struct event_filter filter = { .active = true, .max_size = UINT64_MAX, .from_ns = 1000 };
	struct trace_builder *b = trace_builder_new();
	struct trace *trace;
	struct tallies *tallies;
	struct tallies_totals totals;

	(void)state;
	choose_stack(b, 0);
	trace_builder_at(b, 128);
	trace_builder_allocate(b, 0x1000, 100);
	trace_builder_allocate(b, 0x2000, 200);
	trace_builder_at(b, 6400);
	trace_builder_allocate(b, 0x3000, 300);
	trace_builder_free(b, 0x1000);
	trace_builder_write(b, path);
	trace_builder_free_all(b);
	trace = opened();
	tallies = tallied(trace, &end, &filter);
	tallies_totals(tallies, &totals);
	assert_true(totals.heap.of[METRIC_ALLOCATED].bytes == 300);
	assert_true(totals.heap.of[METRIC_LIVE].bytes == 300);
	assert_true(totals.inherited.bytes == 100);
	tallies_free(tallies);
	trace_close(trace);
}

static void a_stop_makes_live_blocks_unknown(void **state)
{
	struct trace_builder *b = trace_builder_new();
	struct trace *trace;
	struct tallies *tallies;
	struct tallies_totals totals;

	(void)state;
	choose_stack(b, 0);
	trace_builder_at(b, 128);
	trace_builder_allocate(b, 0x1000, 100);
	trace_builder_at(b, 1280);
	trace_builder_mark(b, TRACE_MARK_STOP, "", "", 0);
	trace_builder_at(b, 12800);
	trace_builder_mark(b, TRACE_MARK_START, "", "", 0);
	trace_builder_allocate(b, 0x2000, 50);
	trace_builder_write(b, path);
	trace_builder_free_all(b);
	trace = opened();
	tallies = tallied(trace, &end, NULL);
	tallies_totals(tallies, &totals);
	assert_true(totals.unknown.count == 1 && totals.unknown.bytes == 100);
	assert_true(totals.heap.of[METRIC_LIVE].bytes == 50);
	assert_true(totals.heap.of[METRIC_FREED].count == 0);
	tallies_free(tallies);
	trace_close(trace);
}

static void samples_weigh_the_inverse_of_their_probability(void **state)
{
	struct number n;

	(void)state;
	number_of_sample(100, 1, &n);
	assert_true(n.count == 1 && n.bytes == 100 && n.bytes_variance == 0);
	number_of_sample(1u << 20, 1024, &n);
	assert_true(n.count > 0.999 && n.count < 1.001);
	number_of_sample(1, 1000, &n);
	assert_true(n.count > 1000 && n.count < 1001); /* 1/p = 1000.5 */
	number_of_sample(0, 1000, &n);
	assert_true(n.count > 1000 && n.count < 1001 && n.bytes == 0);
}

static int remove_trace(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tallies_equal_those_of_a_slow_reference),
		cmocka_unit_test(cells_add_up_to_the_totals),
		cmocka_unit_test(the_live_blocks_at_the_peak_are_its_composition),
		cmocka_unit_test(a_filter_by_size_keeps_the_peak_of_the_whole_heap),
		cmocka_unit_test(blocks_from_before_the_window_are_inherited),
		cmocka_unit_test(a_stop_makes_live_blocks_unknown),
		cmocka_unit_test(samples_weigh_the_inverse_of_their_probability),
	};

	trace_path();
	return cmocka_run_group_tests(tests, NULL, remove_trace);
}
