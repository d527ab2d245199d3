/*
 * The trace as both halves see it: the library writes it, the analyzer reads
 * it, man/memprof-trace.5 explains it to a stranger. Layout only; no code but
 * the few lines that both sides must do alike.
 *
 * A trace file is a row of units of 64 KiB. Each unit holds at most one PIECE:
 * a 64-byte header and records behind it. Unit 0 holds the piece of kind
 * HEADER, written once when the trace is made. A unit that was reserved but
 * never written is zero and is skipped.
 *
 * A LANE is one stream of records: pieces of the same lane with rising
 * sequence numbers. A lane belongs to one thread at a time; when a thread has
 * ended, a new one may go on in its lane (record THREAD_BEGIN). Lane 0 is not a
 * thread's: it holds what is said about the whole process.
 *
 * While the program runs, the newest part of each lane lies in a SLOT of the
 * companion file (control.h). A slot looks like a piece with another magic.
 *
 *	piece or slot  +0  magic   +4 kind    +6 flags   +8 lane    +12 tid
 *	               +16 word    +24 lost   +32 ticks  +40 mono   +48 real
 *	               +56 checksum           +64 records (word.length bytes)
 *
 * Two pieces of one lane with the same sequence number can exist (one written
 * while its thread went on, one later): the longer one counts. A slot counts
 * only where no piece of its lane has its sequence number and is as long.
 *
 * Every piece decodes by itself: at its first record the decoder's state is
 * empty (see "decoder state" below).
 */
#ifndef MEMPROF_TRACE_FORMAT_H
#define MEMPROF_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_VERSION 1
#define TRACE_UNIT_BYTES 65536u
#define TRACE_PIECE_MAGIC 0x6350504du /* "MPPc" */
#define TRACE_SLOT_MAGIC 0x6c53504du  /* "MPSl" */

enum trace_piece_kind {
	TRACE_PIECE_HEADER = 1,  /* META and MODULE records of the start */
	TRACE_PIECE_EVENTS = 2,  /* a lane's records */
	TRACE_PIECE_OUTSIDE = 3, /* appended by another process: MARK, SMAPS, MODULE_NAMES ...;
				  * lane is the pid of the writer, sequence its own count */
};

enum trace_piece_flag {
	TRACE_PIECE_OPEN = 1, /* written while its lane went on: a longer one may follow;
			       * its checksum covers what it holds all the same */
};

struct trace_piece {
	uint32_t magic;
	uint16_t kind;
	uint16_t flags;
	uint32_t lane;
	uint32_t tid;      /* thread that owns the lane at the first record */
	uint64_t word;     /* sequence << 32 | bytes of records; committed by one release store */
	uint64_t lost;     /* events this lane has dropped since its beginning */
	uint64_t ticks;    /* the clock of the records, read together with ... */
	uint64_t mono_ns;  /* ... CLOCK_MONOTONIC_RAW ... */
	uint64_t real_ns;  /* ... and CLOCK_REALTIME */
	uint64_t checksum; /* XXH3_64bits of the header with this field 0, then the records,
			    * as one run of bytes; 0 in a slot */
};

#define TRACE_PIECE_BYTES ((unsigned)sizeof(struct trace_piece))
#define TRACE_RECORDS_MAX (TRACE_UNIT_BYTES - TRACE_PIECE_BYTES)

_Static_assert(sizeof(struct trace_piece) == 64, "the header is 64 bytes");

