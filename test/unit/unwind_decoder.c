#include "unwind_decoder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "memprof/varint.h"

#define PLACES_MAX (1u << 20)

static uint64_t places[PLACES_MAX];
static uint8_t place_flags[PLACES_MAX];
static uint32_t places_end;

void decoder_take_fresh_places(void)
{
	struct pc_entry entry;

	while (pc_table_has_fresh() && pc_table_take_fresh(&entry)) {
		if (entry.id >= PLACES_MAX || entry.id < TRACE_PC_FIRST || places[entry.id])
			abort(); /* an id has one place for ever */
		place_flags[entry.id] = (uint8_t)entry.flags;
		__atomic_store_n(&places[entry.id], entry.pc, __ATOMIC_RELEASE);
		if (entry.id >= places_end)
			places_end = entry.id + 1;
	}
}

uint32_t decoder_place_flags(uint64_t pc)
{
	for (uint32_t i = places_end; i-- > 0;) {
		if (places[i] == pc)
			return place_flags[i];
	}
	return 0;
}

void decoder_reset(struct decoder *decoder)
{
	decoder->walked.count = 0;
	for (unsigned i = 0; i < TRACE_CACHE_SLOTS; i++)
		decoder->cache[i].count = 0;
	decoder->last = 0;
}

void decoder_release(struct decoder *decoder)
{
	free(decoder->walked.pcs);
	for (unsigned i = 0; i < TRACE_CACHE_SLOTS; i++)
		free(decoder->cache[i].pcs);
	memset(decoder, 0, sizeof(*decoder));
}

static void stack_copy(struct decoded_stack *to, const struct decoded_stack *from)
{
	to->pcs = realloc(to->pcs, (from->count + 1) * sizeof(uint64_t));
	memcpy(to->pcs, from->pcs, from->count * sizeof(uint64_t));
	to->count = from->count;
}

static uint64_t next_number(const uint8_t **at, const uint8_t *end, struct decoder *decoder)
{
	uint64_t value = 0;
	const uint8_t *next = *at ? varint_load(*at, end, &value) : NULL;

	*at = next;
	decoder->failed |= !next;
	return value;
}

static uint64_t next_frame(const uint8_t **at, const uint8_t *end, struct decoder *decoder)
{
	uint64_t id = next_number(at, end, decoder), pc;

	if (id == TRACE_FRAME_LITERAL && *at && end - *at >= 8) {
		memcpy(&pc, *at, 8);
		*at += 8;
		return pc;
	}
	if (id < TRACE_PC_FIRST)
		return id;
	/* Another thread may be about to say it. */
	for (unsigned i = 0; i < 100000000 && id < PLACES_MAX; i++) {
		pc = __atomic_load_n(&places[id], __ATOMIC_ACQUIRE);
		if (pc)
			return pc;
	}
	decoder->failed = true;
	return 0;
}

static void decode_delta(struct decoder *decoder, const uint8_t *at, const uint8_t *end)
{
	struct decoded_stack *walked = &decoder->walked;
	uint8_t slot = *at++;
	uint64_t popped = next_number(&at, end, decoder), pushed = next_number(&at, end, decoder);

	if (decoder->failed || popped > walked->count ||
	    walked->count - popped + pushed > DECODER_FRAMES_MAX) {
		decoder->failed = true;
		return;
	}
	if (!walked->pcs)
		walked->pcs = malloc(DECODER_FRAMES_MAX * sizeof(uint64_t));
	walked->count -= (uint32_t)popped;
	for (uint64_t i = 0; i < pushed; i++)
		walked->pcs[walked->count++] = next_frame(&at, end, decoder);
	decoder->failed |= at != end;
	stack_copy(&decoder->cache[slot], walked);
	decoder->last = slot;
}

int decoder_take(struct decoder *decoder, const struct stack_delta *delta, uint64_t *pcs,
		 unsigned *mark)
{
	static __thread uint8_t bytes[32 + 17 * DECODER_FRAMES_MAX];
	uint8_t *end = stack_delta_store(delta, bytes, bytes + sizeof(bytes));
	const struct decoded_stack *stack;
	uint32_t first = 0;

	*mark = 0;
	if (!end || decoder->failed || delta->mode == TRACE_STACK_NONE)
		return -1;
	if (delta->mode == TRACE_STACK_DELTA)
		decode_delta(decoder, bytes, end);
	else if (delta->mode == TRACE_STACK_CACHED)
		decoder->last = bytes[0];
	if (decoder->failed || decoder->last != delta->slot)
		return -1;
	stack = &decoder->cache[decoder->last];
	if (stack->count && stack->pcs[0] < TRACE_PC_FIRST)
		*mark = (unsigned)stack->pcs[first++];
	/* Deeper than what is kept: the inner frames are meant. */
	if (stack->count - first > DECODER_DEPTH) {
		*mark = TRACE_FRAME_CUT;
		first = stack->count - DECODER_DEPTH;
	}
	for (uint32_t i = first; i < stack->count; i++) {
		if (stack->pcs[i] < TRACE_PC_FIRST)
			return -1; /* marks stand at the outer end only */
		pcs[stack->count - 1 - i] = stack->pcs[i];
	}
	return (int)(stack->count - first);
}
