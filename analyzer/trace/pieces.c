/*
 * See pieces.h. The trace is read by pread and never mapped: a file that is cut
 * while it is read gives a short read instead of SIGBUS, and what has been read
 * does not stay in this process' memory. Holes are skipped by SEEK_DATA, so
 * that a sparse file of a petabyte is no more work than its data.
 */
#include "trace/pieces.h"

#include "memprof/control.h"
#include "util/file_io.h"
#include "util/memory.h"
#include "util/process_id.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static void tell(const struct pieces *pieces, const struct piece *piece, const char *words)
{
	pieces->tell(pieces->context, piece->offset, piece->in_companion, words);
}

static bool is_zero(const void *bytes, size_t count)
{
	const uint8_t *at = bytes;

	while (count && !*at)
		at++, count--;
	return !count;
}

/* The unit that holds the first data at or behind the unit at @offset, where
 * units begin at @base; UINT64_MAX when only a hole is left. */
static uint64_t next_unit(int fd, uint64_t base, uint64_t offset)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? UINT64_MAX : offset;
	return (uint64_t)data <= offset ? offset :
		base + ((uint64_t)data - base) / TRACE_UNIT_BYTES * TRACE_UNIT_BYTES;
}

static void add(struct pieces *pieces, const struct piece *piece)
{
	MEMORY_ROOM(pieces->items, pieces->count);
	pieces->items[pieces->count++] = *piece;
	pieces->used_bytes += TRACE_PIECE_BYTES + piece->length;
}

static void piece_init(struct piece *piece, const struct trace_piece *header)
{
	piece->kind = header->kind;
	piece->flags = header->flags;
	piece->lane = header->lane;
	piece->tid = header->tid;
	piece->length = trace_word_length(header->word);
	piece->sequence = trace_word_sequence(header->word);
	piece->lost = header->lost;
	piece->ticks = header->ticks;
	piece->mono_ns = header->mono_ns;
	piece->real_ns = header->real_ns;
}

/* A kind of piece from the future is whole, else its kind is damaged. */
static void check_unknown(struct pieces *pieces, const struct piece *piece)
{
	struct piece_bytes bytes = {0};

	pieces_fetch(pieces, piece, &bytes, true);
	piece_bytes_release(&bytes);
}

/* Looks at the unit of the trace at @offset. */
static void index_unit(struct pieces *pieces, uint64_t offset, bool wants_header_piece)
{
	struct piece piece = {.offset = offset};
	struct trace_piece header = {0};
	size_t got = file_read_at(pieces->trace_fd, &header, sizeof(header), offset);
	uint64_t left = pieces->file_bytes - offset;

	if (is_zero(&header, got))
		return;
	if (got == sizeof(header) && header.magic == TRACE_PIECE_MAGIC &&
	    (header.kind == TRACE_PIECE_HEADER) != wants_header_piece)
		return;
	if (wants_header_piece && (got < sizeof(header) || header.magic != TRACE_PIECE_MAGIC))
		return; /* told when the others are looked for */
	if (got < sizeof(header)) {
		tell(pieces, &piece, "the file ends within the header of a piece");
		return;
	}
	if (header.magic != TRACE_PIECE_MAGIC) {
		tell(pieces, &piece, "no piece begins here: 64 KiB are passed over");
		return;
	}
	piece_init(&piece, &header);
	if (piece.length > TRACE_RECORDS_MAX) {
		tell(pieces, &piece, "the piece says it is longer than a piece can be");
		piece.length = TRACE_RECORDS_MAX;
	}
	if (piece.length > left - sizeof(header)) {
		tell(pieces, &piece, "the file ends within this piece");
		piece.length = (uint32_t)(left - sizeof(header));
	}
	if (piece.kind >= TRACE_PIECE_HEADER && piece.kind <= TRACE_PIECE_OUTSIDE)
		add(pieces, &piece);
	else
		check_unknown(pieces, &piece);
}

