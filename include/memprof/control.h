/*
 * The companion file of a running process, ".NAME.live" beside the trace NAME:
 * one control page, then slots. It is mapped shared by the process; readers
 * join it with the trace, `memprof ctl` writes its control words.
 *
 *	+0     control page (4096 bytes)
 *	+4096  slot 0, slot 1, ... of TRACE_UNIT_BYTES each
 *
 * The process trusts nothing it reads here: control words are checked and
 * clamped, limits are kept in private memory.
 */
#ifndef MEMPROF_CONTROL_H
#define MEMPROF_CONTROL_H

#include <stdint.h>

#define CONTROL_MAGIC "MPLive1"
#define CONTROL_VERSION 1
#define CONTROL_PAGE_BYTES 4096u
#define CONTROL_RATE_MAX (1ull << 40)

struct control_page {
	/* Who this is: written once by the process before anything else. */
	char magic[8];
	uint32_t version;
	uint32_t slot_bytes;
	uint64_t pid;        /* as the process sees itself */
	uint64_t proc_start; /* field 22 of /proc/PID/stat */
	char boot_id[40];
	uint64_t trace_device;
	uint64_t trace_inode;
	uint64_t start_ticks;
	uint64_t start_mono_ns;
	uint64_t start_real_ns;

	/* Control words: written by anybody allowed to open the file, read by the
	 * process. A change of a word is followed by a change of `generation`. */
	_Alignas(64) uint64_t generation;
	uint64_t is_active;  /* 0 or 1 */
	uint64_t rate_bytes; /* 1 = exact; up to CONTROL_RATE_MAX */

	/* Where the trace ends: every writer of pieces, inside or outside, reserves
	 * a unit with one atomic fetch_add of TRACE_UNIT_BYTES. */
	_Alignas(64) uint64_t tail;

	/* Slots that exist; written by the process. */
	_Alignas(64) uint32_t slots;
	uint32_t ended;      /* 1: the process has folded its slots into the trace */

	/* What the process says of itself for `ctl status`; approximate. */
	uint64_t lost;
	uint64_t threads; /* most that recorded at one time */

	char trace_path[2048];
};

_Static_assert(sizeof(struct control_page) <= CONTROL_PAGE_BYTES, "fits its page");

#endif
