/*
 * One step of a walk: from the state of a function to that of its caller, by the
 * row of the place it is at.
 */
#ifndef LIBMEMPROF_UNWIND_WALK_H
#define LIBMEMPROF_UNWIND_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "pc_table.h"
#include "stack_memory.h"

struct walk {
	pc_place place;
	uintptr_t sp;
	uintptr_t fp;
	struct stack_window window;
	struct own_stack *own;
};

enum walk_result {
	WALK_ON,
	WALK_END,     /* the stack says that there is no caller */
	WALK_TOP,     /* the place says so: no slot was read */
	WALK_LOST,    /* the place doesn't tell the caller: no slot was read */
	WALK_OPAQUE,  /* the caller can't be told, for reasons beyond places and slots */
	WALK_ON_OPAQUE, /* the caller is told, by more than places and slots of this walk */
};

/* Steps by rows other than SP and FP. */
enum walk_result walk_step_other(struct walk *walk, pc_row row);

/* For PC_ROW_REGISTERS: walks with all registers, from the caller of this function
 * out to @walk's state and one step further. */
enum walk_result walk_step_registers(struct walk *walk);

/* The frame ends at @cfa; the return address lies below it. */
static inline enum walk_result walk_arrive(struct walk *walk, uintptr_t cfa, uintptr_t fp)
{
	uintptr_t pc = stack_load(cfa - 8);

	walk->place = pc_place_of(pc, false);
	walk->sp = cfa;
	walk->fp = fp;
	return pc ? WALK_ON : WALK_END;
}

static inline enum walk_result walk_step(struct walk *walk, pc_row row)
{
	unsigned kind = pc_row_kind(row), slot = pc_row_slot(row);
	uintptr_t fp = walk->fp, cfa;

	if (__builtin_expect(kind > PC_ROW_FP, 0))
		return walk_step_other(walk, row);
	cfa = (kind == PC_ROW_SP ? walk->sp : fp) + 8 * (uintptr_t)(row & PC_ROW_WORDS);
	if (!stack_window_frame(&walk->window, walk->sp, cfa))
		return WALK_OPAQUE;
	if (slot) {
		if (!stack_window_has(&walk->window, cfa - 8 - 8 * slot))
			return WALK_OPAQUE;
		fp = stack_load(cfa - 8 - 8 * slot);
	}
	if (!stack_window_has(&walk->window, cfa - 8))
		return WALK_OPAQUE;
	return walk_arrive(walk, cfa, fp);
}

#endif
