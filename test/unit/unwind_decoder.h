/*
 * The reader's side of stack deltas, written from trace_format.h alone: what the
 * unwinder's tests hold its captures against.
 */
#ifndef TEST_UNWIND_DECODER_H
#define TEST_UNWIND_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include "memprof/trace_format.h"
#include "unwind.h"

#define DECODER_FRAMES_MAX 9000
#define DECODER_DEPTH 256 /* frames kept of a stack */

/* Outermost first, marks included (values below TRACE_PC_FIRST). */
struct decoded_stack {
	uint32_t count;
	uint64_t *pcs;
};

struct decoder {
	struct decoded_stack walked;
	struct decoded_stack cache[TRACE_CACHE_SLOTS];
	unsigned last;
	bool failed;
};

/* Program counters by id, as told by PC records; shared by all decoders. */
void decoder_take_fresh_places(void);
uint32_t decoder_place_flags(uint64_t pc);

void decoder_reset(struct decoder *decoder);
void decoder_release(struct decoder *decoder);

/*
 * Encodes @delta with stack_delta_store, decodes the bytes. Gives the stack
 * innermost first at @pcs, its end mark (0: none) in *@mark; returns its number of
 * frames without the mark, or -1.
 */
int decoder_take(struct decoder *decoder, const struct stack_delta *delta, uint64_t *pcs,
		 unsigned *mark);

#endif
