/*
 * See decoder.h. The fields of an ordinary record are read without looking at
 * the end: PIECE_PADDING bytes of zeros lie behind the piece, more than such a
 * record can be long; one comparison behind the record says whether it was
 * whole. Only the frames of a stack, of which there can be many, look at the
 * end one by one.
 */
#include "trace/decoder.h"

#include "util/cursor.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define unlikely(x) __builtin_expect(!!(x), 0)

static const char CUT_SHORT[] = "the piece ends within a record";

void decoder_init(struct decoder *decoder, struct reader *reader)
{
	memset(decoder, 0, sizeof(*decoder));
	decoder->reader = reader;
	decoder->walked_room = 256;
	decoder->walked = memory_zeroed(decoder->walked_room, sizeof(*decoder->walked));
}

void decoder_release(struct decoder *decoder)
{
	free(decoder->walked);
	free(decoder->maps);
	decoder->walked = NULL;
	decoder->maps = NULL;
}

/* ---- state ---- */

static void set_context(struct decoder *decoder)
{
	unsigned depth = decoder->scope_depth;
	uint16_t scope = depth ? decoder->scopes[(depth < 64 ? depth : 64) - 1] : 0;
	struct stacks *stacks = &decoder->reader->stacks;
	uint32_t context = stacks_context(stacks, decoder->thread, scope, decoder->rate);

	if (context == decoder->context)
		return;
	decoder->context = context;
	decoder->plain_origin = stacks_origin(stacks, 0, context);
	for (unsigned i = 0; i < TRACE_CACHE_SLOTS; i++)
		decoder->cache[i].origin = 0;
}

static void restart(struct decoder *decoder)
{
	memset(decoder->addresses, 0, sizeof(decoder->addresses));
	memset(decoder->cache, 0, sizeof(decoder->cache));
	decoder->last_rotated = 0;
	decoder->last_slot = 0;
	decoder->depth = 0;
	decoder->free_origin = 0;
	decoder->scope_depth = 0;
	decoder->rate = decoder->reader->rate;
	decoder->context = UINT32_MAX;
	set_context(decoder);
}

void decoder_begin(struct decoder *decoder, const struct piece *piece,
		   const struct piece_bytes *bytes)
{
	decoder->piece = (uint32_t)(piece - decoder->reader->pieces.items);
	decoder->begin = decoder->at = bytes->records;
	decoder->end = bytes->end;
	decoder->fault = NULL;
	decoder->clock = piece->ticks >> TRACE_TIME_SHIFT;
	decoder->thread = piece->thread;
	decoder->piece_allocations = decoder->piece_frees = 0;
	decoder->last_stack = 0;
	restart(decoder);
}

/* ---- stacks ---- */

static inline const uint8_t *load(const uint8_t *at, uint64_t *value)
{
	uint64_t word;
	unsigned bytes;

	memcpy(&word, at, 8);
	if (unlikely(!(word & 0xff))) {
		memcpy(value, at + 1, 8);
		return at + 9;
	}
	bytes = (unsigned)__builtin_ctzll(word) + 1;
	*value = word >> bytes & (~0ull >> (64 - 7 * bytes));
	return at + bytes;
}

static uint32_t mark_pc(uint64_t mark)
{
	return mark == TRACE_FRAME_CUT ? TRACE_STACK_PC_CUT : TRACE_STACK_PC_LOST;
}

static inline const uint8_t *load_frame(struct decoder *decoder, const uint8_t *at, uint32_t *pc)
{
	struct reader *reader = decoder->reader;
	uint64_t id;

	at = load(at, &id);
	if (__builtin_expect(id >= TRACE_PC_FIRST && id < reader->pc_low_ids, 1)) {
		*pc = reader->pc_of_low_id[id];
		if (unlikely(*pc == HASH_MAP_NONE))
			*pc = reader_pc(reader, id);
	} else if (id == TRACE_FRAME_LITERAL) {
		memcpy(&id, at, 8);
		at += 8;
		*pc = reader_literal_pc(reader, id, decoder->clock);
	} else {
		*pc = id < TRACE_PC_FIRST ? mark_pc(id) : reader_pc(reader, id);
	}
	return at;
}

static const uint8_t *broken(struct decoder *decoder, const char *words)
{
	decoder->fault = words;
	return NULL;
}

static void make_walked_room(struct decoder *decoder, uint64_t depth)
{
	while (decoder->walked_room <= depth)
		decoder->walked_room *= 2;
	decoder->walked = memory_resize(decoder->walked, decoder->walked_room,
					sizeof(*decoder->walked));
}

