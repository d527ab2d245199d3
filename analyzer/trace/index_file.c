/*
 * See index_file.h.
 *
 *	header | block 0 | block 1 | ... | directory: one entry for each block
 *
 * The header is written last, over zeros: a file without one was left behind by
 * somebody who didn't come to the end.
 */
#include "trace/index_file.h"

#include "util/cache_folder.h"
#include "util/file_io.h"
#include "util/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#define INDEX_MAGIC 0x31786449504d4d00ull /* "\0MMPIdx1" */
#define INDEX_VERSION 1                   /* of all that is in the blocks, too */
#define BLOCK_BYTES_MAX ((uint64_t)1 << 30)
#define PACKING 1                         /* zstd's level: the first question waits for it */

struct index_header {
	uint64_t magic, version;
	struct index_identity identity;
	uint64_t directory_offset, block_count, directory_hash;
	uint64_t hash;         /* of this, with this field 0 */
};

struct index_entry {
	uint64_t offset, packed_bytes, bytes, hash; /* hash: of the packed bytes */
};

struct index_file {
	int fd;
	struct index_entry *entries;
	size_t count;
};

struct index_writer {
	struct cache_folder folder;
	char draft[PATH_MAX], name[32];
	int fd;
	struct index_header header;
	struct index_entry *entries;
	size_t count;
	uint64_t offset;
	void *packed;
	size_t packed_room;
	bool has_failed;
};

static void index_name(const struct index_identity *identity, char *name, size_t room)
{
	snprintf(name, room, "%016llx",
		 (unsigned long long)XXH3_64bits_withSeed(identity, sizeof(*identity),
							  INDEX_VERSION));
}

static uint64_t header_hash(const struct index_header *header)
{
	struct index_header copy = *header;

	copy.hash = 0;
	return XXH3_64bits(&copy, sizeof(copy));
}

/* ---- reading ---- */

static bool header_fits(const struct index_header *header, const struct index_identity *identity,
			uint64_t bytes)
{
	return header->magic == INDEX_MAGIC && header->version == INDEX_VERSION &&
	       header->hash == header_hash(header) &&
	       !memcmp(&header->identity, identity, sizeof(*identity)) &&
	       header->directory_offset <= bytes &&
	       header->block_count == (bytes - header->directory_offset) /
					      sizeof(struct index_entry);
}

static bool read_directory(struct index_file *file, const struct index_header *header)
{
	size_t bytes = header->block_count * sizeof(*file->entries);

	file->count = header->block_count;
	file->entries = memory_zeroed(file->count + 1, sizeof(*file->entries));
	return file_read_at(file->fd, file->entries, bytes, header->directory_offset) == bytes &&
	       XXH3_64bits(file->entries, bytes) == header->directory_hash;
}

struct index_file *index_file_open(const struct index_identity *identity)
{
	struct index_file *file;
	struct cache_folder folder;
	struct index_header header;
	char name[32];
	uint64_t bytes;
	int fd;

	cache_folder_init(&folder, "index");
	index_name(identity, name, sizeof(name));
	fd = cache_folder_open(&folder, name, &bytes);
	if (fd < 0)
		return NULL;
	file = memory_zeroed(1, sizeof(*file));
	file->fd = fd;
	if (file_read_at(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    !header_fits(&header, identity, bytes) || !read_directory(file, &header)) {
		index_file_close(file);
		return NULL;
	}
	return file;
}

void index_file_close(struct index_file *file)
{
	if (!file)
		return;
	close(file->fd);
	free(file->entries);
	free(file);
}

size_t index_file_blocks(const struct index_file *file)
{
	return file->count;
}

/* The packed bytes of a block, for free(); NULL: damaged. */
static void *read_packed(const struct index_file *file, const struct index_entry *entry)
{
	void *packed;

	if (entry->packed_bytes > BLOCK_BYTES_MAX || entry->bytes > BLOCK_BYTES_MAX)
		return NULL;
	packed = memory_zeroed(entry->packed_bytes + 1, 1);
	if (file_read_at(file->fd, packed, entry->packed_bytes, entry->offset) ==
		    entry->packed_bytes &&
	    XXH3_64bits(packed, entry->packed_bytes) == entry->hash)
		return packed;
	free(packed);
	return NULL;
}

void *index_file_block(const struct index_file *file, size_t number, size_t *bytes)
{
	const struct index_entry *entry = &file->entries[number];
	void *packed = number < file->count ? read_packed(file, entry) : NULL, *block;
	size_t got;

	if (!packed)
		return NULL;
	block = memory_zeroed(entry->bytes + 1, 1);
	got = ZSTD_decompress(block, entry->bytes, packed, entry->packed_bytes);
	free(packed);
	if (ZSTD_isError(got) || got != entry->bytes) {
		free(block);
		return NULL;
	}
	*bytes = entry->bytes;
	return block;
}

bool index_file_is_whole(const struct index_file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		void *packed = read_packed(file, &file->entries[i]);

		if (!packed)
			return false;
		free(packed);
	}
	return true;
}

/* ---- writing ---- */

struct index_writer *index_writer_new(const struct index_identity *identity)
{
	struct index_writer *writer = memory_zeroed(1, sizeof(*writer));

	cache_folder_init(&writer->folder, "index");
	index_name(identity, writer->name, sizeof(writer->name));
	writer->header = (struct index_header){ .magic = INDEX_MAGIC, .version = INDEX_VERSION,
						.identity = *identity };
	writer->fd = cache_folder_draft(&writer->folder, writer->draft);
	if (writer->fd < 0) {
		free(writer);
		return NULL;
	}
	writer->offset = sizeof(writer->header);
	return writer;
}

static size_t pack(struct index_writer *writer, const void *bytes, size_t count)
{
	size_t bound = ZSTD_compressBound(count), packed;

	if (bound > writer->packed_room) {
		writer->packed = memory_resize(writer->packed, bound, 1);
		writer->packed_room = bound;
	}
	packed = ZSTD_compress(writer->packed, bound, bytes, count, PACKING);
	return ZSTD_isError(packed) ? 0 : packed;
}

bool index_writer_block(struct index_writer *writer, const void *bytes, size_t count)
{
	size_t packed = writer->has_failed || count > BLOCK_BYTES_MAX ? 0 :
									pack(writer, bytes, count);

	if (!packed || writer->offset + packed > INDEX_BYTES_MAX / 2 ||
	    !file_write_at(writer->fd, writer->packed, packed, writer->offset)) {
		writer->has_failed = true;
		return false;
	}
	MEMORY_ROOM(writer->entries, writer->count);
	writer->entries[writer->count++] =
		(struct index_entry){ writer->offset, packed, count,
				      XXH3_64bits(writer->packed, packed) };
	writer->offset += packed;
	return true;
}

static bool write_ends(struct index_writer *writer)
{
	size_t bytes = writer->count * sizeof(*writer->entries);
	struct index_header *header = &writer->header;

	header->directory_offset = writer->offset;
	header->block_count = writer->count;
	header->directory_hash = XXH3_64bits(writer->entries, bytes);
	header->hash = header_hash(header);
	return file_write_at(writer->fd, writer->entries, bytes, writer->offset) &&
	       file_write_at(writer->fd, header, sizeof(*header), 0);
}

void index_writer_end(struct index_writer *writer, bool is_wanted)
{
	bool is_whole = is_wanted && !writer->has_failed && write_ends(writer);

	if (cache_folder_settle(&writer->folder, writer->draft, writer->fd, is_whole,
				writer->name))
		cache_folder_shrink(&writer->folder, INDEX_BYTES_MAX);
	free(writer->entries);
	free(writer->packed);
	free(writer);
}