static inline uint32_t trace_word_length(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint32_t trace_word_sequence(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/*
 * ---- Records ----------------------------------------------------------
 *
 * A record starts with a tag byte. Integers are prefix varints (varint.h)
 * unless a width is given.
 *
 *	bits 0-1  operation: EXTENDED, ALLOCATE, FREE, REALLOCATE
 *	bit  2    TIME: a time follows the tag
 *	bit  3    KNOWN: the address is an index into the address table
 *	bit  4    SAME_SIZE: the size is the last one seen with that stack
 *	bits 5-6  stack mode
 *	bit  7    NOTED: a byte of notes follows (after the time)
 *
 *	EXTENDED    tag [time] kind length payload        (kind, length varints)
 *	ALLOCATE    tag [time] [notes] address [size] stack
 *	FREE        tag [time] [notes] address
 *	REALLOCATE  tag [time] [notes] address(old) moved [size] stack
 *
 * time     How far the record's clock is ahead of the record before it, in
 *          units of 2^TRACE_TIME_SHIFT ticks. Not there: not ahead. Before the
 *          first record the clock is piece.ticks >> TRACE_TIME_SHIFT.
 * address  KNOWN: one byte, the index. Else a varint: zigzag of
 *          rotate(address) - rotate(last address), see trace_rotate.
 * moved    zigzag of rotate(new) - rotate(old); 0 when it stayed in place.
 * size     varint: bytes asked for. Not there with SAME_SIZE.
 * stack    as its mode says:
 *            SAME     nothing: cache slot used by the last ALLOCATE,
 *                     REALLOCATE or stack-bearing record
 *            CACHED   one byte: the cache slot
 *            DELTA    one byte: the cache slot that is filled by it;
 *                     popped, pushed; then `pushed` frames, outermost first
 *            NONE     one byte, enum trace_no_stack. No cache slot is used; the
 *                     last slot and its size stay as they are; size is always
 *                     written.
 * frame    varint id of a PC record; 0: a program counter of 8 bytes follows
 *          (always a return address); ids below TRACE_PC_FIRST are marks.
 *
 * A realloc that succeeds is one record and means one free and one allocation
 * at the same time. A failed call leaves no record. FREE is stamped before the
 * real free, ALLOCATE after the real allocation; REALLOCATE carries the time
 * after it.
 *
 * Decoder state, all empty at the start of a piece and after RESTART:
 *	last address    0
 *	address table   256 addresses, all 0. After *each* address of ALLOCATE,
 *	                FREE, REALLOCATE (old first, then new) it holds that
 *	                address at trace_address_slot(address), and it becomes
 *	                the last address.
 *	walked stack    a list of frames, outermost first. DELTA drops `popped`
 *	                from its inner end and appends the pushed ones. CACHED,
 *	                SAME and NONE leave it alone.
 *	cache           256 slots of {stack, last size 0}. DELTA stores the walked
 *	                stack with last size 0; every size written or repeated is
 *	                the slot's last size from then on.
 *	last slot       0, with an empty stack
 *	rate            the header's `rate`
 *	scopes          none open
 * The clock and the owner (tid) go on across RESTART.
 */
#define TRACE_TIME_SHIFT 6

enum trace_op {
	TRACE_OP_EXTENDED = 0,
	TRACE_OP_ALLOCATE = 1,
	TRACE_OP_FREE = 2,
	TRACE_OP_REALLOCATE = 3,
	TRACE_OP_MASK = 3,
};

enum trace_tag_bit {
	TRACE_TAG_TIME = 1 << 2,
	TRACE_TAG_KNOWN = 1 << 3,
	TRACE_TAG_SAME_SIZE = 1 << 4,
	TRACE_TAG_STACK_SHIFT = 5,
	TRACE_TAG_NOTED = 1 << 7,
};

enum trace_stack_mode {
	TRACE_STACK_SAME = 0,
	TRACE_STACK_CACHED = 1,
	TRACE_STACK_DELTA = 2,
	TRACE_STACK_NONE = 3,
};

enum trace_no_stack {
	TRACE_NO_STACK_ASKED = 0,  /* MEMPROF_DEPTH=0 */
	TRACE_NO_STACK_BUSY = 1,   /* the unwinder was interrupted in the middle */
	TRACE_NO_STACK_FAILED = 2, /* not even the first frame could be told */
};

/* The notes byte. */
enum trace_note {
	TRACE_NOTE_TEMPORARY = 1, /* FREE in a sampled lane: freed by the allocating thread
				   * while its countdown had not moved */
};

/* Frame ids below TRACE_PC_FIRST stand for no place in the code. They appear
 * at the outer end of a stack only. */
enum trace_frame_mark {
	TRACE_FRAME_LITERAL = 0, /* 8 bytes of program counter follow */
	TRACE_FRAME_CUT = 1,     /* deeper frames exist and were not kept (MEMPROF_DEPTH). A
				  * stack with more than `depth` frames behind it, or without
				  * it, stands for the inner ones: see the manual page */
	TRACE_FRAME_LOST = 2,    /* the walk could not go on: no rule for this place */
	TRACE_PC_FIRST = 16,
};

#define TRACE_CACHE_SLOTS 256
#define TRACE_ADDRESS_SLOTS 256

/* Allocators align to 16 bytes: rotating makes the differences small. */
static inline uint64_t trace_rotate(uint64_t address)
{
	return (address >> 4) | (address << 60);
}

static inline uint64_t trace_unrotate(uint64_t rotated)
{
	return (rotated << 4) | (rotated >> 60);
}

static inline unsigned trace_address_slot(uint64_t address)
{
	return (unsigned)((address >> 4) ^ (address >> 12)) & (TRACE_ADDRESS_SLOTS - 1);
}

/*
 * ---- Extended records --------------------------------------------------
 *
 * "v" is a varint, "s" a string: varint length, then its bytes without a
 * terminating zero; "b" bytes up to the end of the payload; "u8" one byte.
 * A reader skips kinds that it doesn't know, and bytes behind the fields that
 * it knows: fields are only ever added at the end. Kinds 7 and 18 are free.
 */
enum trace_kind {
	TRACE_KIND_META = 1,         /* s key, b value: a fact on the process, see below */
	TRACE_KIND_MODULE = 2,       /* v start, v end, v bias, v file bytes, v mtime (unix ns),
				      * v device, v inode, s build-id (raw bytes), s path */
	TRACE_KIND_MODULE_GONE = 3,  /* v start */
	TRACE_KIND_PC = 4,           /* v id, v program counter, v flags (enum trace_pc_flag) */
	TRACE_KIND_THREAD_BEGIN = 5, /* v tid: the lane is this thread's from here on */
	TRACE_KIND_THREAD_NAME = 6,  /* s name of the lane's thread */
	TRACE_KIND_MARK = 8,         /* v enum trace_mark, s name, s detail, v real_ns (0 = the
				      * record's own time), v value */
	TRACE_KIND_READING = 9,      /* v resident, v shared, v virtual bytes, v mapped by the
				      * program itself (the library's own count) */
	TRACE_KIND_RATE = 10,        /* v rate: samples of this lane from here on */
	TRACE_KIND_LOST = 11,        /* v enum trace_loss, v events */
	TRACE_KIND_RESTART = 12,     /* forget the decoder state */
	TRACE_KIND_MAP = 13,         /* u8 enum trace_map_op, v address, v bytes, v old address,
				      * v old bytes, v prot, v flags, v fd + 1, v offset,
				      * u8 stack mode, stack */
	TRACE_KIND_SCOPE_BEGIN = 14, /* s name, v 1 when restated at the start of a piece */
	TRACE_KIND_SCOPE_END = 15,
	TRACE_KIND_FREE_STACK = 16,  /* u8 stack mode, stack: where the FREE or REALLOCATE that
				      * follows was called */
	TRACE_KIND_END = 17,         /* u8 enum trace_end: recording ended in order */
	TRACE_KIND_CLOCK = 19,       /* v ticks, v mono_ns, v real_ns, read together */
	TRACE_KIND_STACK_CHECK = 20, /* u64: XXH3 of the frames (u64 program counters, innermost
				      * first) of the record before it, by another unwinder;
				      * debug builds only */
	TRACE_KIND_USABLE = 21,      /* v requested, v usable: what the allocator gives */
	TRACE_KIND_SMAPS = 22,       /* v real_ns, v part, v parts, b a part of the text of
				      * /proc/PID/smaps, compressed by zstd as a whole; parts count
				      * from 0 and have the same real_ns */
	TRACE_KIND_MODULE_NAMES = 23,/* v module start, s build-id, v part, v parts,
				      * v enum trace_names_form, b names */
	TRACE_KIND_LANE_TOTALS = 24, /* v allocations, v frees seen by this lane in the piece so
				      * far: lets a reader check itself (debug builds only) */
};

/*
 * Names of functions, kept for when the module's file is gone. `part` and
 * `parts` count the records that hold one thing.
 *
 *	SYMBOLS  complete in itself (part 0 of 1): rows of
 *	           zigzag varint  value - value of the row before (first: - 0), the
 *	                          address in the file's terms
 *	           varint         size in bytes
 *	           u8             ELF binding: 0 local, 1 global, 2 weak
 *	           s              linkage name
 *	         Several records of one module add up.
 *	FRAMES   the parts in order are one zstd frame; in it is what an analyzer
 *	         found out about addresses of this module: functions, inlined calls,
 *	         files and lines, in its own format (unknown ones are skipped)
 *	MAP      of generated code (module start 0): text as in /tmp/perf-PID.map,
 *	         whole lines in each record; a later line overrides earlier ones
 */
enum trace_names_form {
	TRACE_NAMES_SYMBOLS = 1,
	TRACE_NAMES_FRAMES = 2,
	TRACE_NAMES_MAP = 3,
};

enum trace_pc_flag {
	TRACE_PC_EXACT = 1,         /* not a return address: the place itself (a signal's frame) */
	TRACE_PC_FRAME_POINTER = 2, /* found by the frame pointer: generated code */
	TRACE_PC_NO_MODULE = 4,     /* lies in no loaded module */
};

enum trace_mark {
	TRACE_MARK_SNAPSHOT = 1,
	TRACE_MARK_EVENT = 2,
	TRACE_MARK_RESET = 3,
	TRACE_MARK_START = 4,
	TRACE_MARK_STOP = 5,
	TRACE_MARK_RATE = 6,        /* value: the new rate */
};

enum trace_map_op {
	TRACE_MAP_MMAP = 1,
	TRACE_MAP_MUNMAP = 2,
	TRACE_MAP_MREMAP = 3,
	TRACE_MAP_BRK = 4,          /* address: new end, old address: old end */
};

enum trace_end {
	TRACE_END_EXIT = 1,
	TRACE_END_EXEC = 2,
	TRACE_END_STOPPED = 3,      /* the library gave up; a LOST record says why */
	TRACE_END_FULL = 4,         /* MEMPROF_MAX_TRACE reached */
};

/* Why an event is not in the trace. */
enum trace_loss {
	TRACE_LOSS_NO_SPACE = 1,    /* the trace could not grow: disk full, file size limit */
	TRACE_LOSS_NO_MEMORY = 2,   /* no memory for a thread's state */
	TRACE_LOSS_BUSY = 3,        /* a signal handler interrupted the recorder twice over */
	TRACE_LOSS_MAX_TRACE = 4,   /* MEMPROF_MAX_TRACE reached */
	TRACE_LOSS_CLOSED = 5,      /* the trace was closed under us and can't be opened again */
	TRACE_LOSS_STOPPED = 6,     /* recording was off: not an error */
	TRACE_LOSS_LATE = 7,        /* after the end of the process had begun */
};

/*
 * META keys (values are text; numbers in decimal):
 *	version         of the library          command     arguments, NUL between them
 *	pid, ppid, tid  as the process sees     nspid       pids from outermost namespace in
 *	exe             path of the program     host        name of the machine
 *	start_unix_ns   time of the start       start_ticks, start_mono_ns: the same moment
 *	clock           tsc | monotonic_raw     ticks_per_second  estimate, 0 = not known
 *	rate, depth     settings at the start   settings    NAME=VALUE lines of all of them
 *	forked          1: a child of fork that started with its parent's blocks
 *	parent_trace    its parent's file       allocator   path of the module that has malloc
 *	own_malloc      path: the program has its own malloc, what it gives is not seen
 *	image           how many programs this pid has been
 *	boot_id, proc_start (clock ticks since boot, field 22 of /proc/PID/stat)
 *	companion       path of the companion file where it is not beside the trace
 *	stack_lo, stack_hi: bounds of the main thread's stack
 */

#endif