/*
 * The walked stack can be deeper than what is kept of one: what is meant then are its
 * inner frames, and that it was cut. Looked up once for each of them.
 */
static uint32_t kept_of(struct decoder *decoder, uint32_t walked)
{
	struct stacks *stacks = &decoder->reader->stacks;
	uint32_t kept = hash_map_get(&stacks->kept_of, walked);

	if (kept != HASH_MAP_NONE)
		return kept;
	kept = stacks_node(stacks, 0, TRACE_STACK_PC_CUT);
	for (uint32_t i = decoder->depth - decoder->reader->depth + 1; i <= decoder->depth; i++)
		kept = stacks_node(stacks, kept, stacks->nodes[decoder->walked[i]].pc);
	hash_map_set(&stacks->kept_of, walked, kept);
	return kept;
}

static bool is_marked(const struct decoder *decoder)
{
	return decoder->reader->stacks.nodes[decoder->walked[1]].pc >= TRACE_STACK_PC_CUT;
}

/* Fills a cache slot with the walked stack as it is after popping and pushing. */
static const uint8_t *load_delta(struct decoder *decoder, const uint8_t *at, uint32_t *number)
{
	struct stacks *stacks = &decoder->reader->stacks;
	uint64_t popped, pushed;
	uint32_t depth, node;
	struct decoder_slot *slot;

	*number = *at++;
	at = load(at, &popped);
	at = load(at, &pushed);
	if (unlikely(popped > decoder->depth))
		return broken(decoder, "a stack gives up more frames than it has");
	if (unlikely(at > decoder->end || pushed > (uint64_t)(decoder->end - at)))
		return broken(decoder, CUT_SHORT);
	depth = decoder->depth - (uint32_t)popped;
	if (unlikely(depth + pushed >= decoder->walked_room))
		make_walked_room(decoder, depth + pushed);
	node = decoder->walked[depth];
	while (pushed--) {
		uint32_t pc;

		if (unlikely(at >= decoder->end))
			return broken(decoder, CUT_SHORT);
		at = load_frame(decoder, at, &pc);
		node = stacks_node(stacks, node, pc);
		decoder->walked[++depth] = node;
	}
	decoder->depth = depth;
	if (unlikely(depth > decoder->reader->depth) &&
	    depth - is_marked(decoder) > decoder->reader->depth)
		node = kept_of(decoder, node);
	slot = &decoder->cache[*number];
	slot->stack = node;
	slot->size = 0;
	slot->origin = stacks_origin(stacks, node, decoder->context);
	return at;
}

static const uint8_t *load_none(struct decoder *decoder, const uint8_t *at, uint32_t *origin)
{
	static const uint32_t pcs[] = {
		[TRACE_NO_STACK_ASKED] = TRACE_STACK_PC_NOT_ASKED,
		[TRACE_NO_STACK_BUSY] = TRACE_STACK_PC_BUSY,
		[TRACE_NO_STACK_FAILED] = TRACE_STACK_PC_FAILED,
	};
	struct stacks *stacks = &decoder->reader->stacks;
	uint32_t why = *at++, node;

	node = stacks_node(stacks, 0, pcs[why < 3 ? why : TRACE_NO_STACK_FAILED]);
	*origin = stacks_origin(stacks, node, decoder->context);
	return at;
}

static inline uint32_t slot_origin(struct decoder *decoder, struct decoder_slot *slot)
{
	if (unlikely(!slot->origin))
		slot->origin = stacks_origin(&decoder->reader->stacks, slot->stack,
					     decoder->context);
	return slot->origin;
}

/*
 * Reads a stack of @mode. *@slot is the cache slot it stands for, NULL when it
 * has none (mode NONE).
 */
static inline const uint8_t *load_stack(struct decoder *decoder, const uint8_t *at, unsigned mode,
					uint32_t *origin, struct decoder_slot **slot)
{
	uint32_t number = decoder->last_slot;

	if (mode == TRACE_STACK_NONE) {
		*slot = NULL;
		return load_none(decoder, at, origin);
	}
	if (mode == TRACE_STACK_CACHED)
		number = *at++;
	else if (mode == TRACE_STACK_DELTA)
		at = load_delta(decoder, at, &number);
	if (unlikely(!at))
		return NULL;
	decoder->last_slot = number;
	*slot = &decoder->cache[number];
	*origin = slot_origin(decoder, *slot);
	return at;
}

/* ---- extended records ---- */

