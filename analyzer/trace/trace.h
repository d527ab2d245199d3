/*
 * A trace opened for reading: the file, its companion when there is one, and
 * what they say of the process. Events come out of trace_replay, in time order,
 * each free matched with its allocation; everything else is in the tables of
 * struct trace, which are complete once a replay has run (modules, program
 * counters, threads, marks and readings already after trace_open).
 *
 * The file is treated as if a stranger wrote it. Damage costs the rest of the
 * piece it lies in and is listed in `faults`; it is no error.
 */
#ifndef ANALYZER_TRACE_TRACE_H
#define ANALYZER_TRACE_TRACE_H

#include "memprof/trace_format.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_module {
	uint64_t start, end;       /* where it was mapped */
	uint64_t bias;             /* address in memory - address in the file */
	uint64_t file_bytes, mtime_ns, device, inode;
	uint64_t first_ns, gone_ns;/* when it was there; gone UINT64_MAX = to the end */
	uint8_t build_id[64];
	unsigned build_id_bytes;
	const char *path;
};

struct trace_pc {
	uint64_t address;
	uint32_t flags;            /* enum trace_pc_flag; TRACE_PC_UNDEFINED below */
	int32_t module;            /* index, -1 = none */
};
#define TRACE_PC_UNDEFINED 0x80000000u /* an id that no record defines */

/* The stacks as a tree: node 0 is the empty stack; a node's frame is `pc`, its
 * caller is the node `parent`. A stack is the number of its innermost node.
 * `pc` is an index into struct trace.pcs, or one of enum trace_stack_pc. */
struct trace_stack_node {
	uint32_t parent;
	uint32_t pc;
};
enum trace_stack_pc {
	TRACE_STACK_PC_CUT = 0xfffffff0u,  /* deeper frames were not kept */
	TRACE_STACK_PC_LOST,               /* the walk could not go on */
	TRACE_STACK_PC_NOT_ASKED,          /* no stack: MEMPROF_DEPTH=0 */
	TRACE_STACK_PC_BUSY,               /* no stack: the unwinder was interrupted */
	TRACE_STACK_PC_FAILED,             /* no stack: not even the first frame was told */
};

struct trace_thread {
	uint32_t tid;
	const char *name;          /* "" when not known */
	uint64_t first_ns, last_ns;
	uint64_t allocations, frees;
};

struct trace_marker {
	uint32_t kind;             /* enum trace_mark of trace_format.h */
	uint32_t number;           /* snapshots: 1, 2, ... in time order */
	uint64_t time_ns;
	uint64_t real_ns;          /* as told by who made it, 0 = not told */
	const char *name, *detail;
	uint64_t value;
	bool from_outside;
};

/* Names kept in the trace, see enum trace_names_form; @bytes as they are written. */
struct trace_names {
	uint64_t module_start;     /* 0: of generated code */
	uint64_t time_ns;
	const uint8_t *build_id;
	unsigned build_id_bytes;
	uint32_t part, parts, form;
	const uint8_t *bytes;
	size_t byte_count;
};

struct trace_reading {
	uint64_t time_ns, resident, shared, virtual_bytes, mapped;
};

/* A part of a reading of smaps; trace_smaps_text joins and unpacks them. */
struct trace_smaps {
	uint64_t time_ns, real_ns;
	uint32_t part, parts;
	const uint8_t *bytes;
	size_t size;
};

struct trace_fault {
	uint64_t offset;           /* in the file named by in_companion */
	bool in_companion;
	const char *words;
};

struct trace_loss_count {
	uint32_t cause;            /* enum trace_loss */
	uint64_t events;
};

struct trace_info {
	uint64_t pid, ppid;
	/* NULL when the trace doesn't say. */
	const char *exe, *host, *version, *allocator, *own_malloc, *parent_trace, *settings;
	const char *companion;     /* where it is when it isn't beside the trace */
	char **command;            /* NULL-terminated */
	uint64_t start_unix_ns, duration_ns;
	uint64_t rate_bytes, depth; /* rate: at the start */
	bool exact;                /* every lane was exact all the time */
	bool complete;             /* ended in order and nothing is damaged or missing */
	bool running;              /* the companion belongs to a living process */
	bool forked;
	uint32_t end;              /* enum trace_end, 0 = no record of an end */
	uint64_t events;           /* records of allocations, frees, reallocs and maps */
	uint64_t bytes;            /* of the file, the holes left out */
	size_t pieces, lanes;      /* slots of a companion are counted as pieces */
	bool has_companion;        /* joined with it */
	bool packed;
};

