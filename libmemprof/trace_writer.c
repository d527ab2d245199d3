/*
 * Appending pieces. The trace is a plain file that is written and never mapped;
 * its descriptor is looked at before each write, as the program may have closed
 * it and been given the number for a file of its own. When it was closed the
 * trace is opened again by its path, if that still names the same file.
 */
#define _GNU_SOURCE
#include "trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#define XXH_NO_STDLIB
#define memcpy __builtin_memcpy
#include <xxhash.h>
#undef memcpy

#include "companion.h"
#include "os.h"
#include "owner_lock.h"
#include "trace_name.h"

/* How far an outsider can have moved the tail since we last looked: more than
 * this is damage, and we go on behind what we know. */
#define OUTSIDERS_BYTES (1ull << 30)

static struct {
	int descriptor;
	uint64_t device, inode;
	uint64_t max_bytes;
	uint64_t known_end; /* behind the last unit that we reserved */
	bool is_full;
	struct owner_lock opening;
	char path[TRACE_NAME_MAX];
} writer = { .descriptor = -1 };

uint64_t trace_piece_checksum(const struct trace_piece *header, const uint8_t *records)
{
	struct trace_piece clean = *header;
	XXH3_state_t state;

	clean.checksum = 0;
	XXH3_64bits_reset(&state);
	XXH3_64bits_update(&state, &clean, sizeof(clean));
	XXH3_64bits_update(&state, records, trace_word_length(header->word));
	return XXH3_64bits_digest(&state);
}

void trace_writer_open(int descriptor, const char *path, uint64_t max_bytes)
{
	struct stat st;

	writer.opening.owner = 0;
	writer.descriptor = descriptor;
	writer.max_bytes = max_bytes;
	writer.known_end = TRACE_UNIT_BYTES;
	writer.is_full = false;
	text_format(writer.path, sizeof(writer.path), "%s", path);
	if (os_fstat(descriptor, &st) != 0)
		return;
	writer.device = st.st_dev;
	writer.inode = st.st_ino;
}

static bool descriptor_is_ours(int fd)
{
	return os_is_file(fd, writer.device, writer.inode);
}

void trace_writer_close(void)
{
	if (descriptor_is_ours(writer.descriptor))
		os_close(writer.descriptor);
	writer.descriptor = -1;
}

