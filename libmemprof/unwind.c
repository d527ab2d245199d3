/*
 * Taking stacks. A state of the walk is (place, stack pointer, frame pointer);
 * one step reads a few words of the stack ("slots") and gives the state of the
 * caller. Since a step depends on nothing but its state, those slots and the
 * place's row, a walk that meets a state met before, all of whose slots further
 * out still hold their values, would go on as it did then. So:
 *
 *	cache    recent whole stacks by (place, sp) of their first state. All slots
 *	         hold their values: it is that stack.
 *	memo     all states of the last walk. The walk steps outwards from the first
 *	         state until it meets the memo.
 *	table    the rows that steps follow (pc_table).
 *
 * Slots are compared from the inside out, and no further than the first that
 * differs: so exactly that memory is read which the walk itself would read.
 *
 *	frames   outermost first:  F0  F1  F2 ... Fn
 *	pairs    slot and value:   p0  p1 p2  p3 ...   those of F0, of F1, ...
 *
 * A cached stack keeps its own copy of the inner pairs, and for the outer ones it
 * names the frame of the memo that they begin at (the anchor), which must not have
 * been taken off since: that is what its serial tells.
 */
#include "unwind.h"

#include <sys/resource.h>

#include "memprof/trace_format.h"
#include "os.h"
#include "pc_table.h"
#include "unwind_arch_x86_64.h"

#define DEPTH_MAX 8192

/* Room for copied pairs of cached stacks. */
#define POOL_PAIRS 2048u
/* A cached stack copies the pairs of this many frames below the meeting point too,
 * so that it survives a walk that takes those off the memo. */
#define ANCHOR_BELOW 6
/* Pairs copied at most. */
#define COPIED_MAX 256u

#define NO_SLOT (TRACE_CACHE_SLOTS)

struct pair {
	uintptr_t slot;
	uint64_t value;
};

struct frame {
	pc_place place;
	uintptr_t sp;
	uintptr_t fp;
	uint32_t serial;    /* of the walk that put it here */
	uint32_t pairs_end; /* pairs of this frame and of those further out */
};

/* A frame's fp counts only when a step further out uses it. */
#define FP_IS_DEAD ((uintptr_t)1 << 63)

struct cached {
	pc_place place; /* 0: empty */
	uintptr_t sp;
	uintptr_t fp;
	uintptr_t fp_mask;    /* which bits of it must be equal: none or all */
	uint32_t pool_at;     /* count of pairs ever put into the pool, before ours */
	uint16_t copied;      /* pairs there */
	uint16_t anchor;      /* frames of the memo that go on behind them */
	uint32_t serial;      /* of the outermost ... innermost one of these */
	uint32_t padding;
};

/* A state of the walk as it goes, with what the table says. */
struct step {
	pc_place place;
	uintptr_t sp;
	uintptr_t fp;
	pc_row row;
};

enum memo_end {
	MEMO_END = 0,                /* the outermost frame is there */
	MEMO_CUT = TRACE_FRAME_CUT,  /* marks, as the trace has them */
	MEMO_LOST = TRACE_FRAME_LOST,
};

struct unwind_state {
	uint32_t generation;   /* 0: nothing set up yet */
	uint32_t last_slot;    /* NO_SLOT: none used */
	bool is_restarted;

	/* Stack memory known to be readable: [own_low, own_high). */
	uintptr_t own_low;
	uintptr_t own_high;

	/* The memo. */
	uint32_t frame_count;
	uint32_t end;          /* enum memo_end */
	bool is_opaque;        /* the stack walked last is not to be compared with */
	uint32_t serial;
	struct frame *frames;
	struct pair *pairs;

	/* The walk at work. */
	struct step *steps;
	uint32_t *ids;
	uint64_t *pcs;

	/* The cache. */
	uint32_t pool_used;
	struct cached cache[TRACE_CACHE_SLOTS];
	struct pair pool[POOL_PAIRS];

	uint64_t arrays[];
};

static unsigned depth_max = 256;
static uintptr_t main_stack_low, main_stack_high, main_control_block;

/* Reads of other functions' stack frames are what we are for. */
#define READS_STACKS __attribute__((no_sanitize("address", "thread")))

/* ---- memory of a state ------------------------------------------------------------- */

#define PAIRS_OF_FRAME 3

