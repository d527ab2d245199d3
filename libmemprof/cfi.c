/*
 * One row of call frame information, made on demand. Running the few
 * instructions of one function up to one place costs some 100 ns; since a
 * program has some thousands of places that its stacks go through, nothing is
 * prepared and no table is kept here (pc_table keeps the results).
 *
 *	.eh_frame_hdr  binary search  ->  FDE  ->  CIE
 *	                                   |        |
 *	                                   +--- programs, run up to the place
 *
 * Every read goes through a cursor that knows where the module ends.
 */
#include "cfi.h"

#include <stddef.h>

/* Deeper nesting of remember_state than any compiler makes. */
#define REMEMBERED_MAX 4

/* No function has more call frame instructions; bounds what a broken table costs. */
#define INSTRUCTIONS_MAX 100000

enum pointer_encoding {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_RELATION = 0x70,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

/* ---- reading with a bound ----------------------------------------------------- */

struct cursor {
	uintptr_t at;
	uintptr_t end;
	bool failed;
};

static bool cursor_has(struct cursor *cursor, uintptr_t bytes)
{
	if (cursor->failed || cursor->end - cursor->at < bytes) {
		cursor->failed = true;
		return false;
	}
	return true;
}

#define CURSOR_READ(name, type)                                                                    \
	static type name(struct cursor *cursor)                                                    \
	{                                                                                          \
		type value = 0;                                                                    \
                                                                                                   \
		if (cursor_has(cursor, sizeof(value))) {                                           \
			__builtin_memcpy(&value, (const void *)cursor->at, sizeof(value));         \
			cursor->at += sizeof(value);                                               \
		}                                                                                  \
		return value;                                                                      \
	}

CURSOR_READ(read_u8, uint8_t)
CURSOR_READ(read_u16, uint16_t)
CURSOR_READ(read_u32, uint32_t)
CURSOR_READ(read_u64, uint64_t)

static uint64_t read_uleb(struct cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = read_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static int64_t read_sleb(struct cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = read_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= ~0ull << shift;
	return (int64_t)value;
}

static void skip(struct cursor *cursor, uint64_t bytes)
{
	if (cursor_has(cursor, bytes))
		cursor->at += bytes;
}

/* What follows at @cursor, of @bytes: a cursor of its own; @cursor moves behind it. */
static struct cursor take_part(struct cursor *cursor, uint64_t bytes)
{
	struct cursor part = { .at = cursor->at, .end = cursor->at };

	if (cursor_has(cursor, bytes)) {
		part.end = cursor->at + bytes;
		cursor->at = part.end;
	} else {
		part.failed = true;
	}
	return part;
}

static uint64_t read_plain(struct cursor *cursor, uint8_t format)
{
	switch (format) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return read_u64(cursor);
	case PE_ULEB128:
		return read_uleb(cursor);
	case PE_UDATA2:
		return read_u16(cursor);
	case PE_UDATA4:
		return read_u32(cursor);
	case PE_SLEB128:
		return (uint64_t)read_sleb(cursor);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)read_u16(cursor);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)read_u32(cursor);
	default:
		cursor->failed = true;
		return 0;
	}
}

static uint64_t read_encoded(struct cursor *cursor, uint8_t encoding, uintptr_t data)
{
	uintptr_t place = cursor->at;
	uint64_t value;

	if (encoding == PE_OMIT)
		return 0;
	value = read_plain(cursor, encoding & PE_FORMAT);
	switch (encoding & PE_RELATION) {
	case 0:
		return value;
	case PE_PCREL:
		return value + place;
	case PE_DATAREL:
		return value + data;
	default:
		cursor->failed = true;
		return 0;
	}
}

/* ---- .eh_frame_hdr: from the place to its FDE ---------------------------------- */

/* The table's usual form: pairs of 32-bit distances from the header. */
#define HDR_TABLE_ENCODING (PE_DATAREL | PE_SDATA4)

