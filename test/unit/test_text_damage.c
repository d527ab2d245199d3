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
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/fuzz_texts.c"

static const char folder[] = "test/fuzz/corpus/texts";

static size_t read_input(const char *name, uint8_t *bytes, size_t room)
{
	char path[600];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	size = fread(bytes, 1, room, file);
	fclose(file);
	return size;
}

/* The corpus, each input given to @run. */
static void each_input(void (*run)(const uint8_t *bytes, size_t size))
{
	static uint8_t bytes[1 << 16];
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			run(bytes, read_input(entry->d_name, bytes, sizeof(bytes)));
			count++;
		}
	closedir(dir);
	assert_true(count >= 6);
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
