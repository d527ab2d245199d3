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

static const char answer_magic[8] = "MPAnsw1";

#define CHECKSUM_FROM (offsetof(struct answer_header, checksum) + 8)

static uint64_t block_checksum(const void *block, size_t bytes)
{
	return XXH3_64bits((const char *)block + CHECKSUM_FROM, bytes - CHECKSUM_FROM);
}

/* Where the parts of a block begin, and how long it is in all. */
struct layout {
	uint64_t addresses, first, frames, witnesses, strings, end;
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
	at.first = at.frames + sizeof(struct answer_frame) * (uint64_t)header->frame_count;
	at.strings = at.first + 4ull * ((uint64_t)header->address_count + 1);
	at.end = align8(at.strings + header->string_bytes);
	return at;
}

static bool frames_are_sound(const struct symbol_answer *answer)
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
	return header->file < limit && header->words < limit;
}

static bool addresses_are_sound(const struct symbol_answer *answer)
{
	const struct answer_header *header = answer->header;

	for (uint32_t i = 0; i < header->address_count; i++) {
		if (answer->first[i] >= answer->first[i + 1])
			return false;
		if (i && answer->addresses[i - 1] >= answer->addresses[i])
			return false;
	}
	return answer->first[0] == 0 && answer->first[header->address_count] == header->frame_count;
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
	answer->first = (const uint32_t *)(base + at.first);
	answer->strings = base + at.strings;
	return answer->strings[0] == 0 && answer->strings[header->string_bytes - 1] == 0 &&
	       addresses_are_sound(answer) && frames_are_sound(answer);
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
	free(builder->first);
	free(builder->frames);
	free(builder->witnesses);
	free(builder->strings);
	free(builder->table);
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

static bool grow_table(struct answer_builder *builder)
{
	size_t size = builder->table_size ? builder->table_size * 2 : 1024;
	uint32_t *table;

	if (builder->table_used * 4 < builder->table_size * 3)
		return true;
	table = calloc(size, sizeof(*table));
	if (!table) {
		builder->failed = true;
		return false;
	}
	for (size_t i = 0; i < builder->table_size; i++) {
		const char *string = builder->strings + builder->table[i];
		size_t slot;

		if (!builder->table[i])
			continue;
		slot = XXH3_64bits(string, strlen(string)) & (size - 1);
		while (table[slot])
			slot = (slot + 1) & (size - 1);
		table[slot] = builder->table[i];
	}
	free(builder->table);
	builder->table = table;
	builder->table_size = size;
	return true;
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
	size_t length, slot;

	if (!string || !*string || builder->failed || !grow_table(builder))
		return 0;
	length = strlen(string);
	slot = XXH3_64bits(string, length) & (builder->table_size - 1);
	for (; builder->table[slot]; slot = (slot + 1) & (builder->table_size - 1))
		if (!strcmp(builder->strings + builder->table[slot], string))
			return builder->table[slot];
	builder->table[slot] = append_string(builder, string, length);
	builder->table_used++;
	return builder->table[slot];
}

void answer_builder_address(struct answer_builder *builder, uint64_t address)
{
	size_t room = builder->address_room;

	if (!GROW(builder, addresses, address_room, address_count, 2))
		return;
	if (builder->address_room != room) {
		uint32_t *first = realloc(builder->first, builder->address_room * sizeof(*first));

		if (!first) {
			builder->failed = true;
			return;
		}
		builder->first = first;
	}
	builder->addresses[builder->address_count] = address;
	builder->first[builder->address_count++] = (uint32_t)builder->frame_count;
}

void answer_builder_frame(struct answer_builder *builder, const struct answer_frame *frame)
{
	if (GROW(builder, frames, frame_room, frame_count, 1))
		builder->frames[builder->frame_count++] = *frame;
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
	answer_builder_address(builder, from->addresses[index]);
	for (uint32_t i = from->first[index]; i < from->first[index + 1]; i++) {
		const struct answer_frame *frame = &from->frames[i];
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
	struct layout at;
	uint32_t last = (uint32_t)builder->frame_count;
	char *block;

	header.file = answer_builder_intern(builder, file);
	header.words = answer_builder_intern(builder, words);
	if (!builder->string_bytes)
		append_string(builder, "", 0);
	if (builder->failed)
		return NULL;
	memcpy(header.magic, answer_magic, 8);
	header.address_count = (uint32_t)builder->address_count;
	header.frame_count = last;
	header.witness_count = (uint32_t)builder->witness_count;
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
	copy_part(block + at.first, builder->first, 4 * builder->address_count);
	memcpy(block + at.first + 4 * builder->address_count, &last, 4);
	copy_part(block + at.strings, builder->strings, builder->string_bytes);
	memcpy(block, &header, sizeof(header));
	header.checksum = block_checksum(block, at.end);
	memcpy(block, &header, sizeof(header));
	*bytes = at.end;
	return block;
}
