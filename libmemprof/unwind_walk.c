/*
 * The rarer kinds of steps: odd rows, signal frames, generated code.
 */
#include "unwind_walk.h"

#include "unwind_arch_x86_64.h"

static uintptr_t offset_by(uintptr_t base, int32_t offset)
{
	return base + (uintptr_t)(intptr_t)offset;
}

static enum walk_result step_odd(struct walk *walk, const struct pc_odd_row *row)
{
	uintptr_t cfa = offset_by(row->cfa_from_fp ? walk->fp : walk->sp, row->cfa_offset);
	uintptr_t fp = walk->fp;

	if (row->cfa_is_loaded) {
		if (!stack_window_has(&walk->window, cfa))
			return WALK_OPAQUE;
		cfa = stack_load(cfa);
	}
	if (!stack_window_frame(&walk->window, walk->sp, cfa))
		return WALK_OPAQUE;
	if (row->fp_kind != PC_ODD_FP_SAME) {
		uintptr_t at = offset_by(row->fp_kind == PC_ODD_FP_AT_CFA ? cfa : fp,
					 row->fp_offset);

		if (!stack_window_has(&walk->window, at))
			return WALK_OPAQUE;
		fp = stack_load(at);
	}
	if (!stack_window_has(&walk->window, cfa - 8))
		return WALK_OPAQUE;
	return walk_arrive(walk, cfa, fp);
}

/* The interrupted function's registers are in the frame; it may have been on
 * another stack. */
static enum walk_result step_signal(struct walk *walk)
{
	static const uint8_t offsets[] = { UNWIND_SIGNAL_FP, UNWIND_SIGNAL_SP, UNWIND_SIGNAL_PC };
	uintptr_t values[3];

	for (unsigned i = 0; i < 3; i++) {
		if (!stack_window_has(&walk->window, walk->sp + offsets[i]))
			return WALK_OPAQUE;
		values[i] = stack_load(walk->sp + offsets[i]);
	}
	walk->fp = values[0];
	walk->sp = values[1];
	walk->place = pc_place_of(values[2], true);
	stack_window_find(&walk->window, walk->own, walk->sp, false);
	return values[2] ? WALK_ON : WALK_OPAQUE;
}

/*
 * Generated code: most compilers of that kind keep a frame pointer, some don't, so
 * it is believed only when it leads to a place in code that a call ends before.
 */
static enum walk_result step_generated(struct walk *walk)
{
	uintptr_t fp = walk->fp, pc;

	if ((fp & 7) || fp < walk->sp || !stack_window_frame(&walk->window, walk->sp, fp + 16) ||
	    !stack_window_has(&walk->window, fp) || !stack_window_has(&walk->window, fp + 8))
		return WALK_OPAQUE;
	pc = stack_load(fp + 8);
	if (!pc_table_has_code(pc) || !unwind_is_after_call(pc))
		return WALK_OPAQUE;
	return walk_arrive(walk, fp + 16, stack_load(fp));
}

enum walk_result walk_step_other(struct walk *walk, pc_row row)
{
	switch (row) {
	case PC_ROW_END:
		return WALK_TOP;
	case PC_ROW_LOST:
		return WALK_LOST;
	case PC_ROW_SIGNAL:
		return step_signal(walk);
	case PC_ROW_GENERATED:
		return step_generated(walk);
	case PC_ROW_REGISTERS:
		return walk_step_registers(walk);
	default:
		return step_odd(walk, pc_row_odd(row));
	}
}