static bool is_packed(const struct pieces *pieces)
{
	struct packed_file file = {0};
	struct piece end = {.offset = pieces->file_bytes};

	if (file_read_at(pieces->trace_fd, &file, sizeof(file), 0) < sizeof(file) ||
	    file.magic != PACKED_FILE_MAGIC || file.version != PACKED_VERSION)
		return false;
	if (file.bytes != pieces->file_bytes)
		tell(pieces, &end, "the packed trace is not as long as it was made");
	return true;
}

static void index_packed(struct pieces *pieces);

static int system_error(struct error *err, const char *path, const char *what)
{
	return error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "%s: %s", what,
			 strerror(errno));
}

int pieces_open(struct pieces *pieces, const char *path, struct error *err)
{
	struct stat st;

	pieces->companion_fd = -1;
	pieces->trace_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (pieces->trace_fd < 0)
		return system_error(err, path, "can't be opened");
	if (fstat(pieces->trace_fd, &st))
		return system_error(err, path, "can't be looked at");
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_FORMAT, path, ERROR_NO_OFFSET,
				 "is not a trace: not a regular file");
	pieces->file_bytes = (uint64_t)st.st_size;
	pieces->is_packed = is_packed(pieces);
	if (pieces->is_packed) {
		index_packed(pieces);
		return 0;
	}
	if (pieces->file_bytes)
		index_unit(pieces, 0, true);
	pieces->header_count = (uint32_t)pieces->count;
	return 0;
}

/* ---- the companion ---- */

char *pieces_companion_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash + 1 - path) : 0;

	return memory_format("%.*s.%s.live", folder, path, path + folder);
}

/* Field 22 of /proc/PID/stat, 0 = no such process. */
static bool is_this_boot(const char *boot_id, size_t room)
{
	char now[64] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	file_read_at(fd, now, sizeof(now) - 1, 0);
	close(fd);
	now[strcspn(now, "\n")] = 0;
	return !strncmp(now, boot_id, room < sizeof(now) ? room : sizeof(now));
}

static bool is_companion_of(const struct pieces *pieces, const struct control_page *control,
			    uint64_t pid, uint64_t start_ticks)
{
	struct stat st;

	if (memcmp(control->magic, CONTROL_MAGIC, sizeof(control->magic)) ||
	    control->version != CONTROL_VERSION || control->slot_bytes != TRACE_UNIT_BYTES)
		return false;
	if (!fstat(pieces->trace_fd, &st) && control->trace_device == st.st_dev &&
	    control->trace_inode == st.st_ino)
		return true;
	return control->pid == pid && control->start_ticks == start_ticks;
}

static bool is_slot(const struct trace_piece *header)
{
	return header->magic == TRACE_SLOT_MAGIC && header->kind == TRACE_PIECE_EVENTS &&
	       trace_word_length(header->word) <= TRACE_RECORDS_MAX;
}

static bool read_word(int fd, uint64_t offset, uint64_t *word)
{
	return file_read_at(fd, word, sizeof(*word),
			    offset + offsetof(struct trace_piece, word)) == sizeof(*word);
}

/*
 * Copies a slot that its thread may be writing to. Up to the length in `word`
 * the records don't change until a flush makes `word` another sequence number:
 * then the copy may be a mixture and is made again. It is read, not mapped: the
 * file may be cut short meanwhile.
 */
static uint8_t *copy_slot(int fd, uint64_t offset)
{
	uint8_t *copy = memory_resize(NULL, 1, TRACE_UNIT_BYTES);
	uint64_t before, after;

	for (int tries = 0; tries < 1000 && read_word(fd, offset, &before); tries++) {
		size_t bytes = TRACE_PIECE_BYTES + trace_word_length(before);

		if (bytes > TRACE_UNIT_BYTES || file_read_at(fd, copy, bytes, offset) < bytes ||
		    !read_word(fd, offset, &after))
			break;
		if (trace_word_sequence(before) == trace_word_sequence(after)) {
			((struct trace_piece *)copy)->word = before;
			return memory_resize(copy, 1, bytes);
		}
	}
	free(copy);
	return NULL;
}