/* Under `opening`. */
static int open_again(void)
{
	int fd;

	if (descriptor_is_ours(writer.descriptor))
		return writer.descriptor;
	fd = os_open_high(writer.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	if (!descriptor_is_ours(fd)) {
		os_close(fd);
		return -ESTALE;
	}
	__atomic_store_n(&writer.descriptor, fd, __ATOMIC_RELEASE);
	return fd;
}

static int usable_descriptor(void)
{
	int fd = __atomic_load_n(&writer.descriptor, __ATOMIC_ACQUIRE);

	if (descriptor_is_ours(fd))
		return fd;
	if (!owner_lock_take(&writer.opening))
		return -EBUSY;
	fd = open_again();
	owner_lock_release(&writer.opening);
	return fd;
}

/* ---- places ---------------------------------------------------------------- */

static void note_end(uint64_t end)
{
	uint64_t known = __atomic_load_n(&writer.known_end, __ATOMIC_RELAXED);

	while (known < end && !__atomic_compare_exchange_n(&writer.known_end, &known, end, false,
							   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* The tail can be written by others: a place must lie on the grid, not before
 * what was known to be used when we asked, and not absurdly far behind it. */
static bool is_sound(uint64_t place, uint64_t known)
{
	return place % TRACE_UNIT_BYTES == 0 && place >= known &&
	       place - known < OUTSIDERS_BYTES;
}

static int reserve(uint64_t *place, uint64_t max_bytes)
{
	uint64_t known = __atomic_load_n(&writer.known_end, __ATOMIC_RELAXED);
	uint64_t tail = __atomic_load_n(&control_shared->tail, __ATOMIC_RELAXED);

	if (tail < UINT64_MAX - TRACE_UNIT_BYTES && is_sound(tail, known) &&
	    tail + TRACE_UNIT_BYTES > max_bytes) {
		writer.is_full = true;
		return TRACE_LOSS_MAX_TRACE;
	}
	tail = __atomic_fetch_add(&control_shared->tail, TRACE_UNIT_BYTES, __ATOMIC_RELAXED);
	if (!is_sound(tail, known)) {
		tail = __atomic_fetch_add(&writer.known_end, TRACE_UNIT_BYTES, __ATOMIC_RELAXED);
		__atomic_store_n(&control_shared->tail, tail + TRACE_UNIT_BYTES, __ATOMIC_RELAXED);
	}
	note_end(tail + TRACE_UNIT_BYTES);
	*place = tail;
	return 0;
}

int trace_writer_reserve(uint64_t *place)
{
	return *place || writer.max_bytes == UINT64_MAX ? 0 : reserve(place, writer.max_bytes);
}

bool trace_writer_is_full(void)
{
	return writer.is_full;
}

/* ---- writing --------------------------------------------------------------- */

/* A piece that stopped half-way: without a magic it is a free unit to readers,
 * and its block is there already, so that this write needs no space. */
static void void_header(int fd, uint64_t place)
{
	const struct trace_piece nothing = { .magic = 0 };

	os_pwrite_all(fd, &nothing, sizeof(nothing), place);
}

static int write_piece(int fd, const struct trace_piece *header, const uint8_t *records,
		       uint64_t place)
{
	size_t length = trace_word_length(header->word);
	struct iovec parts[2] = {
		{ (void *)header, sizeof(*header) },
		{ (void *)records, length },
	};
	long done = os_pwrite_two(fd, parts, place);
	int error = 0;

	if (done < 0)
		return (int)done;
	if ((size_t)done < sizeof(*header))
		error = -ENOSPC;
	else if ((size_t)done < sizeof(*header) + length)
		error = os_pwrite_all(fd, records + done - sizeof(*header),
				      length + sizeof(*header) - (size_t)done,
				      place + (uint64_t)done);
	if (error)
		void_header(fd, place);
	return error;
}

/*
 * A place that may hold this piece already, shorter. The end of the process can
 * stop a write after any page: the records first, which begin with those that are
 * there, then the header, which lies in one page. In between the old one holds.
 */
static int write_piece_again(int fd, const struct trace_piece *header, const uint8_t *records,
			     uint64_t place)
{
	int error = os_pwrite_all(fd, records, trace_word_length(header->word),
				  place + sizeof(*header));

	return error ? error : os_pwrite_all(fd, header, sizeof(*header), place);
}

static int loss_of(int error)
{
	switch (error) {
	case -EBADF:
	case -ENOENT:
	case -ESTALE:
	case -EACCES:
	case -EPERM:
		return TRACE_LOSS_CLOSED;
	default:
		return TRACE_LOSS_NO_SPACE;
	}
}

static int put_at(struct trace_piece *header, const uint8_t *records, uint64_t place,
		  int (*write)(int, const struct trace_piece *, const uint8_t *, uint64_t))
{
	int fd = usable_descriptor();

	if (fd < 0)
		return loss_of(fd);
	if (!os_file_may_grow_to(place + sizeof(*header) + trace_word_length(header->word)))
		return TRACE_LOSS_NO_SPACE;
	header->checksum = trace_piece_checksum(header, records);
	fd = write(fd, header, records, place);
	return fd ? loss_of(fd) : 0;
}

int trace_writer_put_at(struct trace_piece *header, const uint8_t *records, uint64_t place)
{
	return put_at(header, records, place, write_piece);
}

static int put(struct trace_piece *header, const uint8_t *records, uint64_t *place,
	       uint64_t max_bytes)
{
	bool has_place = *place != 0;
	int loss = has_place ? 0 : reserve(place, max_bytes);

	if (loss)
		return loss;
	return put_at(header, records, *place, has_place ? write_piece_again : write_piece);
}

int trace_writer_put(struct trace_piece *header, const uint8_t *records, uint64_t *place)
{
	return put(header, records, place, writer.max_bytes);
}

int trace_writer_put_beyond(struct trace_piece *header, const uint8_t *records, uint64_t *place)
{
	return put(header, records, place, UINT64_MAX);
}
