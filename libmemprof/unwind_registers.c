/*
 * The general walk, for the few places whose rows need more than stack and frame
 * pointer: the loader's trampoline for lazy binding keeps its frame in rbx, some
 * hand-written assembly in r12 or so. It starts from the registers as they are
 * here, steps through our own functions and all that follow, each by a row made
 * from its module's table, and so knows every register that functions keep once it
 * arrives where the usual walk could not go on.
 */
#define _GNU_SOURCE /* _dl_find_object */
#include "unwind_walk.h"

#include <dlfcn.h>

#include "cfi.h"
#include "unwind_arch_x86_64.h"

/* No stack where this walk is wanted is deeper. */
#define STEPS_MAX 2000

struct registers {
	uintptr_t values[CFI_REGISTERS]; /* CFI_RA: the program counter */
	uintptr_t sp;
	bool is_exact;
	struct stack_window window;
	struct own_stack *own;
};

static uintptr_t base_value(const struct registers *registers, uint8_t base)
{
	return base == CFI_RSP ? registers->sp : registers->values[base];
}

static bool load_into(struct registers *registers, uintptr_t address, uintptr_t *value)
{
	if (!stack_window_has(&registers->window, address))
		return false;
	*value = stack_load(address);
	return true;
}

static bool find_cfa(struct registers *registers, const struct cfi_row *row, uintptr_t *cfa)
{
	if (row->cfa_kind == CFI_CFA_STRANGE)
		return false;
	*cfa = base_value(registers, row->cfa_base) + (uintptr_t)(intptr_t)row->cfa_offset;
	if (row->cfa_kind == CFI_CFA_LOAD && !load_into(registers, *cfa, cfa))
		return false;
	return stack_window_frame(&registers->window, registers->sp, *cfa);
}

static bool apply_rule(struct registers *registers, const struct cfi_rule *rule, uintptr_t cfa,
		       uintptr_t *value)
{
	uintptr_t offset = (uintptr_t)(intptr_t)rule->offset;

	switch (rule->kind) {
	case CFI_SAME:
	case CFI_UNDEFINED:
		return true;
	case CFI_AT_CFA:
		return load_into(registers, cfa + offset, value);
	case CFI_AT_BASE:
		return load_into(registers, base_value(registers, rule->base) + offset, value);
	case CFI_IN_BASE:
		*value = base_value(registers, rule->base);
		return true;
	default:
		return false;
	}
}

static bool find_row(const struct registers *registers, struct cfi_row *row)
{
	uintptr_t pc = registers->values[CFI_RA] - !registers->is_exact;
	struct dl_find_object object;
	struct cfi_module module;

	if (_dl_find_object((void *)pc, &object) != 0)
		return false;
	module.start = (uintptr_t)object.dlfo_map_start;
	module.end = (uintptr_t)object.dlfo_map_end;
	module.eh_frame_hdr = (uintptr_t)object.dlfo_eh_frame;
	return cfi_find(&module, pc, row) == CFI_FOUND;
}

static bool step_signal(struct registers *registers)
{
	static const uint8_t offsets[CFI_REGISTERS] = UNWIND_SIGNAL_REGISTERS;
	uintptr_t sp = registers->sp;

	for (unsigned i = 0; i < CFI_REGISTERS; i++) {
		if (!load_into(registers, sp + offsets[i], &registers->values[i]))
			return false;
	}
	if (!load_into(registers, sp + UNWIND_SIGNAL_SP, &registers->sp))
		return false;
	registers->is_exact = true;
	stack_window_find(&registers->window, registers->own, registers->sp, false);
	return true;
}

static bool step(struct registers *registers)
{
	uintptr_t values[CFI_REGISTERS], cfa;
	struct cfi_row row;

	if (!find_row(registers, &row))
		return false;
	if (row.is_signal_frame && unwind_is_sigreturn(registers->values[CFI_RA]))
		return step_signal(registers);
	if (!find_cfa(registers, &row, &cfa) || row.rules[CFI_RA].kind == CFI_SAME)
		return false;
	for (unsigned i = 0; i < CFI_REGISTERS; i++) {
		values[i] = registers->values[i];
		if (!apply_rule(registers, &row.rules[i], cfa, &values[i]))
			return false;
	}
	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		registers->values[i] = values[i];
	registers->sp = cfa;
	registers->is_exact = false;
	return true;
}

static bool is_at(const struct registers *registers, const struct walk *walk)
{
	return registers->sp == walk->sp &&
	       pc_place_of(registers->values[CFI_RA], registers->is_exact) == walk->place;
}

__attribute__((noinline)) enum walk_result walk_step_registers(struct walk *walk)
{
	struct registers registers = { .own = walk->own };

	UNWIND_READ_REGISTERS(registers.values, registers.sp);
	registers.is_exact = true;
	stack_window_find(&registers.window, walk->own, registers.sp, true);
	for (unsigned i = 0; !is_at(&registers, walk); i++) {
		if (i == STEPS_MAX || !step(&registers))
			return WALK_OPAQUE;
	}
	if (!step(&registers))
		return WALK_OPAQUE;
	walk->place = pc_place_of(registers.values[CFI_RA], registers.is_exact);
	walk->sp = registers.sp;
	walk->fp = registers.values[CFI_RBP];
	walk->window = registers.window;
	return registers.values[CFI_RA] ? WALK_ON_OPAQUE : WALK_OPAQUE;
}
