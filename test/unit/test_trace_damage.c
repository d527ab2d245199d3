/* LINK: analyzer */
/*
 * Damaged traces: whatever is done to the file, what precedes the damage in
 * each piece is used, the damage is told with its offset, and nothing crashes.
 */
#include "../fuzz/fuzz.h"
#include "corpus.h"
#include "trace/live_maps.h"
#include "trace/trace.h"
#include "trace_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[4096];

static void write_bytes(const uint8_t *bytes, size_t count)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	fclose(file);
}

struct sum {
	uint64_t events, sizes;
	uint64_t last_time;
};

static int add_up(void *context, const struct trace_event *events, size_t count)
{
	struct sum *sum = context;

	for (size_t i = 0; i < count; i++) {
		sum->events++;
		sum->sizes += events[i].size;
		assert_true(events[i].time_ns >= sum->last_time);
		sum->last_time = events[i].time_ns;
	}
	return 0;
}

/* Replays the file; -1: it can't be opened. */
static int read_file(struct sum *sum, size_t *faults, bool *is_complete)
{
	struct trace *trace;
	struct error err;

	*sum = (struct sum){0};
	if (trace_open(path, &trace, &err))
		return -1;
	assert_int_equal(trace_replay(trace, add_up, sum, NULL, &err), 0);
	*faults = trace->fault_count;
	*is_complete = trace->info.complete;
	trace_close(trace);
	return 0;
}

/* Every kind of record in few bytes. */
static struct trace_builder *make_trace(void)
{
	struct trace_builder *b = trace_builder_new();

	trace_builder_stack(b, (uint64_t[]){0x401010, 0x401020, 0x401030}, 3);
	trace_builder_thread_name(b, "main");
	for (unsigned i = 0; i < 40; i++) {
		trace_builder_at(b, i * 200);
		trace_builder_stack(b, (uint64_t[]){0x401010 + i % 3, 0x401020, 0x401030}, 3);
		trace_builder_allocate(b, 0x10000 + i * 64ull, i * 1000);
		if (i % 4 == 1)
			trace_builder_free(b, 0x10000 + i * 64ull);
		if (i % 8 == 2)
			trace_builder_reallocate(b, 0x10000 + i * 64ull, 0x90000 + i * 64ull, 5);
	}
	trace_builder_scope_begin(b, "scope");
	trace_builder_literal(b, true);
	trace_builder_stack(b, (uint64_t[]){0x7f0000001000, 0x401020, TRACE_FRAME_CUT}, 3);
	trace_builder_map(b, TRACE_MAP_MMAP, 0x7000000, 8192, 0, 0);
	trace_builder_literal(b, false);
	trace_builder_mark(b, TRACE_MARK_SNAPSHOT, "here", "detail", 7);
	trace_builder_reading(b, 1, 2, 3, 4);
	trace_builder_free_with_stack(b, 0x10000);
	trace_builder_scope_end(b);
	trace_builder_no_stack(b, TRACE_NO_STACK_BUSY);
	trace_builder_allocate(b, 0xa0000, 1);
	trace_builder_rate(b, 4096);
	trace_builder_free_noted(b, 0xa0000, TRACE_NOTE_TEMPORARY);
	return b;
}

static size_t piece_length(const uint8_t *unit)
{
	struct trace_piece header;

	memcpy(&header, unit, sizeof(header));
	return trace_word_length(header.word);
}

static void a_trace_cut_at_any_byte_gives_what_precedes_the_cut(void **state)
{
	struct trace_builder *b = make_trace();
	size_t bytes, faults, last_unit, end;
	uint64_t events_before = 0;
	const uint8_t *file = trace_builder_bytes(b, &bytes);
	bool is_complete;
	struct sum sum;

	(void)state;
	last_unit = bytes - TRACE_UNIT_BYTES;
	end = last_unit + TRACE_PIECE_BYTES + piece_length(file + last_unit);
	for (size_t cut = last_unit; cut <= end; cut++) {
		write_bytes(file, cut);
		assert_int_equal(read_file(&sum, &faults, &is_complete), 0);
		assert_false(is_complete);
		assert_true(sum.events >= events_before);
		/* A REALLOCATE is two events, a map over another one too. */
		assert_true(sum.events <= events_before + 2);
		if (cut > last_unit && cut < end)
			assert_true(faults > 0);
		events_before = sum.events;
	}
	assert_true(events_before > 60);
	for (size_t cut = 0; cut < TRACE_PIECE_BYTES; cut++) {
		write_bytes(file, cut);
		read_file(&sum, &faults, &is_complete);
		assert_int_equal(sum.events, 0);
	}
	trace_builder_free_all(b);
}

/* Packs the trace at `path` in place; its bytes, to be freed. */
static uint8_t *pack(size_t *bytes)
{
	struct trace *trace;
	struct error err;
	uint64_t packed;
	uint8_t *copy;
	FILE *file;

	assert_int_equal(trace_open(path, &trace, &err), 0);
	assert_int_equal(trace_pack(trace, path, &packed, &err), 0);
	trace_close(trace);
	*bytes = packed;
	copy = malloc(packed);
	file = fopen(path, "r");
	assert_int_equal(fread(copy, 1, packed, file), packed);
	fclose(file);
	return copy;
}