struct hdr_entry {
	int32_t location;
	int32_t fde;
};

static struct hdr_entry hdr_entry_at(uintptr_t table, uint64_t index)
{
	struct hdr_entry entry;

	__builtin_memcpy(&entry, (const void *)(table + index * sizeof(entry)), sizeof(entry));
	return entry;
}

static enum cfi_result find_fde(const struct cfi_module *module, uintptr_t pc, uintptr_t *fde)
{
	uintptr_t hdr = module->eh_frame_hdr;
	struct cursor cursor = { .at = hdr, .end = module->end };
	uint64_t count, low = 0, high;
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int64_t wanted = (int64_t)(pc - hdr);

	if (hdr < module->start || hdr >= module->end)
		return CFI_BROKEN;
	version = read_u8(&cursor);
	frame_encoding = read_u8(&cursor);
	count_encoding = read_u8(&cursor);
	table_encoding = read_u8(&cursor);
	if (cursor.failed || version != 1 || table_encoding != HDR_TABLE_ENCODING)
		return CFI_BROKEN;
	read_encoded(&cursor, frame_encoding, hdr);
	count = read_encoded(&cursor, count_encoding, hdr);
	if (count == 0)
		return CFI_NO_ENTRY;
	if (cursor.failed || count > (cursor.end - cursor.at) / sizeof(struct hdr_entry))
		return CFI_BROKEN;

	high = count; /* the entry looked for is in [low, high) */
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (hdr_entry_at(cursor.at, middle).location <= wanted)
			low = middle;
		else
			high = middle;
	}
	if (hdr_entry_at(cursor.at, low).location > wanted)
		return CFI_NO_ENTRY;
	*fde = hdr + (uintptr_t)(intptr_t)hdr_entry_at(cursor.at, low).fde;
	return CFI_FOUND;
}

/* ---- CIE and FDE ----------------------------------------------------------------- */

struct cie {
	struct cursor program;
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	bool has_augmentation_data;
	bool is_signal_frame;
};

/* The entry at @at: a cursor over what follows its length. */
static struct cursor entry_at(const struct cfi_module *module, uintptr_t at)
{
	struct cursor cursor = { .at = at, .end = module->end };
	uint64_t length;

	cursor.failed = at < module->start || at >= module->end;
	length = read_u32(&cursor);
	if (length == 0xffffffff)
		length = read_u64(&cursor);
	if (length == 0)
		cursor.failed = true;
	return take_part(&cursor, length);
}

static bool read_cie(const struct cfi_module *module, uintptr_t at, struct cie *cie)
{
	struct cursor cursor = entry_at(module, at);
	uintptr_t augmentation;
	uint8_t version;

	if (read_u32(&cursor) != 0)
		return false;
	version = read_u8(&cursor);
	if (version != 1 && version != 3)
		return false;
	augmentation = cursor.at;
	while (read_u8(&cursor))
		;
	cie->code_align = read_uleb(&cursor);
	cie->data_align = read_sleb(&cursor);
	if (version == 1)
		read_u8(&cursor); /* number of the return address register */
	else
		read_uleb(&cursor);
	cie->pointer_encoding = PE_ABSPTR;
	cie->is_signal_frame = false;
	cie->has_augmentation_data = false;
	if (cursor.failed)
		return false;

	const char *letter = (const char *)augmentation;

	if (*letter == 'z') {
		struct cursor data = take_part(&cursor, read_uleb(&cursor));

		cie->has_augmentation_data = true;
		for (letter++; *letter; letter++) {
			if (*letter == 'R')
				cie->pointer_encoding = read_u8(&data);
			else if (*letter == 'P')
				read_plain(&data, read_u8(&data) & PE_FORMAT);
			else if (*letter == 'L')
				read_u8(&data);
			else if (*letter == 'S')
				cie->is_signal_frame = true;
			else if (*letter != 'B')
				break; /* unknown, but 'z' tells where it ends */
		}
		if (data.failed)
			return false;
	} else if (*letter) {
		return false;
	}
	cie->program = cursor;
	return !cursor.failed;
}

