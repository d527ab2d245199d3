/*
 * What is known of one module's addresses, as one block of memory without
 * pointers: it goes through a pipe from the process that reads debug
 * information, it lies in the cache folder, and it is what the front looks
 * addresses up in. Built once by an answer_builder, never changed afterwards.
 *
 *	header | addresses | witnesses | frames | chain | first | members | strings
 *
 * Places share most of what is said of them: ten instructions of one line have
 * one chain of frames, and a hundred chains end in the same callers. So address
 * i has the chain chain[i]; chain c is the frames members[first[c]] up to
 * members[first[c + 1] - 1], innermost first. A string is an offset into the
 * strings; 0 is the empty one: not known.
 */
#ifndef ANALYZER_SYMBOLIZE_SYMBOL_ANSWER_H
#define ANALYZER_SYMBOLIZE_SYMBOL_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer_frame {
	uint32_t function;     /* demangled */
	uint32_t linkage_name;
	uint32_t file;
	uint32_t line;         /* ANSWER_INLINED set: inlined into the frame that follows */
};
#define ANSWER_INLINED 0x80000000u

/* A file that was looked at, or for: the answer holds while all of them are as
 * they were. */
struct answer_witness {
	uint64_t bytes;        /* UINT64_MAX: there was none */
	uint64_t mtime_ns;
	uint32_t path;
	uint32_t zero;
};

struct answer_header {
	char magic[8];
	uint64_t checksum;     /* of everything behind this field */
	uint64_t bytes;        /* of the whole block */
	uint32_t address_count, witness_count, frame_count, chain_count, member_count;
	uint32_t string_bytes;
	uint32_t source;       /* enum symbolizer_source */
	uint32_t file, words;  /* strings of the module's report */
	uint32_t zero;
};

struct symbol_answer {
	const struct answer_header *header;
	const uint64_t *addresses;  /* in the file's terms, ascending, each once */
	const struct answer_witness *witnesses;
	const struct answer_frame *frames;
	const uint32_t *chain, *first, *members;
	const char *strings;
};

/* Makes @answer a view of @block after checking every count and offset in it.
 * The block must outlive the view and be aligned to 8. */
bool symbol_answer_open(struct symbol_answer *answer, const void *block, size_t bytes);

/* The index of @address, or SIZE_MAX. */
size_t symbol_answer_find(const struct symbol_answer *answer, uint64_t address);

/* Numbers of things that were put in already, found by content. */
struct answer_index {
	struct answer_slot {
		uint32_t hash, value;  /* value: number + 1; 0 = free */
	} *slots;
	size_t size, used;
};

/*
 * Collects frames, address after address in ascending order, and packs them. A
 * builder without memory remembers that (`failed`), takes nothing more and does
 * not pack.
 */
struct answer_builder {
	uint64_t *addresses;
	size_t address_count, address_room;
	struct answer_witness *witnesses;
	size_t witness_count, witness_room;
	struct answer_frame *frames;
	size_t frame_count, frame_room;
	uint32_t *chain;
	size_t chain_slots_count, chain_slots_room;  /* of chain: one per address */
	uint32_t *first;
	size_t chain_count, first_room;
	uint32_t *members;
	size_t member_count, member_room;
	size_t open_chain;             /* members from here on are the last address's */
	char *strings;
	size_t string_bytes, string_room;
	struct answer_index string_index, frame_index, chain_index;
	bool failed;
};

void answer_builder_init(struct answer_builder *builder);
void answer_builder_release(struct answer_builder *builder);

/* The offset of @string (NULL = 0), the same for equal strings. */
uint32_t answer_builder_intern(struct answer_builder *builder, const char *string);

/* The frames that follow are those of @address. */
void answer_builder_address(struct answer_builder *builder, uint64_t address);
void answer_builder_frame(struct answer_builder *builder, const struct answer_frame *frame);

/* Notes how @path is at this moment. */
void answer_builder_witness(struct answer_builder *builder, const char *path);

/* Copies one address of another answer. */
void answer_builder_copy(struct answer_builder *builder, const struct symbol_answer *from,
			 size_t index);

/* Packs it all into one block, which the caller frees. NULL: no memory. */
void *answer_builder_pack(struct answer_builder *builder, uint32_t source, const char *file,
			  const char *words, size_t *bytes);

/* Makes the checksum of a block right, for tests that change one. */
void symbol_answer_seal(void *block, size_t bytes);

/* Are all files still as they were when the answer was made? */
bool symbol_answer_is_current(const struct symbol_answer *answer);

#endif