struct trace {
	const char *path;
	struct trace_info info;
	struct trace_module *modules;   size_t module_count;
	struct trace_pc *pcs;           size_t pc_count;
	struct trace_stack_node *nodes; size_t node_count;
	struct trace_thread *threads;   size_t thread_count;
	struct trace_marker *marks;     size_t mark_count;
	struct trace_reading *readings; size_t reading_count;
	struct trace_names *names;      size_t names_count;
	struct trace_smaps *smaps;      size_t smaps_count; /* parts, by time */
	struct trace_fault *faults;     size_t fault_count;
	struct trace_loss_count *losses;size_t loss_count;
	const char **scopes;            size_t scope_count; /* index 0: "" = none */
};

/* Opens @path (and its companion). The result is the caller's, for trace_close.
 * A file without a single usable piece is an error. */
int trace_open(const char *path, struct trace **trace, struct error *err);
void trace_close(struct trace *trace);

/* The text of the reading whose first part is smaps[@index] (part 0), the
 * caller's, for free(). NULL: parts are missing or damaged. */
char *trace_smaps_text(const struct trace *trace, size_t index, size_t *bytes);

enum trace_event_kind {
	TRACE_EVENT_ALLOCATE = 1,
	TRACE_EVENT_FREE = 2,
	TRACE_EVENT_MAP = 3,         /* bytes mapped by the program itself */
	TRACE_EVENT_UNMAP = 4,       /* bytes unmapped of an earlier MAP; may be a part of it */
};

enum trace_event_flag {
	TRACE_EVENT_TEMPORARY = 1, /* FREE: by the allocating thread before its next allocation */
	TRACE_EVENT_REALLOC = 2,   /* one half of a realloc */
	TRACE_EVENT_INHERITED = 4, /* FREE of a block that the process was born with (fork), or
				    * from before recording: size and stack are not known */
	TRACE_EVENT_BRK = 8,       /* MAP, UNMAP: of the heap's end (brk, sbrk) */
	TRACE_EVENT_REPLACED = 16, /* FREE made up by the reader: its address was allocated again
				    * without one (a lost record); counted in trace_replay_stats */
	TRACE_EVENT_UNKNOWN = 32,  /* FREE, UNMAP made up by the reader for each block that was
				    * live when recording was stopped: neither live nor freed */
	TRACE_EVENT_PART = 64,     /* UNMAP: other parts of its mapping are still there */
};

/*
 * One event, times in ns since the start of the process. A FREE or UNMAP
 * carries what its ALLOCATE or MAP said, so a consumer needs no table of its own.
 */
struct trace_event {
	uint8_t kind;                /* enum trace_event_kind */
	uint8_t flags;
	uint16_t scope;              /* ALLOCATE: innermost scope, index into scopes */
	uint32_t thread;             /* index into threads: who did it */
	uint32_t stack;              /* of the allocation */
	uint32_t free_stack;         /* FREE: 0 when not recorded */
	uint32_t birth_thread;
	uint64_t time_ns;
	uint64_t birth_ns;           /* FREE, UNMAP */
	uint64_t address;
	uint64_t size;
	uint64_t rate;               /* of the sample; 1 = exact */
};

struct trace_replay_stats {
	uint64_t events, allocations, frees, reallocations, maps, unmaps;
	uint64_t inherited_frees, replaced, order_repairs;
	uint64_t unknown;            /* blocks that were live when recording stopped */
	/* Checks that a debug build of the library leaves in the trace. */
	uint64_t stack_checks, stack_mismatches, totals_mismatches;
};

/*
 * Gives all events in time order to @take, in batches. @take returns 0 to go
 * on; anything else ends the replay with that value. Can be run again.
 */
typedef int (*trace_take_events)(void *context, const struct trace_event *events, size_t count);
int trace_replay(struct trace *trace, trace_take_events take, void *context,
		 struct trace_replay_stats *stats, struct error *err);

/*
 * A place between two events where a replay can be taken up again: no event waits
 * there for its turn.
 */
