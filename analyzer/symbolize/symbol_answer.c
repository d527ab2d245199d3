/*
 * See symbol_answer.h. A block may come out of a cache file that anybody can
 * have damaged, or from a process that was fed with a hostile program: the
 * checks in symbol_answer_open are what everything else relies on.
 */
#include "symbolize/symbol_answer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char answer_magic[8] = "MPAnsw2";

#define CHECKSUM_FROM (offsetof(struct answer_header, checksum) + 8)

static uint64_t block_checksum(const void *block, size_t bytes)
{
	return XXH3_64bits((const char *)block + CHECKSUM_FROM, bytes - CHECKSUM_FROM);
}

void symbol_answer_seal(void *block, size_t bytes)
{
	struct answer_header *header = block;

	if (bytes >= sizeof(*header))
		header->checksum = block_checksum(block, bytes);
}

/* Where the parts of a block begin, and how long it is in all. */
struct layout {
	uint64_t addresses, witnesses, frames, chain, first, members, strings, end;
};

static uint64_t align8(uint64_t value)
{
	return (value + 7) & ~7ull;
}

static struct layout layout_of(const struct answer_header *header)
{
	struct layout at;

	at.addresses = sizeof(*header);
	at.witnesses = at.addresses + 8ull * header->address_count;
	at.frames = at.witnesses + sizeof(struct answer_witness) * (uint64_t)header->witness_count;
	at.chain = at.frames + sizeof(struct answer_frame) * (uint64_t)header->frame_count;
	at.first = at.chain + 4ull * header->address_count;
	at.members = at.first + 4ull * ((uint64_t)header->chain_count + 1);
	at.strings = at.members + 4ull * header->member_count;
	at.end = align8(at.strings + header->string_bytes);
	return at;
}

static bool strings_are_sound(const struct symbol_answer *answer)
{
	const struct answer_header *header = answer->header;
	uint32_t limit = header->string_bytes;

	for (uint32_t i = 0; i < header->frame_count; i++) {
		const struct answer_frame *frame = &answer->frames[i];

		if (frame->function >= limit || frame->linkage_name >= limit ||
		    frame->file >= limit)
			return false;
	}
	for (uint32_t i = 0; i < header->witness_count; i++)
		if (answer->witnesses[i].path >= limit)
			return false;
	return header->file < limit && header->words < limit && answer->strings[0] == 0 &&
	       answer->strings[limit - 1] == 0;
}

static bool chains_are_sound(const struct symbol_answer *answer)
{
	const struct answer_header *header = answer->header;

	for (uint32_t i = 0; i < header->chain_count; i++)
		if (answer->first[i] >= answer->first[i + 1])
			return false;
	for (uint32_t i = 0; i < header->member_count; i++)
		if (answer->members[i] >= header->frame_count)
			return false;
	return answer->first[0] == 0 && answer->first[header->chain_count] == header->member_count;
}

static bool addresses_are_sound(const struct symbol_answer *answer)
{
	const struct answer_header *header = answer->header;

	for (uint32_t i = 0; i < header->address_count; i++) {
		if (answer->chain[i] >= header->chain_count)
			return false;
		if (i && answer->addresses[i - 1] >= answer->addresses[i])
			return false;
	}
	return true;
}

bool symbol_answer_open(struct symbol_answer *answer, const void *block, size_t bytes)
{
	const struct answer_header *header = block;
	const char *base = block;
	struct layout at;

	if (bytes < sizeof(*header) || memcmp(header->magic, answer_magic, 8) ||
	    header->bytes != bytes)
		return false;
	at = layout_of(header);
	if (at.end != bytes || !header->string_bytes ||
	    header->checksum != block_checksum(block, bytes))
		return false;
	answer->header = header;
	answer->addresses = (const uint64_t *)(base + at.addresses);
	answer->witnesses = (const struct answer_witness *)(base + at.witnesses);
	answer->frames = (const struct answer_frame *)(base + at.frames);
	answer->chain = (const uint32_t *)(base + at.chain);
	answer->first = (const uint32_t *)(base + at.first);
	answer->members = (const uint32_t *)(base + at.members);
	answer->strings = base + at.strings;
	return strings_are_sound(answer) && chains_are_sound(answer) && addresses_are_sound(answer);
}