static size_t array_bytes(void)
{
	return depth_max * (sizeof(struct frame) + PAIRS_OF_FRAME * sizeof(struct pair) +
			    sizeof(struct step)) +
	       (depth_max + 2) * (sizeof(uint64_t) + sizeof(uint32_t));
}

size_t unwind_state_bytes(void)
{
	return (sizeof(struct unwind_state) + array_bytes() + OS_PAGE_BYTES - 1) &
	       ~(size_t)(OS_PAGE_BYTES - 1);
}

static void place_arrays(struct unwind_state *state)
{
	char *at = (char *)state->arrays;

	state->frames = (struct frame *)at;
	at += depth_max * sizeof(struct frame);
	state->pairs = (struct pair *)at;
	at += depth_max * PAIRS_OF_FRAME * sizeof(struct pair);
	state->steps = (struct step *)at;
	at += depth_max * sizeof(struct step);
	state->pcs = (uint64_t *)at;
	at += (depth_max + 2) * sizeof(uint64_t);
	state->ids = (uint32_t *)at;
}

/* ---- stack memory -------------------------------------------------------------------- */

extern void *__libc_stack_end;

static inline uintptr_t page_of(uintptr_t address)
{
	return address & ~(uintptr_t)(OS_PAGE_BYTES - 1);
}

/* Below the main stack the kernel keeps at least this much free of mappings that
 * it places itself, or the stack's limit where that is more. */
#define MAIN_STACK_GAP (128ul << 20)
#define MAIN_STACK_GAP_MAX (1ul << 30)

static void find_main_stack(void)
{
	struct rlimit limit = { 0 };
	uintptr_t gap = MAIN_STACK_GAP;

	if (os_call4(SYS_prlimit64, 0, RLIMIT_STACK, 0, &limit) == 0 && limit.rlim_cur > gap)
		gap = limit.rlim_cur < MAIN_STACK_GAP_MAX ? limit.rlim_cur : MAIN_STACK_GAP_MAX;
	main_stack_high = ((uintptr_t)__libc_stack_end | (OS_PAGE_BYTES - 1)) + 1;
	main_stack_low = main_stack_high - gap;
	if (os_tid() == os_pid())
		main_control_block = unwind_thread_pointer();
}

/*
 * Is the word at @address readable? rt_sigprocmask copies the set before it finds
 * that what to do with it makes no sense; hardly any sandbox forbids it.
 */
static bool probe(uintptr_t address)
{
	return os_call4(SYS_rt_sigprocmask, -1, address & ~7ul, 0, 8) != -14 /* EFAULT */;
}

/* Pages probed at most to join a stack pointer with the known part of a stack. */
#define PROBES_MAX 256

/*
 * The stack of a thread ends at its control block. Its pages are mapped as long as
 * the thread lives; so those between @sp and the part known already are tried, once.
 * A guard page between says that @sp is on some other stack.
 */
static bool extend_own(struct unwind_state *state, uintptr_t sp)
{
	if (sp >= state->own_low || state->own_low - sp > PROBES_MAX * OS_PAGE_BYTES)
		return false;
	while (state->own_low > sp) {
		if (!probe(state->own_low - OS_PAGE_BYTES))
			return false;
		state->own_low -= OS_PAGE_BYTES;
	}
	return true;
}

void unwind_thread_begin(struct unwind_state *state)
{
	state->generation = 0;
}

static void set_up(struct unwind_state *state)
{
	uintptr_t control_block = unwind_thread_pointer();

	place_arrays(state);
	/* The main thread's control block lies elsewhere; its stack is known. */
	state->own_high = control_block == main_control_block ? 0 : control_block;
	state->own_low = page_of(state->own_high);
	state->pool_used = 0;
	unwind_restart(state);
}

void unwind_restart(struct unwind_state *state)
{
	state->frame_count = 0;
	state->end = MEMO_END;
	state->is_opaque = false;
	state->last_slot = NO_SLOT;
	for (unsigned i = 0; i < TRACE_CACHE_SLOTS; i++)
		state->cache[i].place = 0;
}

bool unwind_take_restarted(struct unwind_state *state)
{
	bool is_restarted = state->is_restarted;

	state->is_restarted = false;
	return is_restarted;
}

/* ---- the walk ---------------------------------------------------------------------------- */

struct walk {
	pc_place place;
	uintptr_t sp;
	uintptr_t fp;
	uintptr_t high;     /* the stack ends here at the latest */
	uintptr_t low;      /* [low, high) may be read; foreign stacks: one page */
	bool is_foreign;
};

