/*
 * See lanes.h. With one lane its batches are handed out as they are decoded.
 * With several the lane whose turn it is gives its events up to the time of the
 * next lane's first, which are copied into one batch; a lane that has given
 * everything is filled again at the next call, so that what lies in the batch
 * stays true until then.
 */
#include "trace/lanes.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

/* All lanes' batches together stay around this many events. */
#define EVENTS_BUDGET 65536
#define BATCH_LEAST 128

struct lane {
	struct decoder decoder;
	struct piece_bytes bytes;
	uint32_t row;
	uint32_t piece, end_piece;
	bool is_open;          /* the decoder is in the middle of `piece` */
	bool skips;            /* events up to lanes.skip_until are passed over */
	uint64_t skip_until;
	struct raw_event *events;
	size_t at, count, room;
};

static uint64_t row_start(const struct reader *reader, uint32_t row)
{
	return reader->pieces.items[reader->pieces.lanes[row].first].ticks >> TRACE_TIME_SHIFT;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	uint64_t a = row_start(context, *(const uint32_t *)left);
	uint64_t b = row_start(context, *(const uint32_t *)right);

	return (a < b) - (a > b);
}

void lanes_init(struct lanes *lanes, struct reader *reader, uint64_t skip_until)
{
	size_t rows = reader->pieces.lane_count;

	*lanes = (struct lanes){.reader = reader, .skip_until = skip_until};
	lanes->waiting = memory_zeroed(rows, sizeof(*lanes->waiting));
	for (uint32_t row = 0; row < rows; row++)
		if (reader->lane_events[row])
			lanes->waiting[lanes->waiting_count++] = row;
	if (lanes->waiting_count)
		qsort_r(lanes->waiting, lanes->waiting_count, sizeof(*lanes->waiting),
			compare_rows, reader);
	lanes->is_single = lanes->waiting_count == 1;
	lanes->merged = memory_zeroed(LANES_BATCH, sizeof(*lanes->merged));
}

/* The piece that has the first event behind lanes->skip_until, or one before it. */
static uint32_t first_piece(const struct lanes *lanes, const struct piece_row *place)
{
	const struct piece *items = lanes->reader->pieces.items;
	uint32_t low = place->first, high = place->first + place->count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (items[middle].ticks >> TRACE_TIME_SHIFT <= lanes->skip_until)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static struct lane *lane_new(struct lanes *lanes, uint32_t row)
{
	const struct piece_row *place = &lanes->reader->pieces.lanes[row];
	struct lane *lane = memory_zeroed(1, sizeof(*lane));

	decoder_init(&lane->decoder, lanes->reader);
	lane->row = row;
	lane->piece = first_piece(lanes, place);
	lane->skips = lanes->skip_until != 0;
	lane->skip_until = lanes->skip_until;
	lane->end_piece = place->first + place->count;
	lane->room = EVENTS_BUDGET / (lanes->active_count + 1);
	if (lane->room > LANES_BATCH)
		lane->room = LANES_BATCH;
	if (lane->room < BATCH_LEAST)
		lane->room = BATCH_LEAST;
	lane->events = memory_resize(NULL, lane->room, sizeof(*lane->events));
	return lane;
}

static void lane_free(struct lanes *lanes, struct lane *lane)
{
	lanes->stack_checks += lane->decoder.stack_checks;
	lanes->stack_mismatches += lane->decoder.stack_mismatches;
	lanes->totals_mismatches += lane->decoder.totals_mismatches;
	decoder_release(&lane->decoder);
	piece_bytes_release(&lane->bytes);
	free(lane->events);
	free(lane);
}

void lanes_release(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->active_count; i++)
		lane_free(lanes, lanes->active[i]);
	if (lanes->spent)
		lane_free(lanes, lanes->spent);
	free(lanes->active);
	free(lanes->waiting);
	free(lanes->merged);
}

/* Damage that only decoding finds; a piece that ends early has been told. */
static void tell_fault(const struct lane *lane)
{
	const struct decoder *decoder = &lane->decoder;
	struct reader *reader = decoder->reader;
	const struct piece *piece = &reader->pieces.items[lane->piece];

	if (decoder->fault && !reader->has_replayed && !piece->is_cut)
		reader_fault(reader,
			     piece_record_offset(piece, (uint64_t)(decoder->at - decoder->begin)),
			     piece->in_companion, decoder->fault);
}

static void point_at_maps(struct lane *lane)
{
	for (size_t i = 0; i < lane->count; i++)
		if (lane->events[i].kind == RAW_MAP)
			lane->events[i].address =
				(uintptr_t)&lane->decoder.maps[lane->events[i].address];
}

static void pass_over_early(struct lane *lane)
{
	size_t early = 0;

	while (early < lane->count && lane->events[early].time <= lane->skip_until)
		early++;
	lane->skips = early == lane->count;
	lane->count -= early;
	memmove(lane->events, lane->events + early, lane->count * sizeof(*lane->events));
}