struct fde {
	struct cursor program;
	uintptr_t start;
};

static enum cfi_result read_fde(const struct cfi_module *module, uintptr_t at, uintptr_t pc,
				struct fde *fde, struct cie *cie)
{
	struct cursor cursor = entry_at(module, at);
	uintptr_t place = cursor.at;
	uint32_t distance = read_u32(&cursor);
	uint64_t length;

	if (cursor.failed || distance == 0 || !read_cie(module, place - distance, cie))
		return CFI_BROKEN;
	fde->start = read_encoded(&cursor, cie->pointer_encoding & ~PE_INDIRECT, 0);
	length = read_plain(&cursor, cie->pointer_encoding & PE_FORMAT);
	if (cie->has_augmentation_data)
		skip(&cursor, read_uleb(&cursor));
	fde->program = cursor;
	if (cursor.failed || cie->code_align == 0)
		return CFI_BROKEN;
	return pc - fde->start < length ? CFI_FOUND : CFI_NO_ENTRY;
}

/* ---- expressions ------------------------------------------------------------------ */

/*
 * Those that occur compute an address from one register, perhaps with one load at
 * the end, or, in PLT stubs, with arithmetic on the program counter, which is known
 * here. So a value is base + offset with at most one base, or the word there.
 */
struct value {
	uint8_t base; /* CFI_REGISTERS: none, offset is the value */
	bool is_loaded;
	int64_t offset;
};

#define VALUES_MAX 8

enum dwarf_op {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
};

static uint8_t register_of(uint64_t dwarf)
{
	switch (dwarf) {
	case 3:
		return CFI_RBX;
	case 6:
		return CFI_RBP;
	case 7:
		return CFI_RSP;
	case 12:
	case 13:
	case 14:
	case 15:
		return (uint8_t)(CFI_R12 + (dwarf - 12));
	case 16:
		return CFI_RA;
	default:
		return CFI_NOT_KEPT;
	}
}

/* a <- a op b. false: not of the form above. */
static bool combine(struct value *a, const struct value *b, uint8_t op)
{
	bool plain = a->base == CFI_REGISTERS && b->base == CFI_REGISTERS;

	if (a->is_loaded || b->is_loaded)
		return false;
	switch (op) {
	case OP_PLUS:
		if (b->base != CFI_REGISTERS) {
			if (a->base != CFI_REGISTERS)
				return false;
			a->base = b->base;
		}
		a->offset = (int64_t)((uint64_t)a->offset + (uint64_t)b->offset);
		return true;
	case OP_MINUS:
		a->offset = (int64_t)((uint64_t)a->offset - (uint64_t)b->offset);
		return b->base == CFI_REGISTERS;
	case OP_AND:
		a->offset &= b->offset;
		return plain;
	case OP_SHL:
		if (b->offset < 0 || b->offset > 63)
			return false;
		a->offset = (int64_t)((uint64_t)a->offset << b->offset);
		return plain;
	case OP_GE:
		a->offset = a->offset >= b->offset;
		return plain;
	default:
		return false;
	}
}

static bool read_constant(struct cursor *code, uint8_t op, struct value *value)
{
	value->base = CFI_REGISTERS;
	value->is_loaded = false;
	if (op >= OP_LIT0 && op <= OP_LIT31) {
		value->offset = op - OP_LIT0;
		return true;
	}
	switch (op) {
	case OP_CONST1U:
		value->offset = read_u8(code);
		return true;
	case OP_CONST1S:
		value->offset = (int8_t)read_u8(code);
		return true;
	case OP_CONST2U:
		value->offset = read_u16(code);
		return true;
	case OP_CONST2S:
		value->offset = (int16_t)read_u16(code);
		return true;
	case OP_CONST4U:
		value->offset = read_u32(code);
		return true;
	case OP_CONST4S:
		value->offset = (int32_t)read_u32(code);
		return true;
	case OP_CONSTU:
		value->offset = (int64_t)read_uleb(code);
		return true;
	case OP_CONSTS:
		value->offset = read_sleb(code);
		return true;
	default:
		return false;
	}
}