/* Foreign stacks (coroutines, alternate stacks): whose they are and where they end
 * is not known, so each page is tried before it is read. */
#define FOREIGN_FRAME_MAX (1ul << 30)

static bool try_page(struct walk *walk, uintptr_t address)
{
	if (!walk->is_foreign || (address & 7) || !probe(address))
		return false;
	walk->low = page_of(address);
	walk->high = walk->low + OS_PAGE_BYTES;
	return true;
}

static inline bool can_read(struct walk *walk, uintptr_t address)
{
	return __builtin_expect(address - walk->low < walk->high - walk->low - 7, 1) ||
	       try_page(walk, address);
}

/* The walk has come to another stack: which memory is known there? */
static void find_stack(struct unwind_state *state, struct walk *walk, bool is_live)
{
	uintptr_t sp = walk->sp;

	walk->is_foreign = false;
	if (sp - main_stack_low < main_stack_high - main_stack_low) {
		walk->low = sp - 128;
		walk->high = main_stack_high;
	} else if (sp - state->own_low < state->own_high - state->own_low ||
		   extend_own(state, sp)) {
		walk->low = sp - 128 < state->own_low ? state->own_low : sp - 128;
		walk->high = state->own_high;
	} else {
		/* A hook runs on it, so the word below its caller's stack pointer is there. */
		walk->is_foreign = true;
		walk->low = is_live ? page_of(sp - 8) : 0;
		walk->high = is_live ? walk->low + OS_PAGE_BYTES : 7; /* of which no word can be read */
	}
}

static inline uint64_t load(uintptr_t address) READS_STACKS;
static inline uint64_t load(uintptr_t address)
{
	return *(const volatile uint64_t *)address;
}

enum step_result {
	STEP_ON,
	STEP_END,     /* the stack says that there is no caller */
	STEP_TOP,     /* the place says so: no slot was read */
	STEP_LOST,    /* the place doesn't tell the caller: no slot was read */
	STEP_OPAQUE,  /* the caller can't be told, for reasons that pairs don't show */
};

/* Is @cfa a possible end of the frame at walk->sp? */
static inline bool is_further_out(const struct walk *walk, uintptr_t cfa)
{
	uintptr_t most = walk->is_foreign ? FOREIGN_FRAME_MAX : walk->high - walk->sp;

	return cfa - walk->sp - 1 < most;
}

static inline enum step_result arrive(struct walk *walk, uintptr_t cfa, uintptr_t fp)
{
	uintptr_t pc = load(cfa - 8);

	walk->place = pc_place_of(pc, false);
	walk->sp = cfa;
	walk->fp = fp;
	return pc ? STEP_ON : STEP_END;
}

static enum step_result step_odd(struct walk *walk, pc_row row)
{
	const struct pc_odd_row *odd = pc_row_odd(row);
	uintptr_t cfa = (odd->cfa_from_fp ? walk->fp : walk->sp) + (uintptr_t)(intptr_t)odd->cfa_offset;
	uintptr_t fp = walk->fp;

	if (odd->cfa_is_loaded) {
		if (!can_read(walk, cfa))
			return STEP_OPAQUE;
		cfa = load(cfa);
	}
	if (!is_further_out(walk, cfa))
		return STEP_OPAQUE;
	if (odd->fp_kind != PC_ODD_FP_SAME) {
		uintptr_t at = (odd->fp_kind == PC_ODD_FP_AT_CFA ? cfa : fp) +
			       (uintptr_t)(intptr_t)odd->fp_offset;

		if (!can_read(walk, at))
			return STEP_OPAQUE;
		fp = load(at);
	}
	if (!can_read(walk, cfa - 8))
		return STEP_OPAQUE;
	return arrive(walk, cfa, fp);
}

static enum step_result step_signal(struct unwind_state *state, struct walk *walk)
{
	uintptr_t sp = walk->sp, pc, new_sp, fp;

	if (!can_read(walk, sp + UNWIND_SIGNAL_FP))
		return STEP_OPAQUE;
	fp = load(sp + UNWIND_SIGNAL_FP);
	if (!can_read(walk, sp + UNWIND_SIGNAL_SP))
		return STEP_OPAQUE;
	new_sp = load(sp + UNWIND_SIGNAL_SP);
	if (!can_read(walk, sp + UNWIND_SIGNAL_PC))
		return STEP_OPAQUE;
	pc = load(sp + UNWIND_SIGNAL_PC);
	walk->place = pc_place_of(pc, true);
	walk->sp = new_sp;
	walk->fp = fp;
	find_stack(state, walk, false);
	return pc ? STEP_ON : STEP_END;
}