/* Decodes on in the piece that is open. false: there are no more events in it. */
static bool decode(struct lane *lane)
{
	do {
		lane->count = decoder_next(&lane->decoder, lane->events, lane->room);
		if (lane->decoder.map_count)
			point_at_maps(lane);
		if (!lane->count)
			return false;
		if (lane->skips)
			pass_over_early(lane);
	} while (!lane->count);
	return true;
}

/* The next batch. false: the lane is at its end. */
static bool lane_fill(struct lane *lane)
{
	const struct pieces *pieces = &lane->decoder.reader->pieces;

	lane->at = lane->count = 0;
	for (; lane->piece < lane->end_piece; lane->piece++, lane->is_open = false) {
		const struct piece *piece = &pieces->items[lane->piece];

		if (!lane->is_open) {
			pieces_fetch(pieces, piece, &lane->bytes, false);
			decoder_begin(&lane->decoder, piece, &lane->bytes);
			lane->is_open = true;
		}
		if (decode(lane))
			return true;
		tell_fault(lane);
	}
	return false;
}

/* ---- the heap ---- */

static inline uint64_t next_time(const struct lane *lane)
{
	return lane->events[lane->at].time;
}

static inline bool is_before(const struct lane *a, const struct lane *b)
{
	uint64_t a_time = next_time(a), b_time = next_time(b);

	return a_time != b_time ? a_time < b_time : a->row < b->row;
}

static void sink(struct lanes *lanes, size_t at)
{
	struct lane **heap = lanes->active, *lane = heap[at];

	for (;;) {
		size_t child = at * 2 + 1;

		if (child >= lanes->active_count)
			break;
		if (child + 1 < lanes->active_count && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], lane))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = lane;
}

static void push(struct lanes *lanes, struct lane *lane)
{
	size_t at = lanes->active_count;

	MEMORY_ROOM(lanes->active, lanes->active_count);
	lanes->active_count++;
	for (; at && is_before(lane, lanes->active[(at - 1) / 2]); at = (at - 1) / 2)
		lanes->active[at] = lanes->active[(at - 1) / 2];
	lanes->active[at] = lane;
}

static struct lane *pop(struct lanes *lanes)
{
	struct lane *first = lanes->active[0];

	lanes->active[0] = lanes->active[--lanes->active_count];
	if (lanes->active_count)
		sink(lanes, 0);
	return first;
}

static void fill_and_push(struct lanes *lanes, struct lane *lane)
{
	if (lane_fill(lane))
		push(lanes, lane);
	else
		lane_free(lanes, lane);
}

static uint64_t next_start(const struct lanes *lanes)
{
	return lanes->waiting_count ?
		row_start(lanes->reader, lanes->waiting[lanes->waiting_count - 1]) : UINT64_MAX;
}

static void begin_lanes(struct lanes *lanes)
{
	while (lanes->waiting_count &&
	       (!lanes->active_count || next_start(lanes) <= next_time(lanes->active[0])))
		fill_and_push(lanes, lane_new(lanes, lanes->waiting[--lanes->waiting_count]));
}

/* Up to which time the first lane may go on by itself. */
static uint64_t turn_ends(const struct lanes *lanes)
{
	uint64_t end = next_start(lanes);

	for (size_t child = 1; child < 3 && child < lanes->active_count; child++)
		if (next_time(lanes->active[child]) < end)
			end = next_time(lanes->active[child]);
	return end;
}

/* ---- giving out ---- */

static size_t next_of_single(struct lanes *lanes, const struct raw_event **events)
{
	struct lane *lane;

	if (!lanes->active_count)
		return 0;
	lane = lanes->active[0];
	if (lane->at && !lane_fill(lane)) {
		lane_free(lanes, pop(lanes));
		return 0;
	}
	lane->at = lane->count;
	*events = lane->events;
	return lane->count;
}

size_t lanes_next(struct lanes *lanes, const struct raw_event **events)
{
	size_t count = 0;

	if (lanes->spent)
		fill_and_push(lanes, lanes->spent);
	lanes->spent = NULL;
	begin_lanes(lanes);
	if (lanes->is_single)
		return next_of_single(lanes, events);
	while (lanes->active_count && count < LANES_BATCH) {
		struct lane *lane = lanes->active[0];
		uint64_t end = turn_ends(lanes);

		do {
			const struct raw_event *event = &lane->events[lane->at++];

			lanes->merged[count++] = *event;
		} while (count < LANES_BATCH && lane->at < lane->count && next_time(lane) <= end);
		if (lane->at == lane->count) {
			lanes->spent = pop(lanes);
			break;
		}
		sink(lanes, 0);
		begin_lanes(lanes);
	}
	*events = lanes->merged;
	return count;
}