static bool read_register(struct cursor *code, uint8_t op, uintptr_t pc, struct value *value)
{
	if (op < OP_BREG0 || op > OP_BREG31)
		return false;
	value->base = register_of(op - OP_BREG0);
	value->is_loaded = false;
	value->offset = read_sleb(code);
	if (value->base == CFI_RA) { /* the program counter itself */
		value->base = CFI_REGISTERS;
		value->offset = (int64_t)((uint64_t)value->offset + pc);
	}
	return true;
}

/* Evaluates the expression @code (one that doesn't use the CFA, which is pushed
 * before rules of registers start). false: of a form that we don't follow. */
static bool evaluate(struct cursor code, uintptr_t pc, struct value *result)
{
	struct value stack[VALUES_MAX];
	unsigned depth = 0;

	while (code.at < code.end) {
		uint8_t op = read_u8(&code);
		struct value value;

		if (read_constant(&code, op, &value) || read_register(&code, op, pc, &value)) {
			if (depth == VALUES_MAX)
				return false;
			stack[depth++] = value;
		} else if (op == OP_PLUS_UCONST && depth) {
			value.offset = (int64_t)read_uleb(&code);
			value.base = CFI_REGISTERS;
			value.is_loaded = false;
			if (!combine(&stack[depth - 1], &value, OP_PLUS))
				return false;
		} else if (op == OP_DEREF && depth && !stack[depth - 1].is_loaded) {
			stack[depth - 1].is_loaded = true;
		} else if (depth >= 2) {
			depth--;
			if (!combine(&stack[depth - 1], &stack[depth], op))
				return false;
		} else {
			return false;
		}
		if (code.failed)
			return false;
	}
	if (depth == 0 || stack[depth - 1].base >= CFI_NOT_KEPT ||
	    stack[depth - 1].base == CFI_REGISTERS ||
	    stack[depth - 1].offset != (int32_t)stack[depth - 1].offset)
		return false;
	*result = stack[depth - 1];
	return true;
}

/* ---- programs ----------------------------------------------------------------------- */

enum cfa_instruction {
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_GNU_WINDOW_SAVE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	CFA_ADVANCE_LOC = 0x40, /* the upper two bits tell; the lower six are an operand */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
};

struct machine {
	const struct cie *cie;
	uintptr_t pc;       /* the place wanted */
	uintptr_t location; /* the place the row is at */
	struct cfi_row *row;
	const struct cfi_row *initial; /* after the CIE's program, for restore */
	struct cfi_row *remembered;    /* REMEMBERED_MAX of them */
	unsigned depth;
	bool failed;
};

/* struct assignment could become a call to the program's memcpy */
static void row_copy(struct cfi_row *to, const struct cfi_row *from)
{
	__builtin_memcpy(to, from, sizeof(*to));
}

static void set_rule(struct machine *machine, uint64_t dwarf, uint8_t kind, int64_t offset)
{
	uint8_t index = register_of(dwarf);

	if (index >= CFI_REGISTERS)
		return;
	if (offset != (int32_t)offset)
		kind = CFI_STRANGE;
	machine->row->rules[index].kind = kind;
	machine->row->rules[index].offset = (int32_t)offset;
}

static void restore_rule(struct machine *machine, uint64_t dwarf)
{
	uint8_t index = register_of(dwarf);

	if (index < CFI_REGISTERS)
		machine->row->rules[index] = machine->initial->rules[index];
}

