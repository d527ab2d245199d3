/* LINK: analyzer */
/*
 * What reads names out of other people's files survives any bytes: the fuzzer's
 * corpus, and mutations of honest input made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/fuzz_symbols.c"
#include "corpus.h"

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void mutate_and_run(const uint8_t *seed, size_t size, unsigned rounds)
{
	uint8_t *copy = malloc(size + 1);
	uint32_t state = 12345;

	assert_non_null(copy);
	for (unsigned i = 0; i < rounds; i++) {
		size_t length = size;

		memcpy(copy, seed, size);
		for (unsigned n = next_random(&state) % 8; n; n--)
			copy[1 + next_random(&state) % (size - 1)] = (uint8_t)next_random(&state);
		if (next_random(&state) % 4 == 0)
			length = 1 + next_random(&state) % size;
		LLVMFuzzerTestOneInput(copy, length);
	}
	free(copy);
}

static void run_and_mutate(const uint8_t *bytes, size_t size)
{
	LLVMFuzzerTestOneInput(bytes, size);
	if (size > 1)
		mutate_and_run(bytes, size, 200);
}

static void the_fuzzers_corpus_is_read(void **state)
{
	(void)state;
	assert_true(corpus_each("symbols", run_and_mutate) >= 5);
}

/* ---- what honest input gives ---- */

static void build_answer(struct answer_builder *builder)
{
	answer_builder_init(builder);
	for (uint64_t address = 0x1000; address < 0x1010; address++) {
		struct answer_frame inner = { .function = answer_builder_intern(builder, "inner"),
					      .line = 7 | ANSWER_INLINED };
		struct answer_frame outer = { .function = answer_builder_intern(builder, "outer"),
					      .file = answer_builder_intern(builder, "x.c"),
					      .line = (uint32_t)address & 1 };

		answer_builder_address(builder, address);
		answer_builder_frame(builder, &inner);
		answer_builder_frame(builder, &outer);
	}
}

static void an_answer_tells_equal_frames_and_chains_once(void **state)
{
	struct answer_builder builder;
	struct symbol_answer answer;
	size_t bytes;
	void *block;

	(void)state;
	build_answer(&builder);
	block = answer_builder_pack(&builder, 3, "file", "words", &bytes);
	assert_non_null(block);
	assert_true(symbol_answer_open(&answer, block, bytes));
	assert_int_equal(answer.header->address_count, 16);
	assert_int_equal(answer.header->frame_count, 3);
	assert_int_equal(answer.header->chain_count, 2);
	assert_int_equal(symbol_answer_find(&answer, 0x100f), 15);
	assert_true(symbol_answer_find(&answer, 0x1010) == SIZE_MAX);
	assert_string_equal(answer.strings + answer.header->file, "file");
	answer_builder_release(&builder);
	free(block);
}

static void an_answer_cut_or_changed_is_refused_or_sound(void **state)
{
	struct answer_builder builder;
	struct symbol_answer answer;
	uint8_t *input;
	size_t bytes;
	void *block;

	(void)state;
	build_answer(&builder);
	block = answer_builder_pack(&builder, 3, "file", "words", &bytes);
	assert_non_null(block);
	for (size_t cut = 0; cut < bytes; cut++)
		assert_false(symbol_answer_open(&answer, block, cut));
	input = malloc(bytes + 1);
	assert_non_null(input);
	input[0] = 1;
	memcpy(input + 1, block, bytes);
	mutate_and_run(input, bytes + 1, 5000);
	answer_builder_release(&builder);
	free(input);
	free(block);
}

static void later_lines_of_a_perf_map_override_earlier_ones(void **state)
{
	static const char text[] = "1000 100 old code\n1040 20 new code\nnonsense\n"
				   "2000 10 other\n1ff0 20 over other\n";
	struct perf_map *map = perf_map_new();

	(void)state;
	perf_map_add(map, text, strlen(text));
	assert_null(perf_map_find(map, 0xfff));
	assert_string_equal(perf_map_find(map, 0x1000), "old code");
	assert_string_equal(perf_map_find(map, 0x103f), "old code");
	assert_string_equal(perf_map_find(map, 0x1040), "new code");
	assert_string_equal(perf_map_find(map, 0x1060), "old code");
	assert_null(perf_map_find(map, 0x1100));
	assert_string_equal(perf_map_find(map, 0x2005), "over other");
	assert_null(perf_map_find(map, 0x2010));
	perf_map_add(map, "1000 10 newest\n", 15);
	assert_string_equal(perf_map_find(map, 0x1000), "newest");
	perf_map_free(map);
}

static void frames_for_a_trace_need_all_parts_in_order(void **state)
{
	struct saved_names names = { 0 };
	uint8_t junk[64] = { 0x28, 0xb5, 0x2f, 0xfd };
	size_t bytes;

	(void)state;
	assert_null(saved_names_add_frames(&names, 1, 2, junk, sizeof(junk), &bytes));
	assert_null(saved_names_add_frames(&names, 0, 1, junk, sizeof(junk), &bytes));
	saved_names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fuzzers_corpus_is_read),
		cmocka_unit_test(an_answer_tells_equal_frames_and_chains_once),
		cmocka_unit_test(an_answer_cut_or_changed_is_refused_or_sound),
		cmocka_unit_test(later_lines_of_a_perf_map_override_earlier_ones),
		cmocka_unit_test(frames_for_a_trace_need_all_parts_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
