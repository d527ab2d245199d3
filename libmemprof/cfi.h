/*
 * Call frame information: what .eh_frame says about one place in the code.
 * Reads nothing outside the module's own bytes, whatever these claim.
 *
 * Sources: System V ABI AMD64 supplement (register numbers), DWARF 5 section 6.4
 * (programs of call frame instructions), Linux Standard Base 5.0 core, chapter
 * 10.6 (.eh_frame, .eh_frame_hdr).
 */
#ifndef LIBMEMPROF_CFI_H
#define LIBMEMPROF_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* The module's bytes [start, end), its .eh_frame_hdr among them. */
struct cfi_module {
	uintptr_t start;
	uintptr_t end;
	uintptr_t eh_frame_hdr;
};

/* Registers that a called function keeps, and the return address. */
enum cfi_register {
	CFI_RBX,
	CFI_RBP,
	CFI_R12,
	CFI_R13,
	CFI_R14,
	CFI_R15,
	CFI_RA,
	CFI_REGISTERS,
	CFI_RSP,       /* only as the base of an address */
	CFI_NOT_KEPT,  /* a register that a walk can't know */
};

/* Where the caller's value of a register is. */
enum cfi_rule_kind {
	CFI_SAME,       /* still in the register */
	CFI_UNDEFINED,  /* nowhere; of the return address: the outermost frame */
	CFI_AT_CFA,     /* at CFA + offset */
	CFI_AT_BASE,    /* at base + offset */
	CFI_IN_BASE,    /* another register's value */
	CFI_STRANGE,    /* told in a way that we don't follow */
};

struct cfi_rule {
	uint8_t kind;
	uint8_t base; /* enum cfi_register */
	int32_t offset;
};

/* How the canonical frame address (the caller's stack pointer) is found. */
enum cfi_cfa_kind {
	CFI_CFA_BASE,      /* base + offset */
	CFI_CFA_LOAD,      /* the word at base + offset */
	CFI_CFA_STRANGE,
};

struct cfi_row {
	uint8_t cfa_kind;
	uint8_t cfa_base;
	bool is_signal_frame;
	int32_t cfa_offset;
	struct cfi_rule rules[CFI_REGISTERS];
};

enum cfi_result {
	CFI_FOUND,
	CFI_NO_ENTRY, /* no function of the table covers the place */
	CFI_BROKEN,   /* the table can't be read */
};

/*
 * The row for the instruction at @pc (of a return address: one less). @row is
 * written in every case. Any thread, signal handlers included.
 */
enum cfi_result cfi_find(const struct cfi_module *module, uintptr_t pc, struct cfi_row *row);

#endif