/* A stack inside of an extended record: u8 mode, then the stack. */
static uint32_t payload_stack(struct decoder *decoder, struct cursor *payload)
{
	struct decoder_slot *slot;
	uint32_t origin = decoder->plain_origin;
	uint8_t mode = cursor_u8(payload);
	const uint8_t *at;

	if (payload->is_broken || mode > TRACE_STACK_NONE) {
		broken(decoder, "the stack of an extended record is damaged");
		return origin;
	}
	at = load_stack(decoder, payload->at, mode, &origin, &slot);
	if (!at)
		return origin;
	if (at > payload->end)
		broken(decoder, CUT_SHORT);
	else
		payload->at = at;
	return origin;
}

static bool take_map(struct decoder *decoder, struct cursor *payload, struct raw_event *event)
{
	struct raw_map map = {.op = cursor_u8(payload)};

	map.address = cursor_varint(payload);
	map.bytes = cursor_varint(payload);
	map.old_address = cursor_varint(payload);
	map.old_bytes = cursor_varint(payload);
	cursor_varint(payload); /* protection */
	map.flags = cursor_varint(payload);
	cursor_varint(payload); /* descriptor + 1 */
	cursor_varint(payload); /* offset */
	*event = (struct raw_event){.kind = RAW_MAP, .time = decoder->clock,
				    .address = decoder->map_count};
	event->origin = payload_stack(decoder, payload);
	if (decoder->fault || payload->is_broken)
		return false;
	decoder->last_stack = decoder->reader->stacks.origins[event->origin].stack;
	MEMORY_ROOM(decoder->maps, decoder->map_count);
	decoder->maps[decoder->map_count++] = map;
	return true;
}

static void begin_scope(struct decoder *decoder, struct cursor *payload)
{
	size_t bytes;
	const uint8_t *name = cursor_string(payload, &bytes);

	if (payload->is_broken)
		return;
	if (decoder->scope_depth < 64)
		decoder->scopes[decoder->scope_depth] =
			reader_scope(decoder->reader, name, bytes);
	decoder->scope_depth++;
	set_context(decoder);
}

/* Compares the last stack with the sum that another unwinder made of its own. */
static void check_stack(struct decoder *decoder, struct cursor *payload)
{
	const struct reader *reader = decoder->reader;
	uint64_t frames[4096], told = cursor_u64(payload);
	uint32_t node = decoder->last_stack;
	unsigned count = 0;

	for (; node && count < 4096; node = reader->stacks.nodes[node].parent) {
		uint32_t pc = reader->stacks.nodes[node].pc;

		if (pc < TRACE_STACK_PC_CUT)
			frames[count++] = reader->trace.pcs[pc].address;
	}
	decoder->stack_checks++;
	if (payload->is_broken || XXH3_64bits(frames, count * sizeof(*frames)) != told)
		decoder->stack_mismatches++;
}

static void check_totals(struct decoder *decoder, struct cursor *payload)
{
	uint64_t allocations = cursor_varint(payload), frees = cursor_varint(payload);

	if (payload->is_broken || allocations != decoder->piece_allocations ||
	    frees != decoder->piece_frees)
		decoder->totals_mismatches++;
}

/* What changes the state; the rest is facts.c's. true: *@event is an event. */
static bool take_extended(struct decoder *decoder, uint64_t kind, struct cursor *payload,
			  struct raw_event *event)
{
	switch (kind) {
	case TRACE_KIND_MAP:
		return take_map(decoder, payload, event);
	case TRACE_KIND_THREAD_BEGIN:
		decoder->thread = reader_next_thread(decoder->reader, decoder->thread,
						     decoder->piece,
						     (uint32_t)(payload->end - decoder->begin));
		set_context(decoder);
		break;
	case TRACE_KIND_RATE:
		decoder->rate = cursor_varint(payload);
		set_context(decoder);
		break;
	case TRACE_KIND_RESTART:
		restart(decoder);
		break;
	case TRACE_KIND_SCOPE_BEGIN:
		begin_scope(decoder, payload);
		break;
	case TRACE_KIND_SCOPE_END:
		decoder->scope_depth -= decoder->scope_depth > 0;
		set_context(decoder);
		break;
	case TRACE_KIND_FREE_STACK:
		decoder->free_origin = payload_stack(decoder, payload);
		break;
	case TRACE_KIND_STACK_CHECK:
		check_stack(decoder, payload);
		break;
	case TRACE_KIND_LANE_TOTALS:
		check_totals(decoder, payload);
		break;
	default:
		break;
	}
	return false;
}

