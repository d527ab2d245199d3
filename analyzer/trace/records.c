/*
 * Gives the records of a trace one by one, as they are written. The decoder is
 * made to see one record at a time by telling it that the piece ends there.
 */
#include "trace/decoder.h"
#include "trace/reader.h"
#include "trace/record_step.h"
#include "trace/trace.h"
#include "util/cursor.h"
#include "util/memory.h"

#include <stdlib.h>

struct walk {
	struct reader *reader;
	trace_take_record take;
	void *context;
	struct decoder decoder;
	struct piece_bytes bytes;
};

static void fill_event(const struct raw_event *events, size_t count, struct trace_record *record)
{
	const struct raw_event *last = &events[count - 1];

	record->address = last->address;
	record->old_address = events[0].address;
	record->size = last->size;
	record->notes = events[0].flags & TRACE_EVENT_TEMPORARY;
}

/* The payload of the extended record that ends at @end. */
static void fill_extended(const uint8_t *at, const uint8_t *end, struct trace_record *record)
{
	struct cursor cursor = {.at = at + 1, .end = end};
	size_t bytes;

	if (*at & TRACE_TAG_TIME)
		cursor_varint(&cursor);
	record->kind = (uint32_t)cursor_varint(&cursor);
	record->payload = cursor_string(&cursor, &bytes);
	record->payload_bytes = bytes;
}

/* One record, at decoder.at, that ends at @end. */
static int give(struct walk *walk, const struct piece *piece, const uint8_t *end)
{
	struct decoder *decoder = &walk->decoder;
	const uint8_t *at = decoder->at;
	struct trace_record record = {
		.offset = piece_record_offset(piece, (uint64_t)(at - decoder->begin)),
		.in_companion = piece->in_companion,
		.is_outside = piece->kind == TRACE_PIECE_OUTSIDE,
		.op = *at & TRACE_OP_MASK,
		.lane = piece->lane,
		.sequence = piece->sequence,
	};
	struct raw_event events[4];
	size_t count;

	decoder->end = end;
	count = decoder_next(decoder, events, 4);
	if (count && record.op != TRACE_OP_EXTENDED)
		fill_event(events, count, &record);
	if (record.op == TRACE_OP_EXTENDED)
		fill_extended(at, end, &record);
	if (count)
		record.stack = walk->reader->stacks.origins[events[count - 1].origin].stack;
	record.thread = decoder->thread;
	record.time_ns = clock_ns(&walk->reader->clock, decoder->clock);
	walk->reader->trace.nodes = walk->reader->stacks.nodes;
	walk->reader->trace.node_count = walk->reader->stacks.node_count;
	return walk->take(walk->context, &record);
}

static int walk_piece(struct walk *walk, const struct piece *piece)
{
	struct decoder *decoder = &walk->decoder;
	int result = 0;

	pieces_fetch(&walk->reader->pieces, piece, &walk->bytes, false);
	decoder_begin(decoder, piece, &walk->bytes);
	while (!result && decoder->at < walk->bytes.end && !decoder->fault) {
		const uint8_t *end = step_record(decoder->at, walk->bytes.end);

		if (!end)
			break;
		result = give(walk, piece, end);
	}
	return result;
}

static unsigned class_of(const struct piece *piece)
{
	return piece->kind == TRACE_PIECE_HEADER ? TRACE_RECORDS_HEADER :
	       piece->kind == TRACE_PIECE_EVENTS ? TRACE_RECORDS_LANES :
						   TRACE_RECORDS_OUTSIDE;
}

int trace_each_record(struct trace *trace, unsigned which, trace_take_record take, void *context)
{
	struct reader *reader = reader_of(trace);
	struct walk *walk = memory_zeroed(1, sizeof(*walk));
	int result = 0;

	walk->reader = reader;
	walk->take = take;
	walk->context = context;
	decoder_init(&walk->decoder, reader);
	for (size_t i = 0; i < reader->pieces.count && !result; i++)
		if (class_of(&reader->pieces.items[i]) & which)
			result = walk_piece(walk, &reader->pieces.items[i]);
	decoder_release(&walk->decoder);
	piece_bytes_release(&walk->bytes);
	free(walk);
	return result;
}
