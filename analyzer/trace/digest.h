/*
 * The facts of a trace without its events: what facts.c reads of each piece, one
 * piece after the other, so that a second reading need not step over the events
 * in between.
 */
#ifndef ANALYZER_TRACE_DIGEST_H
#define ANALYZER_TRACE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Events that lie between two records that are kept. */
struct digest_counts {
	uint64_t allocations, frees, reallocations, maps;
};

struct digest_entry {
	uint64_t clock;        /* units, at the record */
	struct digest_counts counts;
	uint32_t record_end;   /* where the record ends in its piece */
	uint32_t kind;         /* enum trace_kind; 0: the end of the piece */
	uint64_t bytes;        /* of the payload */
};

/* All zero is empty, and what is added is kept. */
struct digest {
	uint8_t *bytes;        /* the digest's own */
	size_t count, room, at;
	bool is_told;          /* it comes from an earlier reading: to be read, not added to */
	bool is_off;           /* nothing is kept */
};

void digest_add(struct digest *digest, const struct digest_entry *entry, const uint8_t *payload);
/* The next entry, with its payload in place. false: there is no more. */
bool digest_next(struct digest *digest, struct digest_entry *entry, const uint8_t **payload);
/* Puts @bytes of an earlier digest in, which become the digest's own. */
void digest_tell(struct digest *digest, uint8_t *bytes, size_t count);
void digest_release(struct digest *digest);

#endif