/*
 * Generated code: most compilers of that kind keep a frame pointer, some don't, so
 * it is believed only when it leads to a place in code that a call ends before.
 */
static enum step_result step_generated(struct walk *walk)
{
	uintptr_t fp = walk->fp, pc;

	if ((fp & 7) || fp < walk->sp || !is_further_out(walk, fp + 16) || !can_read(walk, fp))
		return STEP_OPAQUE;
	walk->fp = load(fp);
	if (!can_read(walk, fp + 8))
		return STEP_OPAQUE;
	pc = load(fp + 8);
	if (!pc_table_has_code(pc) || !unwind_is_after_call(pc))
		return STEP_OPAQUE;
	return arrive(walk, fp + 16, walk->fp);
}

static enum step_result step_other(struct unwind_state *state, struct walk *walk, pc_row row)
{
	switch (row) {
	case PC_ROW_END:
		return STEP_TOP;
	case PC_ROW_LOST:
		return STEP_LOST;
	case PC_ROW_SIGNAL:
		return step_signal(state, walk);
	case PC_ROW_GENERATED:
		return step_generated(walk);
	default:
		return pc_row_kind(row) == PC_ROW_ODD ? step_odd(walk, row) : STEP_OPAQUE;
	}
}

static inline enum step_result take_step(struct unwind_state *state, struct walk *walk, pc_row row)
{
	unsigned kind = pc_row_kind(row), slot = pc_row_slot(row);
	uintptr_t fp = walk->fp, cfa;

	if (__builtin_expect(kind > PC_ROW_FP, 0))
		return step_other(state, walk, row);
	cfa = (kind == PC_ROW_SP ? walk->sp : fp) + 8 * (uintptr_t)(row & PC_ROW_WORDS);
	if (!is_further_out(walk, cfa))
		return STEP_OPAQUE;
	if (slot) {
		if (!can_read(walk, cfa - 8 - 8 * slot))
			return STEP_OPAQUE;
		fp = load(cfa - 8 - 8 * slot);
	}
	if (!can_read(walk, cfa - 8))
		return STEP_OPAQUE;
	return arrive(walk, cfa, fp);
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* Compares the last @count pairs, the last first. 0: all hold; else the number of
 * the first that doesn't, counted from 1. */
static inline size_t pairs_differ(const struct pair *pairs, size_t count) READS_STACKS;
static inline size_t pairs_differ(const struct pair *pairs, size_t count)
{
	const struct pair *pair = pairs + count;

	while (count >= 4) {
		if (load(pair[-1].slot) != pair[-1].value)
			return count;
		if (load(pair[-2].slot) != pair[-2].value)
			return count - 1;
		if (load(pair[-3].slot) != pair[-3].value)
			return count - 2;
		if (load(pair[-4].slot) != pair[-4].value)
			return count - 3;
		pair -= 4;
		count -= 4;
	}
	for (; count; count--) {
		pair--;
		if (load(pair->slot) != pair->value)
			return count;
	}
	return 0;
}

static inline struct pair *add_pair(struct pair *pair, uintptr_t slot, uint64_t value)
{
	pair->slot = slot;
	pair->value = value;
	return pair + 1;
}

/*
 * What the step from @step to @outer has read. The caller's frame pointer counts
 * only when it is used further out (@fp_counts).
 */
static struct pair *add_pairs(struct pair *pair, const struct step *step, const struct step *outer,
			      bool fp_counts)
{
	unsigned kind = pc_row_kind(step->row), slot = pc_row_slot(step->row);
	uintptr_t pc = pc_place_pc(outer->place);

	if (kind <= PC_ROW_FP) {
		if (slot && fp_counts)
			pair = add_pair(pair, outer->sp - 8 - 8 * slot, outer->fp);
	} else if (kind == PC_ROW_ODD) {
		const struct pc_odd_row *odd = pc_row_odd(step->row);
		uintptr_t base = odd->cfa_from_fp ? step->fp : step->sp;

		if (odd->fp_kind != PC_ODD_FP_SAME && fp_counts)
			pair = add_pair(pair,
					(odd->fp_kind == PC_ODD_FP_AT_CFA ? outer->sp : step->fp) +
						(uintptr_t)(intptr_t)odd->fp_offset,
					outer->fp);
		pair = add_pair(pair, outer->sp - 8, pc);
		return odd->cfa_is_loaded
			       ? add_pair(pair, base + (uintptr_t)(intptr_t)odd->cfa_offset, outer->sp)
			       : pair;
	} else if (step->row == PC_ROW_SIGNAL) {
		pair = add_pair(pair, step->sp + UNWIND_SIGNAL_FP, outer->fp);
		pair = add_pair(pair, step->sp + UNWIND_SIGNAL_SP, outer->sp);
		return add_pair(pair, step->sp + UNWIND_SIGNAL_PC, pc);
	} else if (step->row == PC_ROW_GENERATED) {
		pair = add_pair(pair, outer->sp - 16, outer->fp);
	}
	return add_pair(pair, outer->sp - 8, pc);
}

/* Does the step from @step, or one further out, use the frame pointer it has? */
static bool uses_fp(const struct step *step, bool outer_uses)
{
	unsigned kind = pc_row_kind(step->row);

	if (kind == PC_ROW_SP)
		return pc_row_slot(step->row) == 0 && outer_uses;
	if (kind == PC_ROW_FP)
		return true;
	if (kind == PC_ROW_ODD) {
		const struct pc_odd_row *odd = pc_row_odd(step->row);

		return odd->cfa_from_fp || odd->fp_kind == PC_ODD_FP_AT_FP ||
		       (odd->fp_kind == PC_ODD_FP_SAME && outer_uses);
	}
	return step->row == PC_ROW_GENERATED;
}

/* ---- memo ---------------------------------------------------------------------------------- */

/*
 * Frames' fp is stored with FP_IS_DEAD (no user address has that bit) when it
 * doesn't count.
 */
static inline bool frame_is(const struct frame *frame, const struct walk *walk)
{
	return frame->sp == walk->sp && frame->place == walk->place &&
	       (frame->fp == walk->fp || frame->fp == FP_IS_DEAD);
}

/*
 * The memo's frame that @walk is at, with everything further out unchanged: its
 * number counted from 1, else 0. *@top: frames that can still be met; those further
 * in have been passed by, or were found changed.
 */
static uint32_t meet_memo(const struct unwind_state *state, const struct walk *walk,
			  uint32_t *top)
{
	const struct frame *frames = state->frames;
	uint32_t at = *top;
	size_t differs;

	while (at > 0 && frames[at - 1].sp < walk->sp)
		at--;
	*top = at;
	if (at == 0 || !frame_is(&frames[at - 1], walk))
		return 0;
	differs = pairs_differ(state->pairs, frames[at - 1].pairs_end);
	if (differs == 0)
		return at;
	/* The frame that has the changed pair, and those further in, are history. */
	while (at > 0 && frames[at - 1].pairs_end >= differs)
		at--;
	*top = at;
	return 0;
}

/*
 * Would the stack of @new frames and @met of the memo be right as to the depth? Not
 * if frames would have to be cut off or added at the outer end.
 */
static bool fits_depth(const struct unwind_state *state, uint32_t new, uint32_t met)
{
	uint32_t depth = new + met;

	return state->end == MEMO_CUT ? depth == depth_max : depth <= depth_max;
}

/* Code can be generated at @pc some day, even if there is none today. */
static bool may_become_code(uintptr_t pc)
{
	return pc >= 65536 && pc >> 47 == 0;
}

struct walked {
	uint32_t steps;     /* new frames, in state->steps */
	uint32_t met;       /* frames of the memo behind them */
	uint32_t end;       /* enum memo_end, of a stack that met nothing */
	bool has_outer;     /* the last step gave a state that is not a frame: */
	struct step outer;
	bool is_opaque;
};

static void walk_stack(struct unwind_state *state, struct walk *walk, struct walked *walked)
{
	const struct pc_map *map = __atomic_load_n(&pc_table_map, __ATOMIC_ACQUIRE);
	uint32_t top = state->is_opaque ? 0 : state->frame_count, count = 0;
	enum step_result result = STEP_ON;
	struct pc_found found;

	walked->met = 0;
	walked->end = MEMO_END;
	walked->is_opaque = false;
	walked->has_outer = false;
	for (;;) {
		struct step *step = &state->steps[count];
		uint32_t met = top ? meet_memo(state, walk, &top) : 0;

		if (met) {
			if (fits_depth(state, count, met)) {
				walked->met = met;
				break;
			}
			top = 0;
		}
		if (count == depth_max) {
			walked->end = MEMO_CUT;
			break;
		}
		if (__builtin_expect(!pc_table_find(map, walk->place, &found), 0))
			pc_table_resolve(walk->place, &found);
		if (found.id == TRACE_FRAME_LOST) {
			walked->end = MEMO_LOST;
			walked->is_opaque = may_become_code(pc_place_pc(walk->place));
			break;
		}
		step->place = walk->place;
		step->sp = walk->sp;
		step->fp = walk->fp;
		step->row = found.row;
		state->ids[count] = found.id;
		state->pcs[count] = pc_place_pc(walk->place);
		count++;
		result = take_step(state, walk, found.row);
		if (result != STEP_ON) {
			walked->end = result == STEP_END || result == STEP_TOP ? MEMO_END
										 : MEMO_LOST;
			walked->is_opaque = result == STEP_OPAQUE;
			break;
		}
	}
	walked->steps = count;
	walked->outer.place = walk->place;
	walked->outer.sp = walk->sp;
	walked->outer.fp = walk->fp;
	walked->has_outer = !walked->met && count &&
			    (result == STEP_ON || result == STEP_END);
}

/* Puts the walked frames onto the memo, the outermost first. */
static void memo_push(struct unwind_state *state, const struct walked *walked)
{
	uint32_t count = walked->met;
	struct step last_outer;
	const struct step *outer = NULL;
	bool fp_counts = false, is_opaque = walked->is_opaque;
	struct pair *pair = state->pairs;

	if (count) {
		const struct frame *frame = &state->frames[count - 1];

		last_outer.place = frame->place;
		last_outer.sp = frame->sp;
		last_outer.fp = frame->fp;
		fp_counts = frame->fp != FP_IS_DEAD;
		outer = &last_outer;
		pair = state->pairs + frame->pairs_end;
	} else if (walked->has_outer) {
		outer = &walked->outer;
	}
	state->serial++;
	for (uint32_t i = walked->steps; i-- > 0;) {
		const struct step *step = &state->steps[i];
		struct frame *frame = &state->frames[count++];

		if (outer)
			pair = add_pairs(pair, step, outer, fp_counts);
		fp_counts = uses_fp(step, fp_counts);
		frame->place = step->place;
		frame->sp = step->sp;
		frame->fp = fp_counts ? step->fp : FP_IS_DEAD;
		is_opaque |= fp_counts && step->fp == FP_IS_DEAD; /* rubbish, but of that value */
		frame->serial = state->serial;
		frame->pairs_end = (uint32_t)(pair - state->pairs);
		outer = step;
	}
	state->frame_count = count;
	state->is_opaque = is_opaque;
	if (!walked->met)
		state->end = walked->end;
}

/* ---- cache --------------------------------------------------------------------------------- */

static inline unsigned cache_slot(struct unwind_point point)
{
	uint64_t mixed = (point.pc ^ (point.sp << 20)) * 0x9e3779b97f4a7c15ull;

	return (unsigned)(mixed >> 56);
}

static inline bool cache_holds(const struct unwind_state *state, const struct cached *cached,
			       struct unwind_point point)
{
	const struct frame *anchor;

	if (cached->place != pc_place_of(point.pc, false) || cached->sp != point.sp ||
	    ((cached->fp ^ point.fp) & cached->fp_mask) ||
	    state->pool_used - cached->pool_at > POOL_PAIRS ||
	    pairs_differ(&state->pool[cached->pool_at % POOL_PAIRS], cached->copied))
		return false;
	if (cached->anchor == 0)
		return true;
	anchor = &state->frames[cached->anchor - 1];
	return cached->anchor <= state->frame_count && anchor->serial == cached->serial &&
	       pairs_differ(state->pairs, anchor->pairs_end) == 0;
}

/* Room for @count pairs in one piece; what was there is overwritten. */
static uint32_t pool_take(struct unwind_state *state, uint32_t count)
{
	uint32_t at = state->pool_used;

	if (at % POOL_PAIRS + count > POOL_PAIRS)
		at += POOL_PAIRS - at % POOL_PAIRS;
	state->pool_used = at + count;
	return at;
}

/* The frame of the memo that a copy for @walked starts behind. */
static uint32_t choose_anchor(const struct unwind_state *state, const struct walked *walked)
{
	uint32_t all = state->frames[state->frame_count - 1].pairs_end;
	uint32_t anchor = walked->met > ANCHOR_BELOW ? walked->met - ANCHOR_BELOW : 0;

	while (anchor < state->frame_count && anchor &&
	       all - state->frames[anchor - 1].pairs_end > COPIED_MAX)
		anchor++;
	if (anchor == 0 && all > COPIED_MAX)
		anchor = state->frame_count;
	return anchor;
}

static void cache_fill(struct unwind_state *state, struct cached *cached,
		       const struct walked *walked)
{
	const struct frame *top = &state->frames[state->frame_count - 1];
	uint32_t anchor, begin, count;
	struct pair *copy;

	cached->place = 0;
	if (state->is_opaque || state->frame_count == 0)
		return;
	anchor = choose_anchor(state, walked);
	begin = anchor ? state->frames[anchor - 1].pairs_end : 0;
	count = top->pairs_end - begin;
	cached->pool_at = pool_take(state, count);
	copy = &state->pool[cached->pool_at % POOL_PAIRS];
	for (uint32_t i = 0; i < count; i++)
		copy[i] = state->pairs[begin + i];
	cached->place = top->place;
	cached->sp = top->sp;
	cached->fp = top->fp;
	cached->fp_mask = top->fp == FP_IS_DEAD ? 0 : ~(uintptr_t)0;
	cached->copied = (uint16_t)count;
	cached->anchor = (uint16_t)anchor;
	cached->serial = anchor ? state->frames[anchor - 1].serial : 0;
}

/* ---- capture -------------------------------------------------------------------------------- */

/* Before the first capture, and when places were forgotten. */
static void renew(struct unwind_state *state, uint32_t generation)
{
	if (state->generation == 0) {
		set_up(state);
	} else {
		unwind_restart(state);
		state->is_restarted = true;
	}
	state->generation = generation;
}

static void set_none(struct stack_delta *delta, enum trace_no_stack why)
{
	delta->mode = TRACE_STACK_NONE;
	delta->slot = why;
	delta->popped = 0;
	delta->pushed = 0;
}

static void capture_by_walk(struct unwind_state *state, struct unwind_point point, unsigned slot,
			    struct stack_delta *delta)
{
	struct walk walk = { .place = pc_place_of(point.pc, false), .sp = point.sp, .fp = point.fp };
	struct walked walked;
	uint32_t count = state->frame_count, end = state->end;

	find_stack(state, &walk, true);
	walk_stack(state, &walk, &walked);
	if (walked.steps == 0 && walked.met == 0) {
		set_none(delta, TRACE_NO_STACK_FAILED);
		return;
	}
	delta->mode = TRACE_STACK_DELTA;
	delta->slot = (uint8_t)slot;
	delta->popped = count - walked.met;
	delta->pushed = walked.steps;
	delta->ids = state->ids;
	delta->pcs = state->pcs;
	if (!walked.met) {
		delta->popped += end != MEMO_END;
		if (walked.end != MEMO_END)
			state->ids[delta->pushed++] = walked.end;
	}
	memo_push(state, &walked);
	cache_fill(state, &state->cache[slot], &walked);
	state->last_slot = slot;
}

void stack_capture(struct unwind_state *state, struct unwind_point point,
		   struct stack_delta *delta)
{
	uint32_t generation = __atomic_load_n(&pc_table_generation, __ATOMIC_RELAXED);
	unsigned slot = cache_slot(point);

	if (__builtin_expect(state->generation != generation, 0))
		renew(state, generation);
	if (__builtin_expect(cache_holds(state, &state->cache[slot], point), 1)) {
		delta->mode = slot == state->last_slot ? TRACE_STACK_SAME : TRACE_STACK_CACHED;
		delta->slot = (uint8_t)slot;
		delta->popped = 0;
		delta->pushed = 0;
		state->last_slot = slot;
	} else if (depth_max == 0) {
		set_none(delta, TRACE_NO_STACK_ASKED);
	} else {
		capture_by_walk(state, point, slot, delta);
	}
}

/* ---- process --------------------------------------------------------------------------------- */

void unwind_start(unsigned depth)
{
	depth_max = depth < DEPTH_MAX ? depth : DEPTH_MAX;
	find_main_stack();
	pc_table_start();
}

void unwind_forked(void)
{
	pc_table_forked();
}

void unwind_modules_changed(void)
{
	pc_table_modules_changed();
}