size_t symbol_answer_find(const struct symbol_answer *answer, uint64_t address)
{
	size_t low = 0, high = answer->header->address_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (answer->addresses[middle] == address)
			return middle;
		if (answer->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

static struct answer_witness look_at(const char *path)
{
	struct answer_witness witness = { .bytes = UINT64_MAX };
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		witness.bytes = (uint64_t)st.st_size;
		witness.mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000ull +
				   (uint64_t)st.st_mtim.tv_nsec;
	}
	return witness;
}

bool symbol_answer_is_current(const struct symbol_answer *answer)
{
	for (uint32_t i = 0; i < answer->header->witness_count; i++) {
		const struct answer_witness *then = &answer->witnesses[i];
		struct answer_witness now = look_at(answer->strings + then->path);

		if (now.bytes != then->bytes || now.mtime_ns != then->mtime_ns)
			return false;
	}
	return true;
}

/* ---- building ------------------------------------------------------------ */

void answer_builder_init(struct answer_builder *builder)
{
	memset(builder, 0, sizeof(*builder));
}

void answer_builder_release(struct answer_builder *builder)
{
	free(builder->addresses);
	free(builder->witnesses);
	free(builder->frames);
	free(builder->chain);
	free(builder->first);
	free(builder->members);
	free(builder->strings);
	free(builder->string_index.slots);
	free(builder->frame_index.slots);
	free(builder->chain_index.slots);
	answer_builder_init(builder);
}

/* Makes room for @more elements behind @count. */
static bool grow(struct answer_builder *builder, void **elements, size_t *room, size_t count,
		 size_t more, size_t element_bytes)
{
	size_t wanted = *room ? *room : 64;
	void *bigger;

	if (builder->failed)
		return false;
	if (*elements && count + more <= *room)
		return true;
	while (wanted < count + more)
		wanted *= 2;
	bigger = wanted > UINT32_MAX ? NULL : realloc(*elements, wanted * element_bytes);
	if (!bigger) {
		builder->failed = true;
		return false;
	}
	*elements = bigger;
	*room = wanted;
	return true;
}

#define GROW(builder, array, room, count, more)                                                    \
	grow(builder, (void **)&(builder)->array, &(builder)->room, (builder)->count, more,        \
	     sizeof(*(builder)->array))

/* Room for one more in @index, at most three quarters full. */
static bool grow_index(struct answer_builder *builder, struct answer_index *index)
{
	size_t size = index->size ? index->size * 2 : 1024;
	struct answer_slot *slots;

	if (index->used * 4 < index->size * 3)
		return true;
	slots = calloc(size, sizeof(*slots));
	if (!slots) {
		builder->failed = true;
		return false;
	}
	for (size_t i = 0; i < index->size; i++) {
		size_t at = index->slots[i].hash & (size - 1);

		if (!index->slots[i].value)
			continue;
		while (slots[at].value)
			at = (at + 1) & (size - 1);
		slots[at] = index->slots[i];
	}
	free(index->slots);
	index->slots = slots;
	index->size = size;
	return true;
}

typedef bool (*is_equal)(const struct answer_builder *builder, uint32_t number, const void *thing,
			 size_t bytes);

/* The slot of @thing: with a value, or free for it. NULL: no memory. */
static struct answer_slot *find_slot(struct answer_builder *builder, struct answer_index *index,
				     const void *thing, size_t bytes, is_equal equal)
{
	uint32_t hash = (uint32_t)XXH3_64bits(thing, bytes);
	struct answer_slot *slot;

	if (builder->failed || !grow_index(builder, index))
		return NULL;
	for (size_t at = hash & (index->size - 1);; at = (at + 1) & (index->size - 1)) {
		slot = &index->slots[at];
		if (!slot->value)
			break;
		if (slot->hash == hash && equal(builder, slot->value - 1, thing, bytes))
			return slot;
	}
	slot->hash = hash;
	return slot;
}

static void fill_slot(struct answer_index *index, struct answer_slot *slot, size_t number)
{
	slot->value = (uint32_t)number + 1;
	index->used++;
}

static bool equal_strings(const struct answer_builder *builder, uint32_t number, const void *thing,
			  size_t bytes)
{
	const char *string = builder->strings + number;

	return !strncmp(string, thing, bytes) && !string[bytes];
}

static uint32_t append_string(struct answer_builder *builder, const char *string, size_t length)
{
	uint32_t offset;

	if (!GROW(builder, strings, string_room, string_bytes, length + 2))
		return 0;
	if (!builder->string_bytes)
		builder->strings[builder->string_bytes++] = 0;
	offset = (uint32_t)builder->string_bytes;
	memcpy(builder->strings + offset, string, length + 1);
	builder->string_bytes += length + 1;
	return offset;
}

uint32_t answer_builder_intern(struct answer_builder *builder, const char *string)
{
	size_t length = string ? strlen(string) : 0;
	struct answer_slot *slot;

	if (!length)
		return 0;
	slot = find_slot(builder, &builder->string_index, string, length, equal_strings);
	if (!slot)
		return 0;
	if (!slot->value)
		fill_slot(&builder->string_index, slot, append_string(builder, string, length));
	return slot->value - 1;
}

static bool equal_chains(const struct answer_builder *builder, uint32_t number, const void *thing,
			 size_t bytes)
{
	uint32_t from = builder->first[number], to = builder->first[number + 1];

	return (to - from) * sizeof(uint32_t) == bytes &&
	       !memcmp(builder->members + from, thing, bytes);
}

/* The last address is complete: its chain gets the number of an equal one, or
 * its own. */
static void close_chain(struct answer_builder *builder)
{
	size_t count = builder->member_count - builder->open_chain;
	struct answer_slot *slot;

	if (builder->failed || !count ||
	    !GROW(builder, chain, chain_slots_room, chain_slots_count, 1) ||
	    !GROW(builder, first, first_room, chain_count, 2))
		return;
	slot = find_slot(builder, &builder->chain_index, builder->members + builder->open_chain,
			 count * sizeof(uint32_t), equal_chains);
	if (!slot)
		return;
	if (slot->value) {
		builder->member_count = builder->open_chain;
	} else {
		builder->first[builder->chain_count] = (uint32_t)builder->open_chain;
		builder->first[builder->chain_count + 1] = (uint32_t)builder->member_count;
		fill_slot(&builder->chain_index, slot, builder->chain_count++);
		builder->open_chain = builder->member_count;
	}
	builder->chain[builder->chain_slots_count++] = slot->value - 1;
}

void answer_builder_address(struct answer_builder *builder, uint64_t address)
{
	close_chain(builder);
	if (GROW(builder, addresses, address_room, address_count, 1))
		builder->addresses[builder->address_count++] = address;
}

static bool equal_frames(const struct answer_builder *builder, uint32_t number, const void *thing,
			 size_t bytes)
{
	return !memcmp(&builder->frames[number], thing, bytes);
}

void answer_builder_frame(struct answer_builder *builder, const struct answer_frame *frame)
{
	struct answer_slot *slot = find_slot(builder, &builder->frame_index, frame, sizeof(*frame),
					     equal_frames);

	if (!slot || !GROW(builder, members, member_room, member_count, 1))
		return;
	if (!slot->value) {
		if (!GROW(builder, frames, frame_room, frame_count, 1))
			return;
		builder->frames[builder->frame_count] = *frame;
		fill_slot(&builder->frame_index, slot, builder->frame_count++);
	}
	builder->members[builder->member_count++] = slot->value - 1;
}

void answer_builder_witness(struct answer_builder *builder, const char *path)
{
	struct answer_witness witness = look_at(path);

	witness.path = answer_builder_intern(builder, path);
	for (size_t i = 0; i < builder->witness_count; i++)
		if (builder->witnesses[i].path == witness.path)
			return;
	if (GROW(builder, witnesses, witness_room, witness_count, 1))
		builder->witnesses[builder->witness_count++] = witness;
}

void answer_builder_copy(struct answer_builder *builder, const struct symbol_answer *from,
			 size_t index)
{
	uint32_t chain = from->chain[index];

	answer_builder_address(builder, from->addresses[index]);
	for (uint32_t i = from->first[chain]; i < from->first[chain + 1]; i++) {
		const struct answer_frame *frame = &from->frames[from->members[i]];
		struct answer_frame copy = {
			.function = answer_builder_intern(builder, from->strings + frame->function),
			.linkage_name = answer_builder_intern(builder, from->strings +
								       frame->linkage_name),
			.file = answer_builder_intern(builder, from->strings + frame->file),
			.line = frame->line,
		};

		answer_builder_frame(builder, &copy);
	}
}

static void copy_part(char *to, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(to, from, bytes);
}

void *answer_builder_pack(struct answer_builder *builder, uint32_t source, const char *file,
			  const char *words, size_t *bytes)
{
	struct answer_header header = { .source = source };
	uint32_t last;
	struct layout at;
	char *block;

	close_chain(builder);
	header.file = answer_builder_intern(builder, file);
	header.words = answer_builder_intern(builder, words);
	if (!builder->string_bytes)
		append_string(builder, "", 0);
	if (builder->failed || builder->chain_slots_count != builder->address_count)
		return NULL;
	last = (uint32_t)builder->member_count;
	memcpy(header.magic, answer_magic, 8);
	header.address_count = (uint32_t)builder->address_count;
	header.witness_count = (uint32_t)builder->witness_count;
	header.frame_count = (uint32_t)builder->frame_count;
	header.chain_count = (uint32_t)builder->chain_count;
	header.member_count = last;
	header.string_bytes = (uint32_t)builder->string_bytes;
	at = layout_of(&header);
	header.bytes = at.end;
	block = calloc(1, at.end);
	if (!block)
		return NULL;
	copy_part(block + at.addresses, builder->addresses, 8 * builder->address_count);
	copy_part(block + at.witnesses, builder->witnesses,
		  sizeof(struct answer_witness) * builder->witness_count);
	copy_part(block + at.frames, builder->frames,
		  sizeof(struct answer_frame) * builder->frame_count);
	copy_part(block + at.chain, builder->chain, 4 * builder->address_count);
	copy_part(block + at.first, builder->first, 4 * builder->chain_count);
	memcpy(block + at.first + 4 * builder->chain_count, &last, 4);
	copy_part(block + at.members, builder->members, 4 * builder->member_count);
	copy_part(block + at.strings, builder->strings, builder->string_bytes);
	memcpy(block, &header, sizeof(header));
	header.checksum = block_checksum(block, at.end);
	memcpy(block, &header, sizeof(header));
	*bytes = at.end;
	return block;
}
