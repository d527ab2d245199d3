/*
 * Packs a trace: hands its pieces, as they are read, to packed_writer. The file
 * takes its name when it is whole.
 */
#include "trace/packed.h"
#include "trace/reader.h"
#include "util/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* Best of those that pack at least 10 MiB a second. */
#define LEVEL 12

static int fails(struct error *err, const char *path, const char *what)
{
	return error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "%s: %s", what,
			 strerror(errno));
}

/* A slot has no checksum and becomes a piece. A piece that is damaged keeps the
 * checksum that tells so. */
static void make_header(const struct piece *piece, struct piece_bytes *bytes)
{
	struct trace_piece *header = (struct trace_piece *)bytes->bytes;
	size_t length = (size_t)(bytes->end - bytes->records);

	header->word = (header->word & ~0ull << 32) | length;
	if (!piece->in_companion)
		return;
	header->magic = TRACE_PIECE_MAGIC;
	header->flags |= TRACE_PIECE_OPEN;
	header->checksum = 0;
	header->checksum = XXH3_64bits(bytes->bytes, TRACE_PIECE_BYTES + length);
}

static int write_pieces(const struct pieces *pieces, int fd)
{
	struct packed_file file = {.magic = PACKED_FILE_MAGIC, .version = PACKED_VERSION};
	struct packed_writer *writer;
	struct piece_bytes bytes = {0};

	if (write(fd, &file, sizeof(file)) != sizeof(file))
		return ERROR_SYSTEM;
	writer = packed_writer_new(fd, LEVEL);
	for (size_t i = 0; i < pieces->count; i++) {
		pieces_fetch(pieces, &pieces->items[i], &bytes, false);
		make_header(&pieces->items[i], &bytes);
		packed_writer_add(writer, (struct trace_piece *)bytes.bytes, bytes.records,
				  (size_t)(bytes.end - bytes.records));
	}
	piece_bytes_release(&bytes);
	if (packed_writer_finish(writer))
		return ERROR_SYSTEM;
	file.bytes = (uint64_t)lseek(fd, 0, SEEK_CUR);
	return pwrite(fd, &file, sizeof(file), 0) == sizeof(file) ? 0 : ERROR_SYSTEM;
}

static int write_to(struct reader *reader, const char *path, const char *output, uint64_t *bytes,
		    struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;
	int status;

	if (fd < 0)
		return fails(err, path, "can't be made");
	status = write_pieces(&reader->pieces, fd);
	if (!status && fstat(fd, &st))
		status = ERROR_SYSTEM;
	if (close(fd) && !status)
		status = ERROR_SYSTEM;
	if (!status && rename(path, output))
		status = ERROR_SYSTEM;
	if (status) {
		fails(err, output, "can't be written");
		unlink(path);
	} else if (bytes) {
		*bytes = (uint64_t)st.st_size;
	}
	return status;
}

int trace_pack(struct trace *trace, const char *output, uint64_t *bytes, struct error *err)
{
	char *path = memory_format("%s.%d.part", output, (int)getpid());
	int status = write_to(reader_of(trace), path, output, bytes, err);

	free(path);
	return status;
}
