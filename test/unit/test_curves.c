/* LINK: analyzer */
/*
 * What the curves that verdicts are made of say of blocks that come and go, of
 * which one is live, by the clock, at the end of nearly every bucket.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "model/curves.h"
#include "model/pass.h"
#include "model/verdict.h"
#include "trace_builder.h"

#define BLOCKS 400
#define PAUSE_NS 10000000ull

static char path[256];

static uint64_t size_of(unsigned i)
{
	return 1000 + i * 4;
}

static uint64_t address_of(unsigned i)
{
	return 0x10000 + i % 2 * 0x10000;
}

static struct trace_builder *begin(void)
{
	struct trace_builder *b = trace_builder_new();
	uint64_t frames[] = { 0x401010, 0x402000 };

	snprintf(path, sizeof(path), "%s/curves.%d.trace",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	trace_builder_stack(b, frames, 2);
	return b;
}

static void read_curve(struct trace_builder *b, struct curve *curve)
{
	struct moment end = { .kind = MOMENT_END };
	struct aggregator *only;
	struct curves *curves;
	struct trace *trace;
	struct error err;

	trace_builder_write(b, path);
	trace_builder_free_all(b);
	assert_int_equal(trace_open(path, &trace, &err), 0);
	curves = curves_new(trace, NULL);
	assert_non_null(curves);
	only = curves_aggregator(curves);
	assert_int_equal(pass_run(trace, &end, 0, &only, 1, NULL, &err), 0);
	*curve = (struct curve){ 0 };
	curves_add_all(curves, TALLY_HEAP, curve);
	curves_free(curves);
	trace_close(trace);
	unlink(path);
}

static void temporary_blocks_across_pauses_are_churn(void **state)
{
	struct trace_builder *b = begin();
	struct curve curve;

	(void)state;
	for (unsigned i = 0; i < BLOCKS; i++) {
		trace_builder_at(b, i * PAUSE_NS + 64);
		trace_builder_allocate(b, address_of(i), size_of(i));
		trace_builder_at(b, (i + 1) * PAUSE_NS);
		trace_builder_free(b, address_of(i));
	}
	read_curve(b, &curve);
	for (unsigned i = 0; i < CURVE_BUCKETS - 1; i++)
		assert_true(curve.live[i] == 0);
	assert_true(curve.allocated_count == BLOCKS);
	assert_int_equal(verdict_of_site(&curve), VERDICT_CHURN);
}

/* Each block is freed behind the next one's birth. */
static void a_block_that_is_replaced_by_a_larger_one_is_growing(void **state)
{
	struct trace_builder *b = begin();
	struct curve curve;

	(void)state;
	for (unsigned i = 0; i < BLOCKS; i++) {
		trace_builder_at(b, i * PAUSE_NS + 64);
		trace_builder_allocate(b, address_of(i), size_of(i));
		if (i)
			trace_builder_free(b, address_of(i - 1));
	}
	trace_builder_allocate(b, 0x90000, 1); /* the run goes on behind the last free */
	trace_builder_at(b, BLOCKS * PAUSE_NS);
	trace_builder_free(b, address_of(BLOCKS - 1));
	read_curve(b, &curve);
	assert_true(curve.live[CURVE_BUCKETS / 2] > 1000);
	assert_int_equal(verdict_of_site(&curve), VERDICT_GROWING);
}

static void a_block_that_is_reallocated_larger_is_growing(void **state)
{
	struct trace_builder *b = begin();
	struct curve curve;

	(void)state;
	trace_builder_at(b, 64);
	trace_builder_allocate(b, address_of(0), size_of(0));
	for (unsigned i = 1; i < BLOCKS; i++) {
		trace_builder_at(b, i * PAUSE_NS + 64);
		trace_builder_reallocate(b, address_of(i - 1), address_of(i), size_of(i));
	}
	trace_builder_at(b, BLOCKS * PAUSE_NS);
	trace_builder_free(b, address_of(BLOCKS - 1));
	read_curve(b, &curve);
	assert_int_equal(verdict_of_site(&curve), VERDICT_GROWING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(temporary_blocks_across_pauses_are_churn),
		cmocka_unit_test(a_block_that_is_replaced_by_a_larger_one_is_growing),
		cmocka_unit_test(a_block_that_is_reallocated_larger_is_growing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
