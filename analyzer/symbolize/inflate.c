/*
 * See inflate.h. Both unpack into a buffer that grows with what really comes
 * out, so that a small file with a huge claim costs nothing.
 */
#include "symbolize/inflate.h"

#include <gelf.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

struct buffer {
	uint8_t *bytes;
	size_t used, room;
};

/* Room for @more bytes, and at least as much again: growth stays linear. */
static bool buffer_reserve(struct buffer *buffer, size_t more)
{
	size_t wanted = buffer->used + more;
	uint8_t *bigger;

	if (wanted > INFLATE_BYTES_MAX)
		return false;
	if (wanted <= buffer->room)
		return true;
	wanted += wanted / 2 + 4096;
	bigger = realloc(buffer->bytes, wanted);
	if (!bigger)
		return false;
	buffer->bytes = bigger;
	buffer->room = wanted;
	return true;
}

static bool buffer_align(struct buffer *buffer, size_t to)
{
	size_t padding = -buffer->used & (to - 1);

	if (!buffer_reserve(buffer, padding))
		return false;
	memset(buffer->bytes + buffer->used, 0, padding);
	buffer->used += padding;
	return true;
}

static bool buffer_append(struct buffer *buffer, const void *bytes, size_t count)
{
	if (!buffer_reserve(buffer, count))
		return false;
	if (count)
		memcpy(buffer->bytes + buffer->used, bytes, count);
	buffer->used += count;
	return true;
}

void *inflate_xz(const void *packed, size_t packed_bytes, size_t *bytes)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	struct buffer buffer = { 0 };
	lzma_ret ret = lzma_stream_decoder(&stream, (uint64_t)256 << 20, 0);

	stream.next_in = packed;
	stream.avail_in = packed_bytes;
	while (ret == LZMA_OK) {
		if (!buffer_reserve(&buffer, 65536))
			break;
		stream.next_out = buffer.bytes + buffer.used;
		stream.avail_out = buffer.room - buffer.used;
		ret = lzma_code(&stream, LZMA_FINISH);
		buffer.used = (size_t)(stream.next_out - buffer.bytes);
	}
	lzma_end(&stream);
	if (ret != LZMA_STREAM_END || !buffer.used) {
		free(buffer.bytes);
		return NULL;
	}
	*bytes = buffer.used;
	return buffer.bytes;
}

/* Appends what @packed unpacks to. */
static bool append_zstd(struct buffer *buffer, const void *packed, size_t packed_bytes)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = { packed, packed_bytes, 0 };
	size_t left = 1;

	while (stream && left && in.pos < in.size) {
		ZSTD_outBuffer out;

		if (!buffer_reserve(buffer, 65536))
			break;
		out = (ZSTD_outBuffer){ buffer->bytes, buffer->room, buffer->used };
		left = ZSTD_decompressStream(stream, &out, &in);
		if (ZSTD_isError(left))
			break;
		buffer->used = out.pos;
	}
	/* All input taken: what zstd still holds back comes out now. */
	while (stream && left && !ZSTD_isError(left) && in.pos == in.size) {
		ZSTD_outBuffer out;
		size_t before = buffer->used;

		if (!buffer_reserve(buffer, 65536))
			break;
		out = (ZSTD_outBuffer){ buffer->bytes, buffer->room, buffer->used };
		left = ZSTD_decompressStream(stream, &out, &in);
		buffer->used = ZSTD_isError(left) ? before : out.pos;
		if (buffer->used == before)
			break;
	}
	ZSTD_freeDStream(stream);
	return stream && left == 0;
}

/* Is the section packed by zstd? Then @data is what lies in the file, and @chdr
 * its header (which a hostile file can place at any address). */
static bool is_zstd(Elf_Scn *section, const Elf64_Shdr *shdr, Elf_Data **data, Elf64_Chdr *chdr)
{
	if (!(shdr->sh_flags & SHF_COMPRESSED) || shdr->sh_type == SHT_NOBITS)
		return false;
	*data = elf_rawdata(section, NULL);
	if (!*data || !(*data)->d_buf || (*data)->d_size < sizeof(*chdr))
		return false;
	memcpy(chdr, (*data)->d_buf, sizeof(*chdr));
	return chdr->ch_type == ELFCOMPRESS_ZSTD;
}

static bool has_zstd(Elf *elf)
{
	Elf_Scn *section = NULL;
	Elf_Data *data;
	Elf64_Chdr chdr;

	while ((section = elf_nextscn(elf, section))) {
		const Elf64_Shdr *shdr = elf64_getshdr(section);

		if (shdr && is_zstd(section, shdr, &data, &chdr))
			return true;
	}
	return false;
}

/* Appends one section's contents and makes @shdr say where they are. */
static bool append_section(struct buffer *buffer, Elf_Scn *section, Elf64_Shdr *shdr)
{
	Elf64_Chdr chdr;
	Elf_Data *data;
	size_t start;

	if (shdr->sh_type == SHT_NOBITS || shdr->sh_type == SHT_NULL)
		return true;
	if (!buffer_align(buffer, 16))
		return false;
	start = buffer->used;
	if (is_zstd(section, shdr, &data, &chdr)) {
		if (!append_zstd(buffer, (char *)data->d_buf + sizeof(chdr),
				 data->d_size - sizeof(chdr)))
			return false;
		shdr->sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
		shdr->sh_addralign = chdr.ch_addralign <= 16 ? chdr.ch_addralign : 16;
	} else {
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf && !buffer_append(buffer, data->d_buf, data->d_size))
			return false;
	}
	shdr->sh_offset = start;
	shdr->sh_size = buffer->used - start;
	return true;
}

void *inflate_zstd_sections(Elf *elf, size_t *bytes)
{
	const Elf64_Ehdr *old = elf64_getehdr(elf);
	struct buffer buffer = { 0 };
	Elf64_Shdr *headers = NULL;
	Elf64_Ehdr ehdr;
	size_t count;
	bool ok;

	if (!old || elf_getshdrnum(elf, &count) || !count || !has_zstd(elf))
		return NULL;
	headers = calloc(count, sizeof(*headers));
	ok = headers && buffer_append(&buffer, old, sizeof(*old));
	for (size_t i = 0; ok && i < count; i++) {
		Elf_Scn *section = elf_getscn(elf, i);
		const Elf64_Shdr *shdr = section ? elf64_getshdr(section) : NULL;

		if (!shdr)
			continue;
		headers[i] = *shdr;
		ok = append_section(&buffer, section, &headers[i]);
	}
	ok = ok && buffer_align(&buffer, 16);
	if (ok) {
		ehdr = *old;
		ehdr.e_phoff = 0;
		ehdr.e_phnum = 0;
		ehdr.e_shoff = buffer.used;
		ok = buffer_append(&buffer, headers, count * sizeof(*headers));
		memcpy(buffer.bytes, &ehdr, sizeof(ehdr));
	}
	free(headers);
	if (!ok) {
		free(buffer.bytes);
		return NULL;
	}
	*bytes = buffer.used;
	return buffer.bytes;
}
