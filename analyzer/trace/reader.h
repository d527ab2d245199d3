/*
 * What stands behind struct trace: the parts that the files of this folder
 * share. Nobody outside the folder looks in here.
 *
 * Times are kept as the trace has them, in units of 2^TRACE_TIME_SHIFT ticks
 * since the start, and turned into ns where they are handed out.
 */
#ifndef ANALYZER_TRACE_READER_H
#define ANALYZER_TRACE_READER_H

#include "trace/digest.h"
#include "trace/index_file.h"
#include "trace/live_heap.h"
#include "trace/live_maps.h"
#include "trace/pieces.h"
#include "trace/stacks.h"
#include "trace/trace.h"
#include "util/hash_map.h"
#include "util/string_arena.h"

/* From the trace's clock to ns since the start of the process. */
struct trace_clock {
	uint64_t base;         /* units at the start */
	uint64_t ns_per_unit;  /* 32.32 fixed point */
};

/* Read together. */
struct clock_pair {
	uint64_t ticks, mono_ns;
};

struct module_gone {
	uint64_t start, time;
};

/* The threads of one lane, one after the other. A THREAD_BEGIN record is known
 * again by its piece and where it ends in it. */
struct thread_link {
	uint32_t next;         /* HASH_MAP_NONE = no other */
	uint32_t piece, record_end; /* of its THREAD_BEGIN; 0, 0 = it has none */
};

struct reader {
	struct trace trace;    /* what others see; first */
	struct pieces pieces;
	struct string_arena strings;
	struct trace_clock clock;
	struct stacks stacks;
	struct live_heap heap;
	struct live_maps maps;

	struct hash_map pc_of_id, pc_of_literal, scope_of_hash;
	struct hash_map thread_of_tid; /* the first that had it */
	uint32_t *pc_of_low_id; /* the same for ids below pc_low_ids; HASH_MAP_NONE */
	uint32_t pc_low_ids;
	uint64_t faults_passed_over;
	bool has_replayed;     /* to the end: faults of decoding are known */

	/* Of the scan, see facts.c. */
	uint64_t rate;         /* at the start */
	uint32_t depth;        /* frames kept of a stack (MEMPROF_DEPTH) */
	uint64_t ticks_per_second, start_ticks, start_mono_ns;
	struct clock_pair latest; /* of the CLOCK records */
	bool has_start, has_end, is_missing_pieces, was_sampled;
	struct thread_link *links; /* by thread */
	uint64_t *pc_times;    /* by pc: of its record */
	uint32_t *module_order; /* modules by beginning, then by time */
	uint64_t *module_reach; /* by the same order: the farthest end up to here */
	struct module_gone *gone;
	size_t gone_count;
	uint32_t *by_real;     /* pieces with a time of the wall clock, by it; made on need */
	size_t by_real_count;
	uint64_t *lane_events; /* by row of pieces.lanes */

	/* Of the index, see trace_index.c. */
	struct digest digest;
	struct index_file *index;    /* NULL = none */
	struct index_identity identity;
	bool can_index;        /* large enough, and nobody writes to it */
	bool is_index_taken;   /* the stacks are those of the index */
	size_t scanned_pcs;    /* known before the first replay */
};

static inline struct reader *reader_of(struct trace *trace)
{
	return (struct reader *)trace;
}

static inline uint64_t clock_ns(const struct trace_clock *clock, uint64_t units)
{
	uint64_t since = units > clock->base ? units - clock->base : 0;

	return (uint64_t)((unsigned __int128)since * clock->ns_per_unit >> 32);
}

/* The other way: exact for what clock_ns gave, where a unit is 1 ns or more. */
static inline uint64_t clock_units(const struct trace_clock *clock, uint64_t ns)
{
	return (uint64_t)((((unsigned __int128)ns << 32) + clock->ns_per_unit - 1) /
			  clock->ns_per_unit);
}

void reader_fault(void *reader, uint64_t offset, bool in_companion, const char *words);

/* facts.c: everything that isn't an event, of all pieces. */
void facts_scan_headers(struct reader *reader);
void facts_scan(struct reader *reader);

/* The index in trace.pcs of a frame id, or of a program counter told in full;
 * both make it where it isn't known. */
uint32_t reader_pc(struct reader *reader, uint64_t id);
void reader_add_literal(struct reader *reader, const struct trace_pc *pc);
uint32_t reader_literal_pc(struct reader *reader, uint64_t address, uint64_t time);
/* Whose the lane of @thread is after the THREAD_BEGIN that ends at @record_end
 * of @piece. */
uint32_t reader_next_thread(const struct reader *reader, uint32_t thread, uint32_t piece,
			    uint32_t record_end);
/* The index in trace.scopes of a scope's name. */
uint16_t reader_scope(struct reader *reader, const uint8_t *name, size_t bytes);
/* The module that held @address at @time (units), -1 = none. */
int32_t reader_module_at(const struct reader *reader, uint64_t address, uint64_t time_ns);

/* trace_index.c: after pieces_index, looks for the index of the trace and takes its
 * digest; else sees that one is made if the trace is worth it. */
void trace_index_find(struct reader *reader);

#endif