static void a_packed_trace_cut_or_flipped_anywhere_is_told(void **state)
{
	struct trace_builder *b = make_trace();
	size_t bytes, faults;
	bool is_complete;
	struct sum sum;
	uint8_t *file;

	(void)state;
	trace_builder_write(b, path);
	file = pack(&bytes);
	assert_int_equal(read_file(&sum, &faults, &is_complete), 0);
	assert_true(is_complete);
	for (size_t at = 0; at < bytes; at++) {
		write_bytes(file, at);
		if (!read_file(&sum, &faults, &is_complete))
			assert_false(is_complete);
	}
	for (size_t at = 0; at < bytes; at += 2) {
		file[at] ^= (uint8_t)(1u << at % 8);
		write_bytes(file, bytes);
		if (!read_file(&sum, &faults, &is_complete) && is_complete)
			fail_msg("a flipped bit of byte %zu isn't told", at);
		file[at] ^= (uint8_t)(1u << at % 8);
	}
	free(file);
	trace_builder_free_all(b);
}

static void a_flipped_bit_is_told(void **state)
{
	struct trace_builder *b = make_trace();
	const uint8_t *file;
	uint8_t *damaged;
	size_t bytes, faults, last_unit, end;
	bool is_complete;
	struct sum sum;

	(void)state;
	file = trace_builder_bytes(b, &bytes);
	damaged = malloc(bytes);
	last_unit = bytes - TRACE_UNIT_BYTES;
	end = last_unit + TRACE_PIECE_BYTES + piece_length(file + last_unit);
	for (size_t at = last_unit; at < end; at += 2) {
		memcpy(damaged, file, bytes);
		damaged[at] ^= (uint8_t)(1u << at % 8);
		write_bytes(damaged, bytes);
		assert_int_equal(read_file(&sum, &faults, &is_complete), 0);
		/* A length made smaller covers fewer bytes, and its checksum fails. */
		assert_true(faults > 0);
		assert_false(is_complete);
	}
	free(damaged);
	trace_builder_free_all(b);
}

static void put_raw(struct trace_builder *b, const char *hex)
{
	for (; *hex; hex += 2) {
		unsigned value;

		assert_int_equal(sscanf(hex, "%2x", &value), 1);
		trace_builder_raw(b, &(uint8_t){(uint8_t)value}, 1);
	}
}

/* Writes a trace of one allocation and then @hex, and reads it. */
static void read_with(const char *hex, struct sum *sum, size_t *faults)
{
	struct trace_builder *b = trace_builder_new();
	bool is_complete;

	trace_builder_stack(b, (uint64_t[]){0x401010}, 1);
	trace_builder_allocate(b, 0x10000, 24);
	put_raw(b, hex);
	trace_builder_write(b, path);
	assert_int_equal(read_file(sum, faults, &is_complete), 0);
	trace_builder_free_all(b);
}

static void counts_that_lie_cost_the_rest_of_their_piece_only(void **state)
{
	static const char *const lies[] = {
		"41210b0001ff",             /* DELTA that pops 127 of 1 frames */
		"4121070103ffffffffffffff", /* ... */
		"4121070000ffffffffffffffff",/* pushes 2^64 - 1 frames */
		"4121070001fe03",           /* pushes 255 frames that aren't there */
		"0003ff",                   /* META of 127 bytes that aren't there */
		"000300ffffffffffffffff",   /* META of 2^64 - 1 bytes */
		"001b05ff0121",             /* a map whose stack isn't there */
		"0400ffffffffffffffff",     /* time 2^64 - 1 ahead, and no record */
	};
	struct sum sum;
	size_t faults;

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		read_with(lies[i], &sum, &faults);
		assert_true(sum.events >= 1);
		assert_true(faults >= 1);
	}
}

static void records_of_unknown_kind_are_passed_over(void **state)
{
	struct trace_builder *b = trace_builder_new();
	bool is_complete;
	struct sum sum;
	size_t faults;

	(void)state;
	trace_builder_record(b, 77, "whatever", 8);
	trace_builder_stack(b, (uint64_t[]){0x401010}, 1);
	trace_builder_allocate(b, 0x10000, 24);
	trace_builder_record(b, 1ull << 40, "", 0);
	trace_builder_allocate(b, 0x20000, 24);
	trace_builder_write(b, path);
	assert_int_equal(read_file(&sum, &faults, &is_complete), 0);
	assert_int_equal(sum.events, 2);
	assert_int_equal(faults, 0);
	assert_true(is_complete);
	trace_builder_free_all(b);
}