static void set_register_rule(struct machine *machine, uint64_t dwarf, uint64_t source)
{
	uint8_t index = register_of(dwarf), base = register_of(source);

	set_rule(machine, dwarf, base == CFI_NOT_KEPT ? CFI_STRANGE : CFI_IN_BASE, 0);
	if (index < CFI_REGISTERS)
		machine->row->rules[index].base = base;
}

static void set_expression_rule(struct machine *machine, uint64_t dwarf, struct cursor code)
{
	uint8_t index = register_of(dwarf);
	struct value value;

	if (!evaluate(code, machine->pc, &value) || value.is_loaded) {
		set_rule(machine, dwarf, CFI_STRANGE, 0);
		return;
	}
	set_rule(machine, dwarf, CFI_AT_BASE, value.offset);
	if (index < CFI_REGISTERS)
		machine->row->rules[index].base = value.base;
}

static void set_cfa(struct machine *machine, uint8_t base, int64_t offset)
{
	struct cfi_row *row = machine->row;

	row->cfa_kind = base == CFI_NOT_KEPT || base == CFI_RA || offset != (int32_t)offset
				? CFI_CFA_STRANGE
				: CFI_CFA_BASE;
	row->cfa_base = base;
	row->cfa_offset = (int32_t)offset;
}

static void set_cfa_expression(struct machine *machine, struct cursor code)
{
	struct cfi_row *row = machine->row;
	struct value value;

	if (!evaluate(code, machine->pc, &value)) {
		row->cfa_kind = CFI_CFA_STRANGE;
		return;
	}
	row->cfa_kind = value.is_loaded ? CFI_CFA_LOAD : CFI_CFA_BASE;
	row->cfa_base = value.base;
	row->cfa_offset = (int32_t)value.offset;
}

static void remember(struct machine *machine)
{
	if (machine->depth < REMEMBERED_MAX)
		row_copy(&machine->remembered[machine->depth], machine->row);
	else
		machine->failed = true;
	machine->depth++;
}

static void recall(struct machine *machine)
{
	if (machine->depth == 0)
		machine->failed = true;
	else
		row_copy(machine->row, &machine->remembered[--machine->depth]);
}

static int64_t scaled(const struct machine *machine, uint64_t factor)
{
	return (int64_t)(factor * (uint64_t)machine->cie->data_align);
}

static void run_extended(struct machine *machine, struct cursor *code, uint8_t op)
{
	uint64_t number;

	switch (op) {
	case CFA_NOP:
		break;
	case CFA_SET_LOC:
		machine->location = read_encoded(code, machine->cie->pointer_encoding, 0);
		break;
	case CFA_ADVANCE_LOC1:
		machine->location += read_u8(code) * machine->cie->code_align;
		break;
	case CFA_ADVANCE_LOC2:
		machine->location += read_u16(code) * machine->cie->code_align;
		break;
	case CFA_ADVANCE_LOC4:
		machine->location += read_u32(code) * machine->cie->code_align;
		break;
	case CFA_OFFSET_EXTENDED:
		number = read_uleb(code);
		set_rule(machine, number, CFI_AT_CFA, scaled(machine, read_uleb(code)));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		number = read_uleb(code);
		set_rule(machine, number, CFI_AT_CFA, scaled(machine, (uint64_t)read_sleb(code)));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		number = read_uleb(code);
		set_rule(machine, number, CFI_AT_CFA, scaled(machine, -read_uleb(code)));
		break;
	case CFA_RESTORE_EXTENDED:
		restore_rule(machine, read_uleb(code));
		break;
	case CFA_UNDEFINED:
		set_rule(machine, read_uleb(code), CFI_UNDEFINED, 0);
		break;
	case CFA_SAME_VALUE:
		set_rule(machine, read_uleb(code), CFI_SAME, 0);
		break;
	case CFA_REGISTER:
		number = read_uleb(code);
		set_register_rule(machine, number, read_uleb(code));
		break;
	case CFA_REMEMBER_STATE:
		remember(machine);
		break;
	case CFA_RESTORE_STATE:
		recall(machine);
		break;
	case CFA_DEF_CFA:
		number = read_uleb(code);
		set_cfa(machine, register_of(number), (int64_t)read_uleb(code));
		break;
	case CFA_DEF_CFA_SF:
		number = read_uleb(code);
		set_cfa(machine, register_of(number), scaled(machine, (uint64_t)read_sleb(code)));
		break;
	case CFA_DEF_CFA_REGISTER:
		set_cfa(machine, register_of(read_uleb(code)), machine->row->cfa_offset);
		break;
	case CFA_DEF_CFA_OFFSET:
		set_cfa(machine, machine->row->cfa_base, (int64_t)read_uleb(code));
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa(machine, machine->row->cfa_base,
			scaled(machine, (uint64_t)read_sleb(code)));
		break;
	case CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(machine, take_part(code, read_uleb(code)));
		break;
	case CFA_EXPRESSION:
		number = read_uleb(code);
		set_expression_rule(machine, number, take_part(code, read_uleb(code)));
		break;
	case CFA_VAL_EXPRESSION:
		set_rule(machine, read_uleb(code), CFI_STRANGE, 0);
		skip(code, read_uleb(code));
		break;
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		set_rule(machine, read_uleb(code), CFI_STRANGE, 0);
		read_uleb(code);
		break;
	case CFA_GNU_WINDOW_SAVE:
		break;
	case CFA_GNU_ARGS_SIZE:
		read_uleb(code);
		break;
	default:
		machine->failed = true;
	}
}

