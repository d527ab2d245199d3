/* See trace_check.h. */
#include "trace_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <memprof/control.h>
#include <memprof/trace_format.h>
#include <memprof/varint.h>
#include <xxhash.h>

struct unit {
	struct trace_piece piece;
	uint8_t records[TRACE_RECORDS_MAX];
};

static struct unit *units;
static unsigned unit_count;

static bool checksum_is_right(const struct unit *unit)
{
	uint32_t length = trace_word_length(unit->piece.word);
	struct unit *copy;
	bool is_right;

	if (length > TRACE_RECORDS_MAX)
		return false;
	copy = malloc(sizeof(*copy));
	memcpy(copy, unit, TRACE_PIECE_BYTES + length);
	copy->piece.checksum = 0;
	is_right = XXH3_64bits(copy, TRACE_PIECE_BYTES + length) == unit->piece.checksum;
	free(copy);
	return is_right;
}

static void add_unit(const struct unit *unit)
{
	units = realloc(units, (unit_count + 1) * sizeof(*units));
	assert_non_null(units);
	units[unit_count++] = *unit;
}

static void read_file(struct trace_check *check, const char *path, long skip, uint32_t magic)
{
	static struct unit unit;
	FILE *file = fopen(path, "rb");

	if (!file)
		return;
	fseek(file, skip, SEEK_SET);
	while (memset(&unit, 0, sizeof(unit)), fread(&unit, 1, sizeof(unit), file)) {
		if (unit.piece.magic != magic)
			continue;
		if (magic == TRACE_PIECE_MAGIC && !checksum_is_right(&unit)) {
			check->damaged++;
			continue;
		}
		assert_true(trace_word_length(unit.piece.word) <= TRACE_RECORDS_MAX);
		*(magic == TRACE_PIECE_MAGIC ? &check->pieces : &check->slots) += 1;
		add_unit(&unit);
	}
	fclose(file);
}

static uint64_t number(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;

	*at = varint_load(*at, end, &value);
	assert_non_null(*at);
	return value;
}

static void take_meta(struct trace_check *check, const uint8_t *at, const uint8_t *end)
{
	uint64_t length = number(&at, end);
	char key[32] = "", value[512] = "";

	assert_true(length <= (uint64_t)(end - at) && length < sizeof(key));
	memcpy(key, at, length);
	at += length;
	memcpy(value, at, (size_t)(end - at) < sizeof(value) ? (size_t)(end - at) : 0);
	if (!strcmp(key, "forked"))
		check->is_forked = true;
	if (!strcmp(key, "parent_trace"))
		strcpy(check->parent, value);
	if (!strcmp(key, "companion"))
		strcpy(check->companion, value);
}

static const uint8_t *take_extended(struct trace_check *check, const uint8_t *at,
				    const uint8_t *end)
{
	uint64_t kind = number(&at, end), length = number(&at, end);
	const uint8_t *next = at + length;

	assert_true(length <= (uint64_t)(end - at));
	check->clocks += kind == TRACE_KIND_CLOCK;
	check->readings += kind == TRACE_KIND_READING;
	check->modules += kind == TRACE_KIND_MODULE;
	if (kind == TRACE_KIND_END)
		check->end = *at;
	if (kind == TRACE_KIND_META)
		take_meta(check, at, next);
	if (kind == TRACE_KIND_LOST) {
		number(&at, next);
		check->lost_told += number(&at, next);
	}
	return next;
}

static void take_records(struct trace_check *check, const struct unit *unit)
{
	const uint8_t *at = unit->records, *end = at + trace_word_length(unit->piece.word);
	uint32_t lane = unit->piece.lane;
	uint64_t last = 0;

	assert_true(lane < CHECK_LANES);
	while (at < end) {
		uint8_t tag = *at++;

		if (tag == TRACE_OP_EXTENDED) {
			at = take_extended(check, at, end);
			continue;
		}
		assert_int_equal(tag, TRACE_OP_FREE);
		last += (uint64_t)unzigzag(number(&at, end));
		check->events++;
		check->is_in_order &= last == ++check->last[lane];
	}
}

static int by_lane_and_sequence(const void *a, const void *b)
{
	const struct trace_piece *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->word < y->word ? -1 : x->word > y->word;
}

/* Of two pieces with one number the longer counts: it comes last. */
static bool is_last_of_its_number(unsigned i)
{
	return i + 1 == unit_count || units[i + 1].piece.lane != units[i].piece.lane ||
	       trace_word_sequence(units[i + 1].piece.word) !=
		       trace_word_sequence(units[i].piece.word);
}

void trace_check_read(struct trace_check *check, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	uint64_t lost[CHECK_LANES] = { 0 };
	char live[1024];

	memset(check, 0, sizeof(*check));
	check->is_in_order = true;
	unit_count = 0;
	read_file(check, path, 0, TRACE_PIECE_MAGIC);
	snprintf(live, sizeof(live), "%.*s.%s.live", (int)(name - path), path, name);
	read_file(check, live, CONTROL_PAGE_BYTES, TRACE_SLOT_MAGIC);
	qsort(units, unit_count, sizeof(*units), by_lane_and_sequence);
	for (unsigned i = 0; i < unit_count; i++) {
		if (is_last_of_its_number(i))
			take_records(check, &units[i]);
		if (units[i].piece.lane && units[i].piece.lost > lost[units[i].piece.lane])
			lost[units[i].piece.lane] = units[i].piece.lost;
	}
	for (unsigned lane = 0; lane < CHECK_LANES; lane++)
		check->lost += lost[lane];
}
