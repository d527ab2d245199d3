/* LINK: library */
/* TSAN: yes */
/*
 * The set of live samples: nothing is lost, nothing is found that isn't there,
 * by one thread and by several.
 */
#include "sampled_set.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* Addresses are numbers here: nothing looks at what lies there. */
static const void *block(uint64_t number)
{
	return (const void *)(uintptr_t)(0x7f0000000000 + number * 16);
}

static void what_was_added_is_found_and_removed_once(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 1000; n++) {
		assert_false(sampled_set_remove(block(n)));
		assert_true(sampled_set_add(block(n)));
		assert_true(sampled_set_may_hold(block(n)));
	}
	for (uint64_t n = 0; n < 1000; n++) {
		assert_true(sampled_set_remove(block(n)));
		assert_false(sampled_set_remove(block(n)));
	}
	for (uint64_t n = 0; n < 1000; n++)
		assert_false(sampled_set_may_hold(block(n)));
}

static void many_live_samples_find_room(void **state)
{
	enum { MANY = 300000 };

	(void)state;
	for (uint64_t n = 0; n < MANY; n++)
		assert_true(sampled_set_add(block(n * 977)));
	for (uint64_t n = 0; n < MANY; n += 3)
		assert_true(sampled_set_remove(block(n * 977)));
	for (uint64_t n = 0; n < MANY; n++)
		assert_int_equal(sampled_set_remove(block(n * 977)), n % 3 != 0);
}

static void the_same_few_addresses_can_come_and_go_for_ever(void **state)
{
	(void)state;
	for (unsigned long round = 0; round < 300000; round++) {
		assert_true(sampled_set_add(block(round % 7)));
		assert_true(sampled_set_remove(block(round % 7)));
	}
}

static void a_neighbour_with_a_tag_is_not_a_sample(void **state)
{
	(void)state;
	assert_true(sampled_set_add(block(16)));
	assert_true(sampled_set_may_hold(block(17)));
	assert_false(sampled_set_remove(block(17)));
	assert_false(sampled_set_may_hold(block(32)));
	assert_true(sampled_set_remove(block(16)));
}

static void a_granule_with_300_samples_forgets_none(void **state)
{
	/* The same tag, 4 GiB apart: more of them than a tag can count. */
	(void)state;
	for (uint64_t n = 0; n < 300; n++)
		assert_true(sampled_set_add((const void *)(uintptr_t)((n << 32) | 0x77005500)));
	for (uint64_t n = 0; n < 300; n++) {
		const void *one = (const void *)(uintptr_t)((n << 32) | 0x77005500);

		assert_true(sampled_set_may_hold(one));
		assert_true(sampled_set_remove(one));
	}
}

static void null_is_never_there(void **state)
{
	(void)state;
	assert_false(sampled_set_may_hold(NULL));
}

static void pinned_memory_keeps_its_tags(void **state)
{
	const char *start = (const char *)0x123456780;

	(void)state;
	sampled_set_pin(start, 1000);
	for (int i = 0; i < 1000; i++)
		assert_true(sampled_set_may_hold(start + i));
	assert_false(sampled_set_remove(start));
	assert_false(sampled_set_may_hold(start + 2048));
}

/* ---- threads: each with its own blocks, in granules shared by all ---- */

enum { THREADS = 4, ROUNDS = 200, LIVE = 500 };

static void *work(void *context)
{
	uint64_t own = (uint64_t)(uintptr_t)context;
	long failures = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (uint64_t n = 0; n < LIVE; n++)
			failures += !sampled_set_add(block(n * THREADS + own));
		for (uint64_t n = 0; n < LIVE; n++) {
			failures += !sampled_set_may_hold(block(n * THREADS + own));
			failures += !sampled_set_remove(block(n * THREADS + own));
		}
	}
	return (void *)failures;
}

static void threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[THREADS];
	void *failures;

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failures), 0);
		assert_null(failures);
	}
	for (uint64_t n = 0; n < LIVE * THREADS; n++)
		assert_false(sampled_set_may_hold(block(n)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_is_found_and_removed_once),
		cmocka_unit_test(many_live_samples_find_room),
		cmocka_unit_test(the_same_few_addresses_can_come_and_go_for_ever),
		cmocka_unit_test(a_neighbour_with_a_tag_is_not_a_sample),
		cmocka_unit_test(a_granule_with_300_samples_forgets_none),
		cmocka_unit_test(null_is_never_there),
		cmocka_unit_test(pinned_memory_keeps_its_tags),
		cmocka_unit_test(threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
