/* LINK: library */
/*
 * Rows of call frame information: a module made of bytes, with one function; then
 * the same cut short and spoilt in every way, and what the fuzzer has kept.
 */
#include "../fuzz/fuzz_cfi.c"
#include "corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/*
 * Header, CIE at 20, FDE at 44. The function lies 0x1000 behind the start and has 0x40
 * bytes: push rbp (CFA +16, rbp at CFA-16) at 1; mov rsp,rbp at 4; at 0x20 the state
 * before; at 0x30 CFA = the word at rbp - 8.
 */
static const uint8_t image[] = {
	/* 0: version, encodings (pcrel|sdata4, udata4, datarel|sdata4), frame pointer, count */
	1, 0x1b, 0x03, 0x3b, 16, 0, 0, 0, 1, 0, 0, 0,
	/* 12: location, FDE */
	0x00, 0x10, 0, 0, 44, 0, 0, 0,
	/* 20: CIE: length, id, version, "zR", alignments 1 and -8, return address 16 */
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
	/* def_cfa rsp 8; offset ra 1; nop nop */
	0x0c, 7, 8, 0x90, 1, 0, 0,
	/* 44: FDE: length, distance to the CIE, start (relative to 52), bytes, no data */
	37, 0, 0, 0, 28, 0, 0, 0, 0xcc, 0x0f, 0, 0, 0x40, 0, 0, 0, 0,
	/* 61 */ 0x41, 0x0e, 16, 0x86, 2,       /* advance 1; cfa offset 16; rbp at CFA-16 */
	/* 66 */ 0x0a, 0x43, 0x0d, 6,           /* remember; advance 3; cfa register rbp */
	/* 70 */ 0x5c, 0x0b,                    /* advance 28; restore */
	/* 72 */ 0x50, 0x0f, 3, 0x76, 0x78, 6,  /* advance 16; cfa = *(rbp - 8) */
	0, 0, 0, 0, 0, 0, 0,
};

static enum cfi_result find(const uint8_t *bytes, size_t size, unsigned place, struct cfi_row *row)
{
	struct cfi_module module = { .start = (uintptr_t)bytes,
				     .end = (uintptr_t)bytes + size,
				     .eh_frame_hdr = (uintptr_t)bytes };

	return cfi_find(&module, (uintptr_t)bytes + place, row);
}

static void assert_row(unsigned place, uint8_t kind, uint8_t base, int32_t offset, bool has_rbp)
{
	struct cfi_row row;

	assert_int_equal(find(image, sizeof(image), place, &row), CFI_FOUND);
	assert_int_equal(row.cfa_kind, kind);
	assert_int_equal(row.cfa_base, base);
	assert_int_equal(row.cfa_offset, offset);
	assert_int_equal(row.rules[CFI_RA].kind, CFI_AT_CFA);
	assert_int_equal(row.rules[CFI_RA].offset, -8);
	assert_int_equal(row.rules[CFI_RBP].kind, has_rbp ? CFI_AT_CFA : CFI_SAME);
	if (has_rbp)
		assert_int_equal(row.rules[CFI_RBP].offset, -16);
}

static void rows_change_along_a_function(void **unused)
{
	(void)unused;
	assert_row(0x1000, CFI_CFA_BASE, CFI_RSP, 8, false);
	assert_row(0x1001, CFI_CFA_BASE, CFI_RSP, 16, true);
	assert_row(0x1003, CFI_CFA_BASE, CFI_RSP, 16, true);
	assert_row(0x1004, CFI_CFA_BASE, CFI_RBP, 16, true);
	assert_row(0x101f, CFI_CFA_BASE, CFI_RBP, 16, true);
	assert_row(0x1020, CFI_CFA_BASE, CFI_RSP, 16, true);
	assert_row(0x1030, CFI_CFA_LOAD, CFI_RBP, -8, true);
	assert_row(0x103f, CFI_CFA_LOAD, CFI_RBP, -8, true);
}

static void places_outside_of_functions_have_no_entry(void **unused)
{
	struct cfi_row row;

	(void)unused;
	assert_int_equal(find(image, sizeof(image), 0xfff, &row), CFI_NO_ENTRY);
	assert_int_equal(find(image, sizeof(image), 0x1040, &row), CFI_NO_ENTRY);
}

/* Of its very size on the heap: AddressSanitizer sees a read outside. */
static void ask_everywhere(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + !size);
	struct cfi_row row;

	memcpy(copy, bytes, size);
	for (unsigned place = 0xff8; place < 0x1048; place += 4)
		find(copy, size, place, &row);
	free(copy);
}

static void a_table_cut_anywhere_is_not_read_beyond(void **unused)
{
	(void)unused;
	for (size_t size = 0; size <= sizeof(image); size++)
		ask_everywhere(image, size);
}

static void a_table_with_a_wrong_byte_is_not_read_beyond(void **unused)
{
	uint8_t spoilt[sizeof(image)];

	(void)unused;
	for (size_t at = 0; at < sizeof(image); at++) {
		for (unsigned value = 0; value < 256; value++) {
			memcpy(spoilt, image, sizeof(image));
			spoilt[at] = (uint8_t)value;
			ask_everywhere(spoilt, sizeof(spoilt));
		}
	}
}

static void run_input(const uint8_t *bytes, size_t size)
{
	LLVMFuzzerTestOneInput(bytes, size);
}

static void the_fuzzers_corpus_is_read(void **state)
{
	(void)state;
	assert_true(corpus_each("cfi", run_input) >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_change_along_a_function),
		cmocka_unit_test(places_outside_of_functions_have_no_entry),
		cmocka_unit_test(a_table_cut_anywhere_is_not_read_beyond),
		cmocka_unit_test(a_table_with_a_wrong_byte_is_not_read_beyond),
		cmocka_unit_test(the_fuzzers_corpus_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