/* Runs @code as long as its rows are not beyond the place wanted. */
static bool run(struct machine *machine, struct cursor code)
{
	unsigned left = INSTRUCTIONS_MAX;

	while (code.at < code.end && machine->location <= machine->pc) {
		uint8_t op = read_u8(&code);
		uint8_t operand = op & 0x3f;

		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC:
			machine->location += operand * machine->cie->code_align;
			break;
		case CFA_OFFSET:
			set_rule(machine, operand, CFI_AT_CFA, scaled(machine, read_uleb(&code)));
			break;
		case CFA_RESTORE:
			restore_rule(machine, operand);
			break;
		default:
			run_extended(machine, &code, op);
		}
		if (code.failed || machine->failed || --left == 0)
			return false;
	}
	return true;
}

static void row_clear(struct cfi_row *row)
{
	row->cfa_kind = CFI_CFA_STRANGE;
	row->cfa_base = CFI_NOT_KEPT;
	row->cfa_offset = 0;
	row->is_signal_frame = false;
	for (unsigned i = 0; i < CFI_REGISTERS; i++) {
		row->rules[i].kind = CFI_SAME;
		row->rules[i].base = CFI_NOT_KEPT;
		row->rules[i].offset = 0;
	}
}

enum cfi_result cfi_find(const struct cfi_module *module, uintptr_t pc, struct cfi_row *row)
{
	struct cfi_row initial, remembered[REMEMBERED_MAX];
	struct machine machine = { .pc = pc, .row = row, .initial = &initial,
				   .remembered = remembered };
	enum cfi_result result;
	struct cie cie;
	struct fde fde;
	uintptr_t at;

	row_clear(row);
	row_clear(&initial);
	result = find_fde(module, pc, &at);
	if (result == CFI_FOUND)
		result = read_fde(module, at, pc, &fde, &cie);
	if (result != CFI_FOUND)
		return result;

	machine.cie = &cie;
	machine.location = 0; /* the CIE's rows hold everywhere */
	if (!run(&machine, cie.program))
		return CFI_BROKEN;
	row_copy(&initial, row);
	machine.location = fde.start;
	if (!run(&machine, fde.program))
		return CFI_BROKEN;
	row->is_signal_frame = cie.is_signal_frame;
	return CFI_FOUND;
}