static bool has_slot(int fd, uint64_t offset)
{
	uint32_t magic;

	return file_read_at(fd, &magic, sizeof(magic), offset) == sizeof(magic) &&
	       magic == TRACE_SLOT_MAGIC;
}

static void copy_slots(struct pieces *pieces, uint64_t file_bytes)
{
	struct piece piece = {.in_companion = true, .offset = CONTROL_PAGE_BYTES};

	for (; piece.offset < file_bytes; piece.offset += TRACE_UNIT_BYTES) {
		piece.offset = next_unit(pieces->companion_fd, CONTROL_PAGE_BYTES, piece.offset);
		if (piece.offset >= file_bytes || file_bytes - piece.offset < TRACE_UNIT_BYTES)
			break;
		if (!has_slot(pieces->companion_fd, piece.offset))
			continue;
		piece.copy = copy_slot(pieces->companion_fd, piece.offset);
		if (!piece.copy)
			continue;
		if (is_slot((struct trace_piece *)piece.copy)) {
			piece_init(&piece, (struct trace_piece *)piece.copy);
			add(pieces, &piece);
		} else {
			free(piece.copy);
		}
	}
}

static void index_slot(struct pieces *pieces, uint64_t offset, uint64_t file_bytes)
{
	struct piece piece = {.offset = offset, .in_companion = true};
	struct trace_piece header;
	uint64_t left = file_bytes - offset;

	if (file_read_at(pieces->companion_fd, &header, sizeof(header), offset) < sizeof(header) ||
	    header.magic != TRACE_SLOT_MAGIC)
		return;
	piece_init(&piece, &header);
	if (!is_slot(&header)) {
		tell(pieces, &piece, "the header of this slot is damaged");
		return;
	}
	if (piece.length > left - sizeof(header)) {
		tell(pieces, &piece, "the file ends within this slot");
		piece.length = (uint32_t)(left - sizeof(header));
	}
	add(pieces, &piece);
}

static void index_slots(struct pieces *pieces, uint64_t file_bytes)
{
	uint64_t offset = CONTROL_PAGE_BYTES;

	for (; offset < file_bytes; offset += TRACE_UNIT_BYTES) {
		offset = next_unit(pieces->companion_fd, CONTROL_PAGE_BYTES, offset);
		if (offset >= file_bytes)
			break;
		index_slot(pieces, offset, file_bytes);
	}
}

void pieces_join(struct pieces *pieces, const char *path, const char *companion, uint64_t pid,
		 uint64_t start_ticks)
{
	char *own_path;
	struct control_page control = {0};
	struct stat st;

	if (pieces->is_packed)
		return;
	own_path = companion ? NULL : pieces_companion_path(path);
	pieces->companion_fd = open(companion ? companion : own_path,
				    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	free(own_path);
	if (pieces->companion_fd < 0)
		return;
	if (fstat(pieces->companion_fd, &st) || !S_ISREG(st.st_mode) ||
	    file_read_at(pieces->companion_fd, &control, sizeof(control), 0) < sizeof(control) ||
	    !is_companion_of(pieces, &control, pid, start_ticks)) {
		close(pieces->companion_fd);
		pieces->companion_fd = -1;
		return;
	}
	pieces->has_ended = control.ended;
	pieces->is_running = !control.ended &&
			     is_this_boot(control.boot_id, sizeof(control.boot_id)) &&
			     process_id_lives(control.pid, control.proc_start);
	if (pieces->is_running)
		copy_slots(pieces, (uint64_t)st.st_size);
	else
		index_slots(pieces, (uint64_t)st.st_size);
}

/* ---- the order in which they are read ---- */

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Of the same lane and sequence the one to use comes first: a running process'
 * slot (all lanes are seen at that moment), else the longest, else a piece. */
static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	int order = compare(a->kind, b->kind);

	if (!order)
		order = compare(a->lane, b->lane);
	if (!order)
		order = compare(a->sequence, b->sequence);
	if (!order)
		order = compare(b->copy != NULL, a->copy != NULL);
	if (!order)
		order = compare(b->length, a->length);
	if (!order)
		order = compare(a->in_companion, b->in_companion);
	return order ? order : compare(a->offset, b->offset);
}

