/*
 * Places in the code that stacks go through, shared by all threads: from a
 * program counter to how the walk steps on from there, and to the small id that
 * traces call it by. Readers take no lock and no atomic instruction but a load:
 *
 *	bucket, one cache line   key key key key key | id id id id id
 *	key, one word            pc (47 bits) exact (1 bit) row (16 bits)
 *
 * An id is written before its key, and the key by one release store, so a key
 * that is seen is whole. A busy lock is never waited for: the place is then
 * found out for this once, and travels as a literal.
 */
#ifndef LIBMEMPROF_PC_TABLE_H
#define LIBMEMPROF_PC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program counter and, in bit 0, whether it is exact: not a return address. */
typedef uint64_t pc_place;

static inline pc_place pc_place_of(uintptr_t pc, bool is_exact)
{
	return (uint64_t)pc << 1 | is_exact;
}

static inline uintptr_t pc_place_pc(pc_place place)
{
	return (uintptr_t)(place >> 1);
}

/*
 * How to step on, in 16 bits.
 *
 *	bits 14-15  enum pc_row_kind
 *	SP, FP      bits 0-9: CFA = register + 8 * these; the return address lies
 *	            below the CFA; bits 10-13, s: 0 = the frame pointer is kept,
 *	            else the caller's is at CFA - 8 - 8 * s
 *	ODD         bits 0-13: index of a struct pc_odd_row
 *	OTHER       bits 0-13: enum pc_row_other
 */
typedef uint16_t pc_row;

enum pc_row_kind {
	PC_ROW_SP = 0,
	PC_ROW_FP = 1,
	PC_ROW_ODD = 2,
	PC_ROW_OTHER = 3,
};

enum pc_row_other {
	PC_ROW_END = PC_ROW_OTHER << 14, /* the outermost frame */
	PC_ROW_LOST,                     /* no rule for this place */
	PC_ROW_SIGNAL,                   /* the kernel's signal frame */
	PC_ROW_GENERATED,                /* code of no module: by frame pointer, with checks */
	PC_ROW_REGISTERS,                /* needs more registers than a walk carries */
};

#define PC_ROW_WORDS 0x3ff
#define PC_ROW_SLOT_SHIFT 10

static inline unsigned pc_row_kind(pc_row row)
{
	return row >> 14;
}

static inline unsigned pc_row_slot(pc_row row)
{
	return (row >> PC_ROW_SLOT_SHIFT) & 15;
}

/* Rules that don't fit 16 bits: large frames, realigned stacks. */
enum pc_odd_fp {
	PC_ODD_FP_SAME,
	PC_ODD_FP_AT_CFA,
	PC_ODD_FP_AT_FP,
};

struct pc_odd_row {
	bool cfa_from_fp;   /* base is the frame pointer, else the stack pointer */
	bool cfa_is_loaded; /* CFA = the word at base + cfa_offset */
	uint8_t fp_kind;    /* enum pc_odd_fp */
	int32_t cfa_offset;
	int32_t fp_offset;
};

#define PC_TABLE_OWN __attribute__((visibility("hidden"))) /* read without the GOT */

extern struct pc_odd_row pc_odd_rows[] PC_TABLE_OWN;

static inline const struct pc_odd_row *pc_row_odd(pc_row row)
{
	return &pc_odd_rows[row & 0x3fff];
}

/* What is known of a place. */
struct pc_found {
	uint32_t id; /* TRACE_FRAME_LITERAL: none; TRACE_FRAME_LOST: there is no code */
	pc_row row;
};

#define PC_BUCKET_KEYS 5
#define PC_BUCKETS_PROBED 4

struct pc_bucket {
	uint64_t keys[PC_BUCKET_KEYS]; /* 0: free, and none follows */
	uint32_t ids[PC_BUCKET_KEYS];
	uint32_t unused;
};

struct pc_map {
	uint32_t mask;    /* buckets - 1 */
	uint32_t used;    /* keys; guarded by the lock */
	uint32_t padding[14];
	/* the buckets follow */
};

_Static_assert(sizeof(struct pc_bucket) == 64 && sizeof(struct pc_map) == 64, "cache lines");

static inline struct pc_bucket *pc_map_buckets(const struct pc_map *map)
{
	return (struct pc_bucket *)(map + 1);
}

/* Replaced by the holder of the lock, read by all; an old map stays readable. */
extern struct pc_map *pc_table_map PC_TABLE_OWN;

static inline uint64_t pc_key_of(pc_place place, pc_row row)
{
	return place << 16 | row;
}

static inline uintptr_t pc_key_pc(uint64_t key)
{
	return (uintptr_t)(key >> 17);
}

/*
 * The hash takes bits from the middle of a product whose factor fits an instruction:
 * a bucket's distance from the first in bytes.
 */
static inline uint64_t pc_map_offsets(const struct pc_map *map)
{
	return (uint64_t)map->mask * sizeof(struct pc_bucket);
}

static inline uint64_t pc_map_offset(uint64_t offsets, pc_place place)
{
	return (place * 0xffffffff9e3779b1ull) >> 20 & offsets;
}

static inline uint32_t pc_map_bucket(const struct pc_map *map, pc_place place)
{
	return (uint32_t)(pc_map_offset(pc_map_offsets(map), place) / sizeof(struct pc_bucket));
}

/* The usual case, quick: a place that is known. */
static inline bool pc_table_find(const struct pc_map *map, pc_place place, struct pc_found *found)
{
	uint32_t at = pc_map_bucket(map, place);

	for (unsigned probed = 0; probed < PC_BUCKETS_PROBED; probed++) {
		const struct pc_bucket *bucket = &pc_map_buckets(map)[(at + probed) & map->mask];

		for (unsigned i = 0; i < PC_BUCKET_KEYS; i++) {
			uint64_t key = __atomic_load_n(&bucket->keys[i], __ATOMIC_ACQUIRE);

			if (key >> 16 == place) {
				found->row = (pc_row)key;
				found->id = bucket->ids[i];
				return true;
			}
			if (key == 0)
				return false;
		}
	}
	return false;
}

/* The other case: asks the place's module, and remembers the answer if it can. */
void pc_table_resolve(pc_place place, struct pc_found *found);

/* Is there code at @pc, in a module or generated? Reads nothing at @pc. */
bool pc_table_has_code(uintptr_t pc);

/* Rises when places were forgotten; never 0. */
extern uint32_t pc_table_generation PC_TABLE_OWN;

/* For unwind.c: see unwind_start, unwind_forked, unwind_modules_changed. */
void pc_table_start(void);
void pc_table_forked(void);
void pc_table_modules_changed(void);

#endif
