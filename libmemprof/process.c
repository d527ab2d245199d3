/*
 * One process, one trace: making it, and ending it.
 *
 *	life page    zeroed by the kernel in every child that has its own memory:
 *	             phase FRESH means "this process has not begun"
 *	process      the rest, inherited by such a child: what its parent was
 *
 * Begin, under the life page's lock: facts, name, file, companion, header piece;
 * phase READY last, with release, so that whoever sees it sees everything.
 */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "clock.h"
#include "companion.h"
#include "event_buffer.h"
#include "log.h"
#include "losses.h"
#include "module_names.h"
#include "modules.h"
#include "os.h"
#include "owner_lock.h"
#include "pieces.h"
#include "process_facts.h"
#include "process_state.h"
#include "readings.h"
#include "record_store.h"
#include "settings.h"
#include "thread_id.h"
#include "trace_header.h"
#include "trace_name.h"
#include "trace_writer.h"
#include "unwind.h"

enum phase {
	PHASE_FRESH = 0,
	PHASE_READY = 1,
	PHASE_SILENT = 2, /* nothing is recorded in this process, ever */
};

struct life {
	uint32_t phase;
	struct owner_lock beginning;
	struct owner_lock folding;
};

static struct life *life;

static struct {
	uint32_t generation;  /* traces begun: 0 none, 1 the program's own, more: children's */
	uint32_t end_count;   /* END pieces written, in lane 0 behind the header */
	bool is_forked;
	bool is_hopeless;     /* nowhere to write: children don't try again */
	struct process_facts facts;
	char settled[TRACE_NAME_MAX];   /* the name's pattern, absolute */
	char temporary[TRACE_NAME_MAX]; /* $TMPDIR at the start, or "" */
	char path[TRACE_NAME_MAX];
	char parent_path[TRACE_NAME_MAX];
} process;

/* ---- beginning ------------------------------------------------------------------ */

/* The first image of a pid settles what a child only inherits. */
static void settle_image(void)
{
	const struct settings *settings = settings_get();
	const char *temporary = settings_variable("TMPDIR");

	clock_start();
	trace_name_settle(settings->output, process.settled, sizeof(process.settled));
	text_format(process.temporary, sizeof(process.temporary), "%s",
		    temporary ? temporary : "");
	unwind_start((unsigned)settings->depth);
	control_shared->is_active = settings->start_active;
	control_shared->rate_bytes = settings->rate_bytes;
}

static void settle_child(void)
{
	unwind_forked();
	text_format(process.parent_path, sizeof(process.parent_path), "%s", process.path);
}

static void fill_identity(struct control_page *page, int fd, const struct clock_reading *start)
{
	struct stat st;

	memset(page, 0, sizeof(*page));
	memcpy(page->magic, CONTROL_MAGIC, sizeof(page->magic));
	page->version = CONTROL_VERSION;
	page->slot_bytes = TRACE_UNIT_BYTES;
	page->pid = process.facts.pid;
	page->proc_start = process.facts.proc_start;
	memcpy(page->boot_id, process.facts.boot_id, sizeof(page->boot_id));
	if (os_fstat(fd, &st) == 0) {
		page->trace_device = st.st_dev;
		page->trace_inode = st.st_ino;
	}
	page->start_ticks = start->ticks;
	page->start_mono_ns = start->mono_ns;
	page->start_real_ns = start->real_ns;
	page->generation = control_generation() + 1; /* 0 is no generation: see thread_state.h */
	page->is_active = control_is_active();
	page->rate_bytes = control_rate_bytes();
	page->tail = TRACE_UNIT_BYTES;
	text_format(page->trace_path, sizeof(page->trace_path), "%s", process.path);
}

static int write_header(const struct clock_reading *start, uint8_t *records, bool with_modules)
{
	struct record_cursor cursor = { .at = records, .end = records + TRACE_RECORDS_MAX };
	struct trace_header header = {
		.facts = &process.facts,
		.start = start,
		.parent_trace = process.is_forked ? process.parent_path : NULL,
		.with_modules = with_modules,
	};
	struct trace_piece piece = {
		.magic = TRACE_PIECE_MAGIC,
		.kind = TRACE_PIECE_HEADER,
		.tid = (uint32_t)process.facts.tid,
		.ticks = start->ticks,
		.mono_ns = start->mono_ns,
		.real_ns = start->real_ns,
	};

	if (!companion_path()[0] || companion_is_elsewhere())
		header.companion = companion_path();
	trace_header_store(&header, &cursor);
	piece.word = (uint64_t)(cursor.at - records);
	return trace_writer_put_at(&piece, records, 0);
}

/* The trace is there and empty: everything else about it. */
static bool furnish(int fd)
{
	struct control_page *identity = os_map(sizeof(*identity));
	uint8_t *records = os_map(TRACE_UNIT_BYTES);
	struct clock_reading start;
	bool done = false;

	clock_read(&start);
	if (identity && records && pieces_restart()) {
		fill_identity(identity, fd, &start);
		trace_writer_open(fd, process.path, settings_get()->max_trace_bytes);
		companion_open(process.path, identity, process.temporary);
		modules_restart();
		module_names_restart();
		done = write_header(&start, records, !process.is_forked) == 0;
		if (!done)
			companion_unlink();
	}
	if (identity)
		os_unmap(identity, sizeof(*identity));
	if (records)
		os_unmap(records, TRACE_UNIT_BYTES);
	os_call2(SYS_flock, fd, LOCK_UN);
	return done;
}

