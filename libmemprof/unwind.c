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

#include "memprof/trace_format.h"
#include "os.h"
#include "unwind_arch_x86_64.h"
#include "unwind_cache.h"
#include "unwind_walk.h"

#define DEPTH_MAX 8192

/*
 * Room for copied pairs of cached stacks, filled block by block in turn. When a block
 * is begun anew, the stacks whose pairs are in it leave the cache.
 */
#define POOL_BLOCKS 4u
#define POOL_BLOCK_PAIRS 1024u
/* A cached stack copies the pairs of this many frames below the meeting point too,
 * so that it survives a walk that takes those off the memo. */
#define ANCHOR_BELOW 6
/* Pairs copied at most. */
#define COPIED_MAX 256u
/* Copies are compared by fours, so that many of them are a multiple of it. */
#define COPIED_ROUND 4u

#define NO_SLOT TRACE_CACHE_SLOTS

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define noinline __attribute__((noinline))

/* A frame's fp counts only when a step further out uses it. */
#define FP_IS_DEAD ((uintptr_t)1 << 63)

enum memo_end {
	MEMO_END = 0,                /* the outermost frame is there */
	MEMO_CUT = TRACE_FRAME_CUT,  /* marks, as the trace has them */
	MEMO_LOST = TRACE_FRAME_LOST,
};

struct unwind_state {
	struct unwind_cache cache; /* and the memo; first: see unwind_cache_of */
	bool is_restarted;

	/* More of the memo. */
	bool is_opaque;        /* the stack walked last is not to be compared with */
	uint32_t end;          /* enum memo_end */
	uint32_t serial;

	struct own_stack own;

	/* The walk at work. */
	struct stack_step *steps;

	/* Copied pairs of cached stacks. */
	uint32_t pool_block;   /* being filled */
	uint32_t pool_used;    /* pairs in it */
	/* Which slots of the cache have had pairs in each block. */
	uint32_t pool_slot_count[POOL_BLOCKS];
	uint8_t pool_slots[POOL_BLOCKS][POOL_BLOCK_PAIRS / COPIED_ROUND];
	struct pair pool[POOL_BLOCKS * POOL_BLOCK_PAIRS];

	uint64_t arrays[];
};

/*
 * Readers keep `depth_max` frames of a stack, the inner ones. A walk takes more, and
 * the memo holds more still, so that a recursion deeper than what is kept can shrink
 * and grow by as many frames before its stack is to be walked, and told, anew.
 */
static unsigned depth_max = 256, walk_max = 512, memo_max = 768;

/* ---- memory of a state ------------------------------------------------------------- */

#define PAIRS_OF_FRAME 3

static size_t array_bytes(void)
{
	return (memo_max + 1) * sizeof(struct frame) +
	       memo_max * PAIRS_OF_FRAME * sizeof(struct pair) +
	       (walk_max + 1) * sizeof(struct stack_step);
}

size_t unwind_state_bytes(void)
{
	return (sizeof(struct unwind_state) + array_bytes() + OS_PAGE_BYTES - 1) &
	       ~(size_t)(OS_PAGE_BYTES - 1);
}

static void place_arrays(struct unwind_state *state)
{
	char *at = (char *)state->arrays;

	/* In front of the outermost frame stands one that no walk gets beyond. */
	state->cache.frames = (struct frame *)at + 1;
	state->cache.frames[-1].sp = UINTPTR_MAX;
	at += (memo_max + 1) * sizeof(struct frame);
	state->cache.pairs = (struct pair *)at;
	at += memo_max * PAIRS_OF_FRAME * sizeof(struct pair);
	state->steps = (struct stack_step *)at; /* one more, for a mark at the end */
}

void unwind_thread_begin(struct unwind_state *state)
{
	state->cache.generation = 0;
}

void unwind_thread_change(struct unwind_state *state)
{
	own_stack_find(&state->own);
}

static void set_up(struct unwind_state *state)
{
	place_arrays(state);
	own_stack_find(&state->own);
	unwind_restart(state);
}

bool unwind_stack_is_own(struct unwind_state *state, uintptr_t address)
{
	if (!state->own.high)
		own_stack_find(&state->own);
	return own_stack_has(&state->own, address);
}