struct trace_cut {
	uint64_t time_ns, next_ns;   /* of the last event before it, of the first behind it */
	struct trace_replay_stats stats; /* up to it */
	const uint64_t *last_addresses; /* by thread: its newest allocation, if not freed */
	size_t thread_count;
};

/* Which part of a trace is replayed. */
struct trace_part {
	const struct trace_cut *from; /* NULL: from the start. The live blocks are those that
				       * trace_live_take has been given */
	uint64_t end_ns;             /* events up to and at that time; UINT64_MAX = all */
	/* At the first place from next_cut_ns on (UINT64_MAX = nowhere) `cut` is called with
	 * the context of the events, after the events before it; it may set next_cut_ns. */
	uint64_t next_cut_ns;
	void (*cut)(void *context, const struct trace_cut *cut);
	bool is_unordered;           /* given: times ran backwards, so cuts are of no use */
};

/* As trace_replay, of @part. When it ends at end_ns, the live blocks are those at
 * that time. */
int trace_replay_part(struct trace *trace, struct trace_part *part, trace_take_events take,
		      void *context, struct trace_replay_stats *stats, struct error *err);

/* Makes the live blocks what @events say, without a replay. */
void trace_live_clear(struct trace *trace);
void trace_live_take(struct trace *trace, const struct trace_event *events, size_t count);

/* ---- the index: what is kept of a large trace from one question to the next ---- */

struct index_file;
struct index_writer;

/* The index of @trace, with the stacks that its events speak of; NULL: there is
 * none. Belongs to the trace. */
const struct index_file *trace_index(struct trace *trace);
/* What is wrong with the index has turned up: it is as if there were none. */
void trace_index_drop(struct trace *trace);
/* Begins one, if @trace is worth it; else NULL. */
struct index_writer *trace_index_begin(struct trace *trace);
/* After a replay of all events: adds what the trace itself needs to the blocks of
 * the caller, which come first, and keeps the index if @is_wanted. */
void trace_index_end(struct trace *trace, struct index_writer *writer, bool is_wanted);
/* Of the blocks of an index: how many are the caller's. */
size_t trace_index_blocks(const struct index_file *index);
/* Switches it off for traces opened from now on. */
extern bool trace_index_is_off;

/* Writes all that @trace is made of, its companion included, to a new file at
 * @output, made small: it reads like the trace itself. *@bytes (may be NULL) is
 * its size. */
int trace_pack(struct trace *trace, const char *output, uint64_t *bytes, struct error *err);

/* ---- the records themselves ---- */

enum trace_records {
	TRACE_RECORDS_HEADER = 1,  /* of pieces of kind HEADER */
	TRACE_RECORDS_LANES = 2,
	TRACE_RECORDS_OUTSIDE = 4, /* appended by other processes */
	TRACE_RECORDS_ALL = 7,
};

/* A record as it is written, decoded but matched with nothing. */
struct trace_record {
	uint64_t offset;           /* in the file named by in_companion */
	bool in_companion, is_outside;
	uint8_t op;                /* enum trace_op */
	uint8_t notes;             /* FREE, REALLOCATE */
	uint32_t kind;             /* EXTENDED: enum trace_kind */
	uint32_t lane, sequence;
	uint32_t thread;           /* index into threads; not for HEADER and outside */
	uint64_t time_ns;
	uint64_t address;          /* REALLOCATE: the new one */
	uint64_t old_address;      /* REALLOCATE */
	uint64_t size;
	uint32_t stack;            /* ALLOCATE, REALLOCATE, MAP */
	const uint8_t *payload;    /* EXTENDED */
	size_t payload_bytes;
};

/* Gives the records of the pieces that @which (enum trace_records) names, lane by
 * lane, in the order of their writing. @take returns 0 to go on; its value. */
typedef int (*trace_take_record)(void *context, const struct trace_record *record);
int trace_each_record(struct trace *trace, unsigned which, trace_take_record take, void *context);

/* After a replay that ended at its end: the blocks that are live now. */
typedef int (*trace_take_block)(void *context, const struct trace_event *allocation);
int trace_live_blocks(struct trace *trace, trace_take_block take, void *context);
/* Those of the heap alone that were born at or after @since_ns, in no order. */
int trace_live_heap(struct trace *trace, uint64_t since_ns, trace_take_block take, void *context);

#endif