/* Whether @piece says something that @previous, which is used, doesn't. */
static bool is_news(const struct piece *previous, const struct piece *piece)
{
	if (!previous || piece->kind != TRACE_PIECE_EVENTS || previous->kind != piece->kind ||
	    previous->lane != piece->lane)
		return true;
	return previous->sequence != piece->sequence && !previous->copy;
}

static void drop_doubles(struct pieces *pieces)
{
	size_t kept = 0;

	for (size_t i = 0; i < pieces->count; i++) {
		struct piece *piece = &pieces->items[i];

		if (is_news(kept ? &pieces->items[kept - 1] : NULL, piece))
			pieces->items[kept++] = *piece;
		else
			free(piece->copy);
	}
	pieces->count = kept;
}

static void find_lanes(struct pieces *pieces)
{
	pieces->header_count = 0;
	pieces->outside_first = (uint32_t)pieces->count;
	for (uint32_t i = 0; i < pieces->count; i++) {
		const struct piece *piece = &pieces->items[i];

		if (piece->kind == TRACE_PIECE_HEADER)
			pieces->header_count++;
		if (piece->kind == TRACE_PIECE_OUTSIDE && pieces->outside_first > i)
			pieces->outside_first = i;
		if (piece->kind != TRACE_PIECE_EVENTS)
			continue;
		if (!pieces->lane_count ||
		    pieces->lanes[pieces->lane_count - 1].lane != piece->lane) {
			MEMORY_ROOM(pieces->lanes, pieces->lane_count);
			pieces->lanes[pieces->lane_count++] =
				(struct piece_row){.lane = piece->lane, .first = i};
		}
		pieces->lanes[pieces->lane_count - 1].count++;
	}
}

static void put_in_order(struct pieces *pieces)
{
	if (pieces->count)
		qsort(pieces->items, pieces->count, sizeof(*pieces->items), compare_pieces);
	drop_doubles(pieces);
	find_lanes(pieces);
}

static void index_block(struct pieces *pieces, const struct packed_reader *reader)
{
	for (uint32_t i = 0; i < reader->pieces; i++) {
		struct piece piece = {.offset = reader->offset, .packed = (uint16_t)(i + 1)};
		struct packed_piece packed;

		packed_reader_header(reader, i, &packed);
		piece_init(&piece, &packed.header);
		if (piece.kind >= TRACE_PIECE_HEADER && piece.kind <= TRACE_PIECE_OUTSIDE)
			add(pieces, &piece);
		else
			check_unknown(pieces, &piece);
	}
}

/* Blocks lie one behind the other: where one is damaged in its header, what
 * follows can't be found. */
static void index_packed(struct pieces *pieces)
{
	struct piece place = {.offset = sizeof(struct packed_file)};
	struct packed_reader reader = {0};
	struct packed_block block;

	while (place.offset < pieces->file_bytes) {
		int status = packed_reader_open(&reader, pieces->trace_fd, place.offset, &block,
						true);

		if (status) {
			tell(pieces, &place, status == ERROR_TRUNCATED ?
				     "the file ends within a block" : "this block is damaged");
			break;
		}
		index_block(pieces, &reader);
		place.offset += sizeof(block) + block.bytes;
	}
	packed_reader_release(&reader);
	put_in_order(pieces);
	pieces->used_bytes = pieces->file_bytes;
}

