/*
 * The mirror of the library's encoder: turns the records of one piece into
 * events of 32 bytes, in the order of the lane, unmatched. What isn't an event
 * has been read by facts.c and is passed over here, but for what changes the
 * decoder's state.
 */
#ifndef ANALYZER_TRACE_DECODER_H
#define ANALYZER_TRACE_DECODER_H

#include "trace/pieces.h"
#include "trace/reader.h"

enum raw_kind { RAW_ALLOCATE = 1, RAW_FREE = 2, RAW_MAP = 3 };

struct raw_event {
	uint64_t time;         /* units */
	uint64_t address;      /* RAW_MAP: index into decoder.maps */
	uint64_t size;
	uint32_t origin;       /* ALLOCATE, MAP: stack and context; FREE: of the call */
	uint8_t kind;          /* enum raw_kind */
	uint8_t flags;         /* TRACE_EVENT_TEMPORARY (as noted), TRACE_EVENT_REALLOC */
	uint16_t unused;
};

struct raw_map {
	uint64_t address, bytes, old_address, old_bytes, flags;
	enum trace_map_op op;
};

struct decoder_slot {
	uint64_t size;         /* the last one */
	uint32_t stack;
	uint32_t origin;       /* of that stack in the present context, 0 = not made */
};

struct decoder {
	struct reader *reader;
	const uint8_t *at, *begin, *end;
	uint32_t piece;        /* index in reader.pieces */
	const char *fault;     /* why decoding ended before the end, NULL = it didn't */

	uint64_t clock, last_rotated;
	uint64_t rate;
	uint32_t thread, context;
	uint32_t last_slot, depth;
	uint32_t free_origin;  /* of the FREE to come, 0 = none told */
	uint32_t plain_origin; /* the empty stack in the present context */
	uint16_t scopes[64];   /* open ones; deeper ones are counted only */
	unsigned scope_depth;
	uint32_t *walked;      /* nodes, by depth; 0: the empty stack */
	uint32_t walked_room;

	struct raw_map *maps;  /* of the last batch */
	size_t map_count;
	uint64_t stack_checks, stack_mismatches, totals_mismatches;
	uint64_t piece_allocations, piece_frees;
	uint32_t last_stack;   /* of the last record that bore one */

	uint64_t addresses[TRACE_ADDRESS_SLOTS];
	struct decoder_slot cache[TRACE_CACHE_SLOTS];
};

void decoder_init(struct decoder *decoder, struct reader *reader);
void decoder_release(struct decoder *decoder);

/* Begins @piece, whose records are in @bytes until the decoder is done. */
void decoder_begin(struct decoder *decoder, const struct piece *piece,
		   const struct piece_bytes *bytes);

/* Decodes on, at most @room events (at least 2). 0: the piece is at its end, or
 * decoder->fault says what is wrong at decoder->at. */
size_t decoder_next(struct decoder *decoder, struct raw_event *events, size_t room);

#endif