static int create_here(const char *settled)
{
	int fd = trace_name_create(settled, &process.facts, process.path);

	if (fd < 0)
		return fd;
	if (furnish(fd))
		return 0;
	os_call1(SYS_unlink, process.path);
	os_close(fd);
	return -ENOSPC;
}

static const char *reason(int error)
{
	static const struct {
		int error;
		const char *words;
	} reasons[] = {
		{ -EACCES, "permission denied" },
		{ -EPERM, "not permitted" },
		{ -ENOENT, "no such folder" },
		{ -ENOTDIR, "not a folder" },
		{ -EROFS, "read-only file system" },
		{ -ENOSPC, "no space left" },
		{ -EDQUOT, "disk quota exceeded" },
		{ -EMFILE, "no descriptor left" },
		{ -ENFILE, "no descriptor left in the system" },
		{ -ENAMETOOLONG, "name too long" },
		{ -ENOTSUP, "not a file" },
		{ -EEXIST, "too many files of this name" },
	};
	static char number[24];

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].error == error)
			return reasons[i].words;
	text_format(number, sizeof(number), "error %d", -error);
	return number;
}

/* Where the trace was asked for; else $TMPDIR; else /tmp, for children as well. */
static bool create_somewhere(void)
{
	static char asked[TRACE_NAME_MAX], moved[TRACE_NAME_MAX];
	const char *const folders[] = { process.temporary, "/tmp" };
	int error = create_here(process.settled);

	if (!error)
		return true;
	if (!trace_name_expand(process.settled, &process.facts, asked, sizeof(asked)))
		text_format(asked, sizeof(asked), "%s", process.settled);
	for (unsigned i = 0; i < 2; i++) {
		if (!folders[i][0])
			continue;
		trace_name_move(process.settled, folders[i], moved, sizeof(moved));
		if (create_here(moved) != 0)
			continue;
		log_warn("%s: %s; writing %s instead", asked, reason(error), process.path);
		text_format(process.settled, sizeof(process.settled), "%s", moved);
		return true;
	}
	log_warn("%s: %s, and nowhere else to write: nothing is recorded", asked, reason(error));
	process.is_hopeless = true;
	return false;
}

static bool begin_trace(void)
{
	process.is_forked = process.generation != 0;
	process.end_count = 0;
	if (!process.is_forked)
		settle_image();
	else
		settle_child();
	trace_writer_close();
	losses_restart();
	process_facts_read(&process.facts,
			   process.is_forked ? NULL : settings_variable("MEMPROF_IMAGE"));
	if (!create_somewhere())
		return false;
	readings_restart();
	log_info("writing %s", process.path);
	return true;
}

/* Programs that run with more rights than their user write no files for him. */
static bool is_privileged(void)
{
	return os_call0(SYS_getuid) != os_call0(SYS_geteuid) ||
	       os_call0(SYS_getgid) != os_call0(SYS_getegid);
}

static bool may_record(void)
{
	if (process.generation)
		return settings_get()->follow_children && !process.is_hopeless;
	return !is_privileged();
}

static bool begin(struct life *now)
{
	bool is_ready;

	if (!owner_lock_take(&now->beginning))
		return false;
	if (!now->phase) {
		thread_id_process_begun();
		is_ready = may_record() && begin_trace();
		process.generation++;
		__atomic_store_n(&now->phase, is_ready ? PHASE_READY : PHASE_SILENT,
				 __ATOMIC_RELEASE);
	}
	owner_lock_release(&now->beginning);
	return now->phase == PHASE_READY;
}

/* The page that tells a child from its parent. Without it (Linux before 4.14)
 * children would write into their parent's trace: better none at all. */
static struct life *make_life(void)
{
	struct life *fresh = os_map(sizeof(*fresh)), *nobody = NULL;