static void a_missing_piece_makes_the_trace_incomplete(void **state)
{
	struct trace_builder *b = trace_builder_new();
	size_t bytes, faults, kept = 0;
	const uint8_t *file;
	uint8_t *rest;
	bool is_complete;
	struct sum sum;

	(void)state;
	trace_builder_stack(b, (uint64_t[]){0x401010}, 1);
	for (unsigned i = 0; i < 3; i++) {
		trace_builder_allocate(b, 0x10000 + i * 16, 1);
		trace_builder_flush(b);
	}
	trace_builder_write(b, path);
	file = trace_builder_bytes(b, &bytes);
	rest = malloc(bytes);
	for (size_t at = 0; at < bytes; at += TRACE_UNIT_BYTES) {
		struct trace_piece header;

		memcpy(&header, file + at, sizeof(header));
		if (header.kind == TRACE_PIECE_EVENTS && header.lane == 1 &&
		    trace_word_sequence(header.word) == 1)
			continue;
		memcpy(rest + kept, file + at, TRACE_UNIT_BYTES);
		kept += TRACE_UNIT_BYTES;
	}
	write_bytes(rest, kept);
	assert_int_equal(read_file(&sum, &faults, &is_complete), 0);
	assert_int_equal(sum.events, 2);
	assert_false(is_complete);
	free(rest);
	trace_builder_free_all(b);
}

static void holes_and_foreign_units_are_passed_over(void **state)
{
	struct trace_builder *b = trace_builder_new();
	size_t bytes, faults;
	const uint8_t *file;
	bool is_complete;
	struct sum sum;
	FILE *out;

	(void)state;
	trace_builder_stack(b, (uint64_t[]){0x401010}, 1);
	trace_builder_allocate(b, 0x10000, 1);
	trace_builder_write(b, path);
	file = trace_builder_bytes(b, &bytes);
	out = fopen(path, "w");
	fwrite(file, 1, TRACE_UNIT_BYTES, out);
	/* A hole of a terabyte, then the rest, then something else. */
	fseek(out, TRACE_UNIT_BYTES * (1l << 24), SEEK_CUR);
	fwrite(file + TRACE_UNIT_BYTES, 1, bytes - TRACE_UNIT_BYTES, out);
	fwrite("something else", 1, 14, out);
	fclose(out);
	assert_int_equal(read_file(&sum, &faults, &is_complete), 0);
	assert_int_equal(sum.events, 1);
	assert_int_equal(faults, 1);
	trace_builder_free_all(b);
}

static void run_input(const uint8_t *bytes, size_t size)
{
	LLVMFuzzerTestOneInput(bytes, size);
}

static void the_fuzzers_corpus_is_read(void **state)
{
	(void)state;
	assert_true(corpus_each("trace", run_input) >= 50);
}

/* ---- a trace made for the tree of mappings ---- */

#define AIMED 200000u

static uint32_t priorities[AIMED];

static int compare_priorities(const void *left, const void *right)
{
	uint32_t a = priorities[*(const uint32_t *)left], b = priorities[*(const uint32_t *)right];

	return (a < b) - (a > b);
}

static void count_part(void *context, const struct live_part *part)
{
	(void)part;
	++*(size_t *)context;
}

/* Were the priorities known (here: those of a fixed seed), addresses in their
 * order would make the tree a list, and its recursion as deep. */
static void mappings_that_aim_at_the_tree_make_it_no_list(void **state)
{
	uint32_t *order = calloc(AIMED, sizeof(*order)), *rank = calloc(AIMED, sizeof(*rank));
	struct live_maps maps = {0};
	uint32_t random = 0x9e3779b9;
	size_t count = 0;

	(void)state;
	for (uint32_t i = 0; i < AIMED; i++) {
		random ^= random << 13;
		random ^= random >> 17;
		random ^= random << 5;
		priorities[i] = random;
		order[i] = i;
	}
	qsort(order, AIMED, sizeof(*order), compare_priorities);
	for (uint32_t i = 0; i < AIMED; i++)
		rank[order[i]] = i;
	for (uint32_t i = 0; i < AIMED; i++)
		live_maps_add(&maps, 4096ull * rank[i], 4096ull * (rank[i] + 1ull), 0, 0, false);
	live_maps_each(&maps, count_part, &count);
	assert_int_equal(count, AIMED);
	live_maps_release(&maps);
	free(order);
	free(rank);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_cut_at_any_byte_gives_what_precedes_the_cut),
		cmocka_unit_test(a_packed_trace_cut_or_flipped_anywhere_is_told),
		cmocka_unit_test(a_flipped_bit_is_told),
		cmocka_unit_test(counts_that_lie_cost_the_rest_of_their_piece_only),
		cmocka_unit_test(records_of_unknown_kind_are_passed_over),
		cmocka_unit_test(a_missing_piece_makes_the_trace_incomplete),
		cmocka_unit_test(holes_and_foreign_units_are_passed_over),
		cmocka_unit_test(the_fuzzers_corpus_is_read),
		cmocka_unit_test(mappings_that_aim_at_the_tree_make_it_no_list),
	};
	const char *folder = getenv("TMPDIR");
	int failed;

	snprintf(path, sizeof(path), "%s/test_trace_damage.%d.trace", folder ? folder : "/tmp",
		 (int)getpid());
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
