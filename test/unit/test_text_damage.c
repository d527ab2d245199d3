/* LINK: analyzer */
/*
 * What reads texts that people write survives any bytes: the fuzzer's corpus,
 * whole, cut short and with bytes changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/fuzz_texts.c"
#include "corpus.h"

/* The corpus, each input given to @run. */
static void each_input(void (*run)(const uint8_t *bytes, size_t size))
{
	assert_true(corpus_each("texts", run) >= 6);
}

/* On the heap, so that reading behind the end is seen. */
static void run_copy(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_cut(const uint8_t *bytes, size_t size)
{
	for (size_t length = 1; length < size; length++)
		run_copy(bytes, length);
}

static void run_changed(const uint8_t *bytes, size_t size)
{
	static const char odd[] = "\0\n\r \"\\/{}[]:,*^$#+-%9kx\x80\xff";
	static uint8_t changed[1 << 16];

	for (size_t i = 1; i < size; i++) {
		memcpy(changed, bytes, size);
		changed[i] = (uint8_t)odd[i % (sizeof(odd) - 1)];
		changed[1 + i * 7919 % (size - 1)] ^= 0x11;
		run_copy(changed, size);
	}
}

static void the_fuzzers_corpus_is_read(void **state)
{
	(void)state;
	each_input(run_copy);
}

static void texts_that_end_early_are_refused_or_read(void **state)
{
	(void)state;
	each_input(run_cut);
}

static void changed_texts_are_refused_or_read(void **state)
{
	(void)state;
	each_input(run_changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fuzzers_corpus_is_read),
		cmocka_unit_test(texts_that_end_early_are_refused_or_read),
		cmocka_unit_test(changed_texts_are_refused_or_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
