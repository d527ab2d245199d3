/*
 * See fold.h. The companion is trusted as little as a trace: sizes are checked,
 * and only slots that look like slots are taken. Pieces are appended behind
 * everything there is, so that nothing that was readable before is touched.
 */
#include "trace/fold.h"

#include "memprof/control.h"
#include "memprof/trace_format.h"
#include "trace/pieces.h"
#include "util/file_io.h"
#include "util/memory.h"
#include "util/process_id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

struct fold {
	const char *trace_path;
	char *companion_path;
	int trace_fd, companion_fd;
	struct control_page control; /* of the companion */
	uint64_t companion_bytes;
	struct trace_piece *pieces;  /* headers of what the trace has */
	size_t piece_count;
	uint64_t tail;
};

static int failed(struct error *err, const char *path, const char *what)
{
	return error_set(err, ERROR_SYSTEM, path, ERROR_NO_OFFSET, "%s: %s", what,
			 strerror(errno));
}

static bool is_alive(const struct control_page *control)
{
	return process_id_lives(control->pid, control->proc_start);
}

static int open_companion(struct fold *fold, struct error *err)
{
	struct control_page *control = &fold->control;
	struct stat st;

	fold->companion_fd = open(fold->companion_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fold->companion_fd < 0)
		return errno == ENOENT ? FOLD_NOTHING :
					 failed(err, fold->companion_path, "can't be opened");
	if (fstat(fold->companion_fd, &st) || st.st_size < CONTROL_PAGE_BYTES)
		return error_set(err, ERROR_FORMAT, fold->companion_path, ERROR_NO_OFFSET,
				 "is no companion file");
	fold->companion_bytes = (uint64_t)st.st_size;
	if (file_read_at(fold->companion_fd, control, sizeof(*control), 0) < sizeof(*control) ||
	    memcmp(control->magic, CONTROL_MAGIC, sizeof(CONTROL_MAGIC)) ||
	    control->version != CONTROL_VERSION || control->slot_bytes != TRACE_UNIT_BYTES)
		return error_set(err, ERROR_FORMAT, fold->companion_path, ERROR_NO_OFFSET,
				 "is no companion file of this version");
	return is_alive(control) ? FOLD_RUNNING : FOLD_DONE;
}

/* Reads the headers of all units: what is there, and where it ends. */
static int scan_trace(struct fold *fold, struct error *err)
{
	struct trace_piece piece;
	struct stat st;

	fold->trace_fd = open(fold->trace_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fold->trace_fd < 0 || fstat(fold->trace_fd, &st))
		return failed(err, fold->trace_path, "can't be opened");
	if ((uint64_t)st.st_ino != fold->control.trace_inode)
		return error_set(err, ERROR_FORMAT, fold->trace_path, ERROR_NO_OFFSET,
				 "its companion belongs to another file");
	for (uint64_t at = 0; at < (uint64_t)st.st_size; at += TRACE_UNIT_BYTES) {
		if (pread(fold->trace_fd, &piece, sizeof(piece), (off_t)at) != sizeof(piece))
			break;
		if (piece.magic != TRACE_PIECE_MAGIC)
			continue;
		MEMORY_ROOM(fold->pieces, fold->piece_count);
		fold->pieces[fold->piece_count++] = piece;
	}
	fold->tail = ((uint64_t)st.st_size + TRACE_UNIT_BYTES - 1) / TRACE_UNIT_BYTES *
		     TRACE_UNIT_BYTES;
	return 0;
}

static bool is_in_trace(const struct fold *fold, const struct trace_piece *slot)
{
	for (size_t i = 0; i < fold->piece_count; i++) {
		const struct trace_piece *piece = &fold->pieces[i];

		if (piece->lane == slot->lane && piece->kind == TRACE_PIECE_EVENTS &&
		    trace_word_sequence(piece->word) == trace_word_sequence(slot->word) &&
		    trace_word_length(piece->word) >= trace_word_length(slot->word))
			return true;
	}
	return false;
}

static bool is_slot(const struct trace_piece *slot)
{
	return slot->magic == TRACE_SLOT_MAGIC && trace_word_length(slot->word) &&
	       trace_word_length(slot->word) <= TRACE_RECORDS_MAX;
}

/* @unit: as it was read, in one go: whoever may write the file may do so meanwhile. */
static int append(struct fold *fold, uint8_t *unit, struct error *err)
{
	struct trace_piece *piece = (struct trace_piece *)unit;
	size_t bytes = sizeof(*piece) + trace_word_length(piece->word);

	piece->magic = TRACE_PIECE_MAGIC;
	piece->kind = TRACE_PIECE_EVENTS;
	piece->flags = 0;
	piece->checksum = 0;
	piece->checksum = XXH3_64bits(unit, bytes);
	if (!file_write_at(fold->trace_fd, unit, bytes, fold->tail))
		return failed(err, fold->trace_path, "the rest of it can't be written");
	fold->tail += TRACE_UNIT_BYTES;
	return 0;
}

static int take_slots(struct fold *fold, struct error *err)
{
	uint8_t *unit = memory_zeroed(TRACE_UNIT_BYTES, 1);
	const struct trace_piece *slot = (const struct trace_piece *)unit;
	int status = 0;

	for (uint64_t at = CONTROL_PAGE_BYTES;
	     !status && at + TRACE_UNIT_BYTES <= fold->companion_bytes; at += TRACE_UNIT_BYTES) {
		if (file_read_at(fold->companion_fd, unit, TRACE_UNIT_BYTES, at) < TRACE_UNIT_BYTES)
			break;
		if (is_slot(slot) && !is_in_trace(fold, slot))
			status = append(fold, unit, err);
	}
	free(unit);
	return status;
}

static void release(struct fold *fold)
{
	if (fold->companion_fd >= 0)
		close(fold->companion_fd);
	if (fold->trace_fd >= 0)
		close(fold->trace_fd);
	free(fold->pieces);
	free(fold->companion_path);
}

int trace_fold(const char *trace_path, struct error *err)
{
	struct fold fold = { .trace_path = trace_path, .trace_fd = -1, .companion_fd = -1 };
	int result, status = 0;

	fold.companion_path = pieces_companion_path(trace_path);
	result = open_companion(&fold, err);
	if (result == FOLD_DONE) {
		status = scan_trace(&fold, err);
		if (!status)
			status = take_slots(&fold, err);
		if (!status && unlink(fold.companion_path))
			status = failed(err, fold.companion_path, "can't be removed");
	}
	release(&fold);
	return status ? status : result;
}