/* Reads an extended record behind its tag and time. Returns what follows it,
 * NULL when it is damaged. */
static const uint8_t *load_extended(struct decoder *decoder, const uint8_t *at,
				    struct raw_event *event, bool *is_event)
{
	struct cursor payload;
	uint64_t kind, length;

	*is_event = false;
	at = load(at, &kind);
	at = load(at, &length);
	if (at > decoder->end || length > (uint64_t)(decoder->end - at))
		return broken(decoder, CUT_SHORT);
	payload = (struct cursor){.at = at, .end = at + length};
	*is_event = take_extended(decoder, kind, &payload, event);
	return decoder->fault ? NULL : at + length;
}

/* ---- ordinary records ---- */

/* An address becomes the last one and goes into the table. */
static inline uint64_t keep_address(struct decoder *decoder, uint64_t rotated)
{
	uint64_t address = trace_unrotate(rotated);

	decoder->last_rotated = rotated;
	decoder->addresses[trace_address_slot(address)] = address;
	return address;
}

size_t decoder_next(struct decoder *decoder, struct raw_event *events, size_t room)
{
	const uint8_t *at = decoder->at, *end = decoder->end, *record = at;
	struct raw_event *event = events, *last = events + room - 1;
	uint64_t allocations = decoder->piece_allocations, frees = decoder->piece_frees;

	decoder->map_count = 0;
	while (at < end && event < last) {
		struct decoder_slot *slot;
		uint64_t value, rotated;
		unsigned mode;
		uint8_t tag;

		record = at;
		tag = *at++;
		if (tag & TRACE_TAG_TIME) {
			at = load(at, &value);
			decoder->clock += value;
		}
		if (unlikely((tag & TRACE_OP_MASK) == TRACE_OP_EXTENDED)) {
			bool is_event;

			decoder->piece_allocations = allocations;
			decoder->piece_frees = frees;
			at = load_extended(decoder, at, event, &is_event);
			if (!at)
				break;
			event += is_event;
			continue;
		}
		event->flags = 0;
		event->time = decoder->clock;
		if (unlikely(tag & TRACE_TAG_NOTED))
			event->flags = *at++ & TRACE_NOTE_TEMPORARY;
		if (tag & TRACE_TAG_KNOWN) {
			rotated = trace_rotate(decoder->addresses[*at++]);
		} else {
			at = load(at, &value);
			rotated = decoder->last_rotated + (uint64_t)unzigzag(value);
		}
		event->address = keep_address(decoder, rotated);
		if ((tag & TRACE_OP_MASK) != TRACE_OP_ALLOCATE) {
			event->kind = RAW_FREE;
			event->size = 0;
			event->origin = decoder->free_origin ? decoder->free_origin :
							       decoder->plain_origin;
			decoder->free_origin = 0;
			if ((tag & TRACE_OP_MASK) == TRACE_OP_FREE) {
				if (unlikely(at > end))
					break;
				frees++;
				event++;
				continue;
			}
			event->flags |= TRACE_EVENT_REALLOC;
			at = load(at, &value);
			event[1].flags = TRACE_EVENT_REALLOC;
			event[1].time = decoder->clock;
			event[1].address = keep_address(decoder,
							rotated + (uint64_t)unzigzag(value));
			event++;
		}
		event->kind = RAW_ALLOCATE;
		value = 0;
		if (!(tag & TRACE_TAG_SAME_SIZE))
			at = load(at, &value);
		mode = tag >> TRACE_TAG_STACK_SHIFT & 3;
		at = load_stack(decoder, at, mode, &event->origin, &slot);
		if (unlikely(!at || at > end)) {
			event -= (tag & TRACE_OP_MASK) == TRACE_OP_REALLOCATE;
			break;
		}
		if (slot) {
			if (tag & TRACE_TAG_SAME_SIZE)
				value = slot->size;
			slot->size = value;
		}
		event->size = value;
		allocations++;
		frees += (tag & TRACE_OP_MASK) == TRACE_OP_REALLOCATE;
		decoder->last_stack = slot ? slot->stack : 0;
		event++;
	}
	decoder->piece_allocations = allocations;
	decoder->piece_frees = frees;
	if (unlikely(decoder->fault || !at || at > end)) {
		if (!decoder->fault)
			decoder->fault = CUT_SHORT;
		decoder->at = record;
		decoder->end = record; /* nothing more comes out of this piece */
	} else {
		decoder->at = at;
	}
	return (size_t)(event - events);
}
