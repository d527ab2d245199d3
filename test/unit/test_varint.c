/* LINK: library */
/*
 * The integer code that both halves share: every length, the borders between
 * them, and what a reader does at the end of the bytes it has.
 */
#include "memprof/varint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* As many bytes as the table in varint.h promises. */
static unsigned expected_bytes(uint64_t value)
{
	unsigned bytes = 1;

	while (bytes < 9 && value >> (7 * bytes))
		bytes++;
	return bytes;
}

/* Stores @value, reads it back from memory that ends right behind it. */
static void check_round_trip(uint64_t value)
{
	uint8_t room[VARINT_BYTES_MAX];
	size_t bytes = (size_t)(varint_store(room, value) - room);
	uint8_t *exact = malloc(bytes);
	uint64_t loaded = ~value;

	assert_non_null(exact);
	assert_int_equal(bytes, expected_bytes(value));
	memcpy(exact, room, bytes);
	assert_ptr_equal(varint_load(exact, exact + bytes, &loaded), exact + bytes);
	assert_int_equal(loaded, value);
	free(exact);
}

static void every_length_comes_back_as_it_was(void **state)
{
	(void)state;
	check_round_trip(0);
	for (unsigned bit = 0; bit < 64; bit++) {
		check_round_trip(1ull << bit);
		check_round_trip((1ull << bit) - 1);
		check_round_trip((1ull << bit) | 0x55);
		check_round_trip(~0ull >> bit);
	}
}

static void a_cut_integer_is_refused_at_every_byte(void **state)
{
	uint8_t room[VARINT_BYTES_MAX];
	uint64_t loaded;

	(void)state;
	for (unsigned bits = 1; bits <= 64; bits++) {
		size_t bytes = (size_t)(varint_store(room, ~0ull >> (64 - bits)) - room);

		for (size_t cut = 0; cut < bytes; cut++) {
			uint8_t *exact = malloc(cut ? cut : 1);

			assert_non_null(exact);
			memcpy(exact, room, cut);
			assert_null(varint_load(exact, exact + cut, &loaded));
			free(exact);
		}
	}
}

static void bytes_behind_an_integer_do_not_matter(void **state)
{
	uint8_t room[VARINT_BYTES_MAX + 8];
	uint64_t loaded;

	(void)state;
	memset(room, 0xff, sizeof(room));
	uint8_t *behind = varint_store(room, 300);

	memset(behind, 0xff, (size_t)(room + sizeof(room) - behind));
	assert_ptr_equal(varint_load(room, room + sizeof(room), &loaded), behind);
	assert_int_equal(loaded, 300);
}

static void zigzag_makes_small_numbers_of_both_signs(void **state)
{
	static const int64_t values[] = { 0, -1, 1, -2, 2, 63, -64, INT64_MAX, INT64_MIN };

	(void)state;
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(zigzag(values[i]), i);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		assert_int_equal(unzigzag(zigzag(values[i])), values[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length_comes_back_as_it_was),
		cmocka_unit_test(a_cut_integer_is_refused_at_every_byte),
		cmocka_unit_test(bytes_behind_an_integer_do_not_matter),
		cmocka_unit_test(zigzag_makes_small_numbers_of_both_signs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