void unwind_restart(struct unwind_state *state)
{
	state->cache.frame_count = 0;
	state->end = MEMO_END;
	state->is_opaque = false;
	state->cache.last_slot = NO_SLOT;
	for (unsigned i = 0; i < TRACE_CACHE_SLOTS; i++)
		state->cache.slots[i].pc = 0;
	state->pool_block = 0;
	state->pool_used = 0;
	for (unsigned i = 0; i < POOL_BLOCKS; i++)
		state->pool_slot_count[i] = 0;
}

bool unwind_take_restarted(struct unwind_state *state)
{
	bool is_restarted = state->is_restarted;

	state->is_restarted = false;
	return is_restarted;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

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
static struct pair *add_pairs(struct pair *pair, const struct stack_step *step,
			      const struct stack_step *outer, bool fp_counts)
{
	pc_row row = (pc_row)step->key;
	unsigned kind = pc_row_kind(row), slot = pc_row_slot(row);
	uintptr_t pc = pc_key_pc(outer->key);

	if (kind <= PC_ROW_FP) {
		if (slot && fp_counts)
			pair = add_pair(pair, outer->sp - 8 - 8 * slot, outer->fp);
	} else if (kind == PC_ROW_ODD) {
		const struct pc_odd_row *odd = pc_row_odd(row);
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
	} else if (row == PC_ROW_SIGNAL) {
		pair = add_pair(pair, step->sp + UNWIND_SIGNAL_FP, outer->fp);
		pair = add_pair(pair, step->sp + UNWIND_SIGNAL_SP, outer->sp);
		return add_pair(pair, step->sp + UNWIND_SIGNAL_PC, pc);
	} else if (row == PC_ROW_GENERATED) {
		pair = add_pair(pair, outer->sp - 16, outer->fp);
	}
	return add_pair(pair, outer->sp - 8, pc);
}

/* Does the step from @step, or one further out, use the frame pointer it has? */
static inline bool uses_fp(const struct stack_step *step, bool outer_uses)
{
	pc_row row = (pc_row)step->key;
	unsigned kind = pc_row_kind(row);

	if (kind == PC_ROW_SP)
		return pc_row_slot(row) == 0 && outer_uses;
	if (kind == PC_ROW_FP)
		return true;
	if (kind == PC_ROW_ODD) {
		const struct pc_odd_row *odd = pc_row_odd(row);

		return odd->cfa_from_fp || odd->fp_kind == PC_ODD_FP_AT_FP ||
		       (odd->fp_kind == PC_ODD_FP_SAME && outer_uses);
	}
	return row == PC_ROW_GENERATED;
}

/* ---- memo ---------------------------------------------------------------------------------- */

/*
 * Frames' fp is stored with FP_IS_DEAD (no user address has that bit) when it
 * doesn't count.
 */
static inline bool frame_is(const struct frame *frame, pc_place place, uintptr_t sp, uintptr_t fp)
{
	return frame->sp == sp && frame->key >> 16 == place &&
	       (frame->fp == fp || frame->fp == FP_IS_DEAD);
}

/*
 * A walk is at the state of the memo's frame @top: returns it if all holds further
 * out. If not, the frames up to the one that has the changed pair are history:
 * returns the first of those that are left.
 */
static noinline const struct frame *memo_check(const struct unwind_state *state,
					       const struct frame *top)
{
	size_t differs = pairs_differ(state->cache.pairs, frame_pairs_end(top));

	while (differs && top >= state->cache.frames && frame_pairs_end(top) >= differs)
		top--;
	return top;
}

/*
 * Would the stack of @new frames and @met of the memo do as to the depth? Not if it
 * needs frames beyond the outer end of the memo, or there is no room for it.
 */
static bool fits_depth(const struct unwind_state *state, uint32_t new, uint32_t met)
{
	uint32_t depth = new + met;

	return depth <= memo_max && (state->end != MEMO_CUT || depth >= depth_max);
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
	struct stack_step outer;
	bool is_opaque;
	bool is_plain;      /* all new frames have rows of kind SP */
};

struct key_and_id {
	uint64_t key;
	uint64_t id;
};

/* A place that is not where it is looked for first. */
static noinline struct key_and_id find_place(const struct pc_map *map, pc_place place)
{
	struct pc_found found;

	if (!pc_table_find(map, place, &found))
		pc_table_resolve(place, &found);
	return (struct key_and_id){ pc_key_of(place, found.row), found.id };
}

/* A step that the loop of walk_stack doesn't do itself. false: it was the last. */
static noinline bool step_otherwise(struct walk *walk, struct walked *walked, pc_row row)
{
	enum walk_result result = walk_step(walk, row);

	walked->is_plain = false;
	if (result == WALK_ON)
		return true;
	if (result == WALK_ON_OPAQUE) {
		walked->is_opaque = true;
		return true;
	}
	walked->end = result == WALK_END || result == WALK_TOP ? MEMO_END : MEMO_LOST;
	walked->is_opaque |= result == WALK_OPAQUE;
	walked->has_outer = result == WALK_END;
	return false;
}

/*
 * Frames that end below this address are in the window, whole. None is when the
 * walk has left its window.
 */
static inline uintptr_t cfa_limit(const struct walk *walk)
{
	const struct stack_window *window = &walk->window;

	return walk->sp - window->low <= window->high - window->low ? window->high + 1 : 0;
}

/*
 * The walk. What nearly all frames have is done in line, with the state in
 * registers: a place that is the first in its bucket or one of the next, a row of
 * kind SP or FP whose slots lie between the stack pointer and the CFA, and this in
 * the window. All else leaves the loop for a function.
 */
static void walk_stack(struct unwind_state *state, struct walk *walk, struct walked *walked)
	READS_STACKS;
static noinline void walk_stack(struct unwind_state *state, struct walk *walk,
				struct walked *walked)
{
	const struct pc_map *map = __atomic_load_n(&pc_table_map, __ATOMIC_ACQUIRE);
	const char *buckets = (const char *)(map + 1);
	const uint64_t offsets = pc_map_offsets(map);
	const struct frame *top =
		state->cache.frames + (state->is_opaque ? 0 : state->cache.frame_count) - 1;
	struct stack_step *step = state->steps, *const steps_end = step + walk_max;
	uintptr_t sp = walk->sp, fp = walk->fp, limit = cfa_limit(walk), pc;
	pc_place place = walk->place;
	bool is_fp_used = false;

	walked->met = 0;
	walked->end = MEMO_END;
	walked->is_opaque = false;
	walked->has_outer = false;
	walked->is_plain = true;
	for (;;) {
		const struct pc_bucket *bucket;
		uint64_t key, row;
		uintptr_t cfa;

		while (top->sp < sp)
			top--;
		if (top->sp == sp && frame_is(top, place, sp, fp)) {
			const struct frame *left = memo_check(state, top);
			uint32_t met = (uint32_t)(top - state->cache.frames) + 1;

			if (left != top) {
				top = left;
			} else if (fits_depth(state, (uint32_t)(step - state->steps), met)) {
				walked->met = met;
				break;
			} else {
				top = state->cache.frames - 1;
			}
		}
		if (unlikely(step == steps_end)) {
			walked->end = MEMO_CUT;
			walked->has_outer = true;
			break;
		}

		bucket = (const void *)(buckets + pc_map_offset(offsets, place));
		key = __atomic_load_n(&bucket->keys[0], __ATOMIC_ACQUIRE);
		step->id = bucket->ids[0];
		if (key >> 16 != place) {
			key = __atomic_load_n(&bucket->keys[1], __ATOMIC_ACQUIRE);
			step->id = bucket->ids[1];
			if (key >> 16 != place) {
				struct key_and_id found = find_place(map, place);

				key = found.key;
				step->id = (uint32_t)found.id;
				if (unlikely(step->id == TRACE_FRAME_LOST)) {
					walked->end = MEMO_LOST;
					walked->has_outer = true;
					walked->is_opaque |= may_become_code(pc_place_pc(place));
					break;
				}
			}
		}
		step->key = key;
		step->sp = sp;
		step->fp = fp;
		step++;

		row = key & 0xffff;
		if (likely(row <= PC_ROW_WORDS)) {
			cfa = sp + 8 * row;
			if (unlikely(cfa >= limit))
				goto otherwise;
		} else if (likely(row < PC_ROW_FP << 14)) {
			uint64_t words = row & PC_ROW_WORDS, slot = row >> PC_ROW_SLOT_SHIFT;

			cfa = sp + 8 * words;
			if (unlikely(cfa >= limit || words <= slot))
				goto otherwise;
			fp = stack_load(cfa - 8 - 8 * slot);
		} else if (likely(row < PC_ROW_ODD << 14)) {
			uint64_t words = row & PC_ROW_WORDS, slot = pc_row_slot((pc_row)row);

			cfa = fp + 8 * words;
			if (unlikely(fp - sp >= limit - sp || cfa >= limit || words <= slot))
				goto otherwise;
			if (slot)
				fp = stack_load(cfa - 8 - 8 * slot);
			is_fp_used = true;
		} else {
			goto otherwise;
		}
		pc = stack_load(cfa - 8);
		sp = cfa;
		place = pc_place_of(pc, false);
		if (likely(pc))
			continue;
		walked->has_outer = true;
		break;
otherwise:
		KEEP_SCALAR(sp); /* not in one vector with place */
		walk->place = place;
		walk->sp = sp;
		walk->fp = fp;
		if (!step_otherwise(walk, walked, (pc_row)row)) {
			place = walk->place;
			sp = walk->sp;
			fp = walk->fp;
			break;
		}
		place = walk->place;
		sp = walk->sp;
		fp = walk->fp;
		limit = cfa_limit(walk);
	}
	KEEP_SCALAR(sp);
	walked->steps = (uint32_t)(step - state->steps);
	walked->is_plain &= !is_fp_used;
	walked->has_outer &= walked->steps != 0;
	walked->outer.key = pc_key_of(place, 0);
	walked->outer.sp = sp;
	walked->outer.fp = fp;
}

/* Puts @count steps onto the memo that have nothing but their return address in the
 * stack that counts; further out nobody uses the frame pointer either. */
static void push_plain(struct unwind_state *state, const struct stack_step *steps, uint32_t count,
		       const struct stack_step *outer, struct frame *frame, struct pair *pair)
{
	const struct stack_step *step = steps + count;
	uint64_t tag = (uint64_t)state->serial << 32 | (uint32_t)(pair - state->cache.pairs);

	if (!outer && count) {
		step--;
		*frame++ = (struct frame){ step->key, step->sp, FP_IS_DEAD, tag };
		outer = step;
	}
	if (step != steps) {
		uintptr_t outer_sp = outer->sp, outer_pc = pc_key_pc(outer->key);

		do {
			step--;
			pair->slot = outer_sp - 8;
			pair->value = outer_pc;
			pair++;
			tag++;
			outer_sp = step->sp;
			frame->key = step->key;
			frame->sp = outer_sp;
			frame->fp = FP_IS_DEAD;
			frame->tag = tag;
			outer_pc = pc_key_pc(step->key);
			frame++;
		} while (step != steps);
	}
}

/* The same for any steps. */
static bool push_any(struct unwind_state *state, const struct stack_step *steps, uint32_t count,
		     const struct stack_step *outer, bool fp_counts, struct frame *frame,
		     struct pair *pair)
{
	const uint64_t serial = (uint64_t)state->serial << 32;
	bool is_opaque = false;

	for (uint32_t i = count; i-- > 0; frame++) {
		const struct stack_step *step = &steps[i];

		if (outer)
			pair = add_pairs(pair, step, outer, fp_counts);
		fp_counts = uses_fp(step, fp_counts);
		frame->key = step->key;
		frame->sp = step->sp;
		frame->fp = fp_counts ? step->fp : FP_IS_DEAD;
		is_opaque |= fp_counts && step->fp == FP_IS_DEAD; /* rubbish, but of that value */
		frame->tag = serial | (uint32_t)(pair - state->cache.pairs);
		outer = step;
	}
	return is_opaque;
}

/* Puts the walked frames onto the memo, the outermost first. */
static void memo_push(struct unwind_state *state, const struct walked *walked)
{
	struct frame *frame = &state->cache.frames[walked->met];
	const struct stack_step *outer = walked->has_outer ? &walked->outer : NULL;
	struct pair *pair = state->cache.pairs;
	bool fp_counts = false;

	if (walked->met) {
		pair += frame_pairs_end(frame - 1);
		fp_counts = frame[-1].fp != FP_IS_DEAD;
		outer = &walked->outer; /* the state of that frame */
	}
	state->serial++;
	state->cache.frame_count = walked->met + walked->steps;
	state->is_opaque = walked->is_opaque;
	if (walked->is_plain && !fp_counts)
		push_plain(state, state->steps, walked->steps, outer, frame, pair);
	else
		state->is_opaque |= push_any(state, state->steps, walked->steps, outer, fp_counts,
					     frame, pair);
	if (!walked->met)
		state->end = walked->end;
}

/* ---- cache --------------------------------------------------------------------------------- */

/*
 * Where a stack is looked for: first by its innermost state alone. When another
 * stack with that state is there, then by the first slot in which the two differ and
 * its value now; and so on, a few times. So stacks that differ further out, but not
 * within, have places of their own.
 */
#define CACHE_PROBES 4

static inline uint64_t cache_hash_on(uint64_t hash, uintptr_t slot, uint64_t value)
{
	return (hash ^ (value + slot)) * 0xd6e8feb86659fd93ull;
}

/* Two stacks that would share a place can stay both. */
static inline unsigned cache_other_slot(uint64_t hash)
{
	return (unsigned)(hash >> 48) % TRACE_CACHE_SLOTS;
}

/*
 * The whole search. *@slot: where the stack is, or where it is to be put.
 */
static bool cache_search(const struct unwind_state *state, uintptr_t pc, uintptr_t sp,
			 uintptr_t fp, unsigned *slot) READS_STACKS;
static bool cache_search(const struct unwind_state *state, uintptr_t pc, uintptr_t sp,
			 uintptr_t fp, unsigned *slot)
{
	uint64_t hash = cache_hash(pc, sp);

	for (unsigned probe = 0; probe < CACHE_PROBES; probe++) {
		const struct cached *cached = &state->cache.slots[*slot = cache_slot(hash)];
		const struct pair *differs;

		if (!is_first_state(cached, pc, sp, fp)) {
			unsigned other = cache_other_slot(hash);

			cached = &state->cache.slots[other];
			if (!is_first_state(cached, pc, sp, fp)) {
				/* Either place will do: by turns, so that a stack in use
				 * all the time finds one where it stays for a while. */
				if (state->cache.slots[*slot].pc &&
				    (!cached->pc || state->serial & 1))
					*slot = other;
				return false;
			}
			*slot = other;
		}
		differs = copies_differ(cached);
		if (!differs)
			return anchor_holds(&state->cache, cached);
		while (stack_load(differs[-1].slot) == differs[-1].value)
			differs--;
		hash = cache_hash_on(hash, differs[-1].slot, stack_load(differs[-1].slot));
	}
	return false;
}

static noinline void pool_next_block(struct unwind_state *state)
{
	uint32_t block = (state->pool_block + 1) % POOL_BLOCKS;
	const struct pair *begin = &state->pool[block * POOL_BLOCK_PAIRS];

	state->pool_block = block;
	state->pool_used = 0;
	for (uint32_t i = 0; i < state->pool_slot_count[block]; i++) {
		struct cached *cached = &state->cache.slots[state->pool_slots[block][i]];

		if ((size_t)(cached->pairs - begin) < POOL_BLOCK_PAIRS)
			cached->pc = 0;
	}
	state->pool_slot_count[block] = 0;
}

/* Room for @count pairs, a multiple of COPIED_ROUND, in one piece, for what @slot of
 * the cache has. */
static struct pair *pool_take(struct unwind_state *state, uint32_t count, unsigned slot)
{
	struct pair *pairs;

	if (state->pool_used + count > POOL_BLOCK_PAIRS)
		pool_next_block(state);
	if (count)
		state->pool_slots[state->pool_block]
				 [state->pool_slot_count[state->pool_block]++] = (uint8_t)slot;
	pairs = &state->pool[state->pool_block * POOL_BLOCK_PAIRS + state->pool_used];
	state->pool_used += count;
	return pairs;
}

/* The frame of the memo that a copy for @walked starts behind. */
static uint32_t choose_anchor(const struct unwind_state *state, const struct walked *walked)
{
	uint32_t all = frame_pairs_end(&state->cache.frames[state->cache.frame_count - 1]);
	uint32_t anchor = walked->met > ANCHOR_BELOW ? walked->met - ANCHOR_BELOW : 0;

	while (anchor < state->cache.frame_count && anchor &&
	       all - frame_pairs_end(&state->cache.frames[anchor - 1]) > COPIED_MAX)
		anchor++;
	if (anchor == 0 && all > COPIED_MAX)
		anchor = state->cache.frame_count;
	return anchor;
}

static inline void copy_pairs(struct pair *to, const struct pair *from, uint32_t count)
{
	for (; count >= 4; count -= 4, to += 4, from += 4) {
		struct pair one = from[0], two = from[1], three = from[2], four = from[3];

		to[0] = one;
		to[1] = two;
		to[2] = three;
		to[3] = four;
	}
	while (count--)
		*to++ = *from++;
}

static void cache_fill(struct unwind_state *state, unsigned slot, const struct walked *walked)
{
	struct cached *cached = &state->cache.slots[slot];
	const struct frame *top = &state->cache.frames[state->cache.frame_count - 1];
	uint32_t anchor, begin, count, rounded;
	struct pair *copy;

	cached->pc = 0;
	if (state->is_opaque || state->cache.frame_count == 0)
		return;
	anchor = choose_anchor(state, walked);
	begin = anchor ? frame_pairs_end(&state->cache.frames[anchor - 1]) : 0;
	count = frame_pairs_end(top) - begin;
	rounded = (count + COPIED_ROUND - 1) & ~(COPIED_ROUND - 1);
	copy = pool_take(state, rounded, slot);
	for (uint32_t i = 0; i < rounded - count; i++)
		copy[i] = state->cache.pairs[begin];
	copy_pairs(copy + (rounded - count), &state->cache.pairs[begin], count);
	cached->pc = pc_key_pc(top->key);
	cached->sp = top->sp;
	cached->fp = top->fp;
	cached->fp_mask = top->fp == FP_IS_DEAD ? 0 : ~(uintptr_t)0;
	cached->pairs = copy;
	cached->pairs_end = copy + rounded;
	cached->anchor = anchor;
	cached->anchor_tag = anchor ? state->cache.frames[anchor - 1].tag : 0;
}

/* ---- capture -------------------------------------------------------------------------------- */

/* Before the first capture, and when places were forgotten. */
static void renew(struct unwind_state *state, uint32_t generation)
{
	if (state->cache.generation == 0) {
		set_up(state);
	} else {
		unwind_restart(state);
		state->is_restarted = true;
	}
	state->cache.generation = generation;
}

static void set_none(struct stack_delta *delta, enum trace_no_stack why)
{
	delta->mode = TRACE_STACK_NONE;
	delta->slot = why;
}

static void capture_by_walk(struct unwind_state *state, struct stack_delta *delta, uintptr_t pc,
			    uintptr_t sp, uintptr_t fp, unsigned slot)
{
	struct walk walk = { .place = pc_place_of(pc, false),
			     .sp = sp,
			     .fp = fp,
			     .own = &state->own };
	uint32_t count = state->cache.frame_count, end = state->end;
	struct walked walked;

	if (depth_max == 0) {
		set_none(delta, TRACE_NO_STACK_ASKED);
		return;
	}
	stack_window_find(&walk.window, &state->own, sp, true);
	walk_stack(state, &walk, &walked);
	if (walked.steps == 0 && walked.met == 0) {
		set_none(delta, TRACE_NO_STACK_FAILED);
		return;
	}
	delta->mode = TRACE_STACK_DELTA;
	delta->slot = (uint8_t)slot;
	delta->popped = count - walked.met;
	delta->pushed = walked.steps;
	delta->steps = state->steps;
	if (!walked.met) {
		delta->popped += end != MEMO_END;
		if (walked.end != MEMO_END)
			state->steps[delta->pushed++].id = walked.end;
	}
	memo_push(state, &walked);
	cache_fill(state, slot, &walked);
	state->cache.last_slot = slot;
}

static inline void set_cached(struct unwind_state *state, struct stack_delta *delta,
			      unsigned slot)
{
	delta->mode = (uint8_t)cache_use(&state->cache, slot);
	delta->slot = (uint8_t)slot;
}

/* Not at its first place in the cache, or there is something else to do. */
static noinline void capture_otherwise(struct unwind_state *state, struct stack_delta *delta,
				       uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	uint32_t generation = __atomic_load_n(&pc_table_generation, __ATOMIC_RELAXED);
	unsigned slot;

	if (__builtin_expect(state->cache.generation != generation, 0))
		renew(state, generation);
	if (cache_search(state, pc, sp, fp, &slot))
		set_cached(state, delta, slot);
	else
		capture_by_walk(state, delta, pc, sp, fp, slot);
}

void stack_take(struct unwind_state *state, struct stack_delta *delta, uintptr_t pc, uintptr_t sp,
		uintptr_t fp)
{
	unsigned slot;

	if (cache_has(&state->cache, (struct unwind_point){ pc, sp, fp }, &slot))
		set_cached(state, delta, slot);
	else
		capture_otherwise(state, delta, pc, sp, fp);
}

/* ---- process --------------------------------------------------------------------------------- */

void unwind_start(unsigned depth)
{
	/* Readers know @depth, and no other. */
	depth_max = depth < DEPTH_MAX ? depth : DEPTH_MAX;
	walk_max = depth == depth_max ? 2 * depth_max : depth_max;
	memo_max = depth == depth_max ? 3 * depth_max : depth_max;
	stack_memory_start();
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