	if (!fresh)
		return NULL;
	if (!os_wipe_on_fork(fresh, sizeof(*fresh))) {
		log_warn("this kernel can't wipe memory on fork (Linux 4.14 can): nothing is "
			 "recorded");
		fresh->phase = PHASE_SILENT;
	}
	if (__atomic_compare_exchange_n(&life, &nobody, fresh, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return fresh;
	os_unmap(fresh, sizeof(*fresh));
	return nobody;
}

static uint32_t current_phase(void)
{
	struct life *now = __atomic_load_n(&life, __ATOMIC_ACQUIRE);

	return now ? __atomic_load_n(&now->phase, __ATOMIC_ACQUIRE) : (uint32_t)PHASE_FRESH;
}

bool process_ready(void)
{
	struct life *now = __atomic_load_n(&life, __ATOMIC_ACQUIRE);
	uint32_t phase = current_phase();

	if (__builtin_expect(phase != PHASE_FRESH, 1))
		return phase == PHASE_READY;
	if (os_is_forbidden)
		return false;
	if (!now)
		now = make_life();
	return now && begin(now);
}

bool process_is_begun(void)
{
	return current_phase() == PHASE_READY;
}

int process_pid(void)
{
	return (int)process.facts.pid;
}

bool process_is_silent(void)
{
	return current_phase() == PHASE_SILENT;
}

bool process_is_forked(void)
{
	return process.is_forked;
}

uint32_t process_generation(void)
{
	return current_phase() == PHASE_READY ? process.generation : 0;
}

/* ---- ending ----------------------------------------------------------------------- */

/* A vfork child shares its parent's memory, and with it a phase READY. */
bool process_state_is_recording(void)
{
	return current_phase() == PHASE_READY && (uint64_t)os_pid() == process.facts.pid;
}

size_t process_state_image_text(char *out, size_t room)
{
	return text_format(out, room, "MEMPROF_IMAGE=%lu %lu %lu", process.facts.image,
			   process.facts.pid, process.facts.proc_start);
}

/* A piece of lane 0, which has no slot: what concerns the whole process. It has
 * dropped nothing itself: what others did is in their pieces, and by cause in
 * the LOST records. */
static bool write_piece(const uint8_t *records, size_t bytes,
			int (*put)(struct trace_piece *, const uint8_t *, uint64_t *))
{
	struct trace_piece piece = {
		.magic = TRACE_PIECE_MAGIC,
		.kind = TRACE_PIECE_EVENTS,
		.tid = (uint32_t)os_tid(),
	};
	struct clock_reading now;
	uint64_t place = 0;

	clock_read(&now);
	piece.ticks = now.ticks;
	piece.mono_ns = now.mono_ns;
	piece.real_ns = now.real_ns;
	piece.word = (uint64_t)++process.end_count << 32 | bytes;
	return put(&piece, records, &place) == 0;
}

static bool write_lane_0(const uint8_t *records, size_t bytes)
{
	return write_piece(records, bytes, trace_writer_put_beyond);
}

/* Names are a comfort: they stay within the limit of the trace, and where they
 * can't be written the pieces are numbered without a gap. */
static bool write_names(const uint8_t *records, size_t bytes)
{
	uint32_t count = process.end_count;

	if (!trace_writer_is_full() && write_piece(records, bytes, trace_writer_put))
		return true;
	process.end_count = count;
	return false;
}

static bool write_end(enum trace_end kind)
{
	uint8_t records[256];
	struct record_cursor cursor = { .at = records, .end = records + sizeof(records) };

	losses_store(&cursor);
	record_clock(&cursor);
	record_begin(&cursor, TRACE_KIND_END);
	record_byte(&cursor, trace_writer_is_full() ? TRACE_END_FULL : kind);
	record_end(&cursor);
	return write_lane_0(records, (size_t)(cursor.at - records));
}

static void fold(enum trace_end kind)
{
	bool is_complete;

	/* From here on others write through: what they commit behind our back is
	 * either in the slots that we read below, or seen to by themselves. */
	if (kind != TRACE_END_EXEC)
		__atomic_store_n(&event_buffer_is_late, 1, __ATOMIC_SEQ_CST);
	module_names_store(write_names);
	is_complete = pieces_fold();
	is_complete &= write_end(kind);
	__atomic_store_n(&control_shared->ended, is_complete, __ATOMIC_RELEASE);
	if (is_complete)
		companion_unlink();
}

void process_fold(enum trace_end kind)
{
	if (os_is_forbidden || !process_state_is_recording() ||
	    !owner_lock_take(&life->folding))
		return;
	fold(kind);
	owner_lock_release(&life->folding);
}

/* `folding` guards the numbers of lane 0's pieces. */
void process_keep_names(uintptr_t inside)
{
	if (os_is_forbidden || !process_state_is_recording() || modules_is_from_start(inside) ||
	    !owner_lock_take(&life->folding))
		return;
	module_names_store_one(inside, write_names);
	owner_lock_release(&life->folding);
}

void process_exec_failed(void)
{
	if (os_is_forbidden || !process_state_is_recording())
		return;
	companion_restore();
	__atomic_store_n(&control_shared->ended, 0, __ATOMIC_RELEASE);
}

void process_note_fact(const char *key, const char *value)
{
	uint8_t records[1200];
	struct record_cursor cursor = { .at = records, .end = records + sizeof(records) };

	header_note_fact(key, value);
	if (os_is_forbidden || !process_state_is_recording())
		return;
	meta_text(&cursor, key, value);
	write_lane_0(records, (size_t)(cursor.at - records));
}

static void end_at_exit(int status, void *unused)
{
	(void)status;
	(void)unused;
	process_fold(TRACE_END_EXIT);
}

/*
 * Libraries have destructors too, and some run after this one. A function that is
 * registered while exit() is running them runs behind them all. (on_exit, since
 * what atexit registers belongs to our library and would run right now.)
 */
__attribute__((destructor)) static void end_of_library(void)
{
	if (os_is_forbidden || !process_state_is_recording() || on_exit(end_at_exit, NULL) == 0)
		return;
	process_fold(TRACE_END_EXIT);
}