int pieces_index(struct pieces *pieces, struct error *err)
{
	uint64_t offset = 0;
	struct stat st;

	(void)err;
	if (pieces->is_packed)
		return 0;
	if (!fstat(pieces->trace_fd, &st))
		pieces->file_bytes = (uint64_t)st.st_size;
	while (offset < pieces->file_bytes) {
		offset = next_unit(pieces->trace_fd, 0, offset);
		if (offset >= pieces->file_bytes)
			break;
		index_unit(pieces, offset, false);
		offset += TRACE_UNIT_BYTES;
	}
	put_in_order(pieces);
	return 0;
}

void pieces_close(struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		free(pieces->items[i].copy);
	free(pieces->items);
	free(pieces->lanes);
	if (pieces->trace_fd >= 0)
		close(pieces->trace_fd);
	if (pieces->companion_fd >= 0)
		close(pieces->companion_fd);
}

/* ---- records ---- */

static bool is_checksum_right(struct piece_bytes *buffer, size_t bytes)
{
	struct trace_piece *header = (struct trace_piece *)buffer->bytes;
	uint64_t told = header->checksum;
	bool is_right;

	header->checksum = 0;
	is_right = XXH3_64bits(buffer->bytes, bytes) == told;
	header->checksum = told;
	return is_right;
}

/* The piece as it was before it was packed. Returns how many bytes there are. */
static size_t unpack(const struct pieces *pieces, const struct piece *piece,
		     struct piece_bytes *buffer, bool tells)
{
	struct packed_reader *reader = &buffer->packed;
	struct packed_piece packed;
	struct packed_block block;

	if (!reader->is_open || reader->offset != piece->offset) {
		if (packed_reader_open(reader, pieces->trace_fd, piece->offset, &block, false))
			return 0;
		if (tells && !reader->is_right)
			tell(pieces, piece, "the checksum of this block is wrong");
	}
	packed_reader_header(reader, piece->packed - 1u, &packed);
	memcpy(buffer->bytes, &packed.header, sizeof(packed.header));
	return TRACE_PIECE_BYTES + packed_reader_records(reader, piece->packed - 1u,
							 buffer->bytes + TRACE_PIECE_BYTES);
}

void pieces_fetch(const struct pieces *pieces, const struct piece *piece,
		  struct piece_bytes *buffer, bool tells)
{
	int fd = piece->in_companion ? pieces->companion_fd : pieces->trace_fd;
	size_t bytes = TRACE_PIECE_BYTES + piece->length, got = bytes;

	if (!buffer->bytes)
		buffer->bytes = memory_resize(NULL, 1, TRACE_UNIT_BYTES + PIECE_PADDING);
	if (piece->copy)
		memcpy(buffer->bytes, piece->copy, bytes);
	else if (piece->packed)
		got = unpack(pieces, piece, buffer, tells);
	else
		got = file_read_at(fd, buffer->bytes, bytes, piece->offset);
	if (got < TRACE_PIECE_BYTES) {
		memset(buffer->bytes, 0, TRACE_PIECE_BYTES);
		got = TRACE_PIECE_BYTES;
	}
	memset(buffer->bytes + got, 0, PIECE_PADDING);
	buffer->records = buffer->bytes + TRACE_PIECE_BYTES;
	buffer->end = buffer->bytes + got;
	if (!tells || piece->in_companion)
		return;
	if (got < bytes)
		tell(pieces, piece, piece->packed ? "this block is damaged" :
			     "the file has become shorter while it was read");
	else if (trace_word_length(((struct trace_piece *)buffer->bytes)->word) == piece->length &&
		 !is_checksum_right(buffer, bytes))
		tell(pieces, piece, "the checksum of this piece is wrong: its bytes are damaged");
}

void piece_bytes_release(struct piece_bytes *buffer)
{
	free(buffer->bytes);
	packed_reader_release(&buffer->packed);
	*buffer = (struct piece_bytes){0};
}
