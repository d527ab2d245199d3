/*
 * See symbolize_dw.h. libdw decodes; the search is ours, for three reasons.
 * clang writes no .debug_aranges, so libdw's own way from an address to its
 * unit finds nothing. dwarf_getscopes gives up where an inlined function comes
 * from another unit (LTO, Rust), and looks at one address at a time. And libdw
 * keeps what it decoded: only units that hold an address may be touched.
 *
 * So: the sorted addresses are dealt out to units by the units' ranges. In each
 * such unit one walk over its DIEs follows exactly the functions and inlined
 * calls that hold an address. While walking, each address has a "leaf": the
 * innermost call known so far.
 *
 *	address  1000  1004  1008            call 0  function f
 *	leaf        0     2     1            call 1  g inlined into f (parent 0)
 *	                                     call 2  h inlined into g (parent 1)
 *
 * A DIE may claim an address only when the address's leaf is the DIE's parent
 * call. That also settles duplicates: the linker points the debug information
 * of a dropped copy of an inline function at the kept copy, so the same code is
 * described many times over; the first description takes all the addresses.
 */
#include "symbolize/symbolize_dw.h"

#include "symbolize/reader_memory.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <string.h>

#define NO_CALL UINT32_MAX
#define NO_UNIT UINT32_MAX
#define DEPTH_MAX 512        /* of DIEs within DIEs that are walked */
#define ROUNDS_MAX 4         /* units tried for an address that several claim */

struct unit {
	Dwarf_CU *cu;
	Dwarf_Die die;
	size_t first_range, range_count;
	uint8_t type;
	bool is_read;
};

struct range {
	uint64_t low, high;
};

struct call {
	Dwarf_Die die;       /* the function, or the inlined copy of one */
	uint32_t parent;     /* the call it is inlined into; NO_CALL: it is a function */
	uint32_t line;       /* where in the parent */
	const char *file;
};

struct walk;

struct dw_reader {
	struct walk *walk;   /* once resolved */
	Dwarf *dwarf, *alternate;
	struct unit *units;
	size_t unit_count, unit_room;
	struct range *ranges;
	size_t range_count, range_room;
	struct dw_stats stats;
};

/* One batch of addresses on its way. */
struct walk {
	struct dw_reader *reader;
	const uint64_t *addresses;
	size_t count;
	uint32_t *unit;      /* that is tried now, or that gave the line */
	uint32_t *leaf;
	const char **file;   /* of the line table */
	uint32_t *line;
	struct call *calls;
	size_t call_count, call_room;
	Dwarf_Files *files;  /* of the unit being walked */
	size_t file_count;
	bool thorough;       /* look into types and functions for functions, too */
};

#define MAKE_ROOM(list, count, room)                                                               \
	do {                                                                                       \
		if ((count) == (room)) {                                                           \
			(room) = (room) ? (room) * 2 : 256;                                        \
			(list) = reader_realloc(list, (room) * sizeof(*(list)));                   \
		}                                                                                  \
	} while (0)

/* ---- the table of units ----------------------------------------------------- */

static void add_ranges(struct dw_reader *reader, struct unit *unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	unit->first_range = reader->range_count;
	while ((offset = dwarf_ranges(&unit->die, offset, &base, &low, &high)) > 0) {
		if (low >= high)
			continue;
		MAKE_ROOM(reader->ranges, reader->range_count, reader->range_room);
		reader->ranges[reader->range_count++] = (struct range){ low, high };
	}
	unit->range_count = reader->range_count - unit->first_range;
}

static void add_units(struct dw_reader *reader)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	Dwarf_Die die;
	uint8_t type;

	/* No split DIE is asked for here: that would open every .dwo. */
	while (dwarf_get_units(reader->dwarf, cu, &cu, &version, &type, &die, NULL) == 0) {
		struct unit *unit;

		reader->stats.units++;
		if (reader->stats.units == 1)
			reader->stats.version = version;
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (dwarf_tag(&die) == DW_TAG_partial_unit)
			continue;
		MAKE_ROOM(reader->units, reader->unit_count, reader->unit_room);
		unit = &reader->units[reader->unit_count++];
		*unit = (struct unit){ .cu = cu, .die = die, .type = type };
		add_ranges(reader, unit);
	}
}

struct dw_reader *dw_reader_new(Elf *elf, Elf *alternate)
{
	struct dw_reader *reader = reader_calloc(1, sizeof(*reader));

	reader->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!reader->dwarf) {
		free(reader);
		return NULL;
	}
	if (alternate)
		reader->alternate = dwarf_begin_elf(alternate, DWARF_C_READ, NULL);
	if (reader->alternate)
		dwarf_setalt(reader->dwarf, reader->alternate);
	add_units(reader);
	return reader;
}

const struct dw_stats *dw_reader_stats(const struct dw_reader *reader)
{
	return &reader->stats;
}

/* ---- which addresses a DIE holds ---------------------------------------------- */

/* The first index in [from, to) whose address is at least @address. */
static size_t lower_bound(const struct walk *walk, size_t from, size_t to, uint64_t address)
{
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (walk->addresses[middle] < address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Part of the addresses, as indices; empty when from == to. */
struct span {
	size_t from, to;
};

static void span_add(struct span *span, size_t index)
{
	if (span->from == span->to) {
		span->from = index;
		span->to = index + 1;
		return;
	}
	if (index < span->from)
		span->from = index;
	if (index >= span->to)
		span->to = index + 1;
}

/*
 * Gives @die's addresses within @within whose leaf is @parent the leaf @leaf
 * (which may be @parent, to ask only). Returns the span that holds them.
 */
static struct span claim(struct walk *walk, Dwarf_Die *die, struct span within, uint32_t parent,
			 uint32_t leaf)
{
	struct span claimed = { 0, 0 };
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		size_t i = lower_bound(walk, within.from, within.to, low);

		for (; i < within.to && walk->addresses[i] < high; i++) {
			if (walk->leaf[i] != parent)
				continue;
			walk->leaf[i] = leaf;
			span_add(&claimed, i);
		}
	}
	return claimed;
}

/* ---- the walk over one unit's DIEs ----------------------------------------------- */

static uint32_t number_attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value))
		return 0;
	return value < UINT32_MAX ? (uint32_t)value : 0;
}

static uint32_t add_call(struct walk *walk, Dwarf_Die *die, uint32_t parent)
{
	struct call *call;

	MAKE_ROOM(walk->calls, walk->call_count, walk->call_room);
	call = &walk->calls[walk->call_count];
	*call = (struct call){ .die = *die, .parent = parent };
	return (uint32_t)walk->call_count++;
}

static void set_call_place(struct walk *walk, struct call *call)
{
	uint32_t file = number_attribute(&call->die, DW_AT_call_file);

	call->line = number_attribute(&call->die, DW_AT_call_line);
	if (walk->files && file < walk->file_count)
		call->file = dwarf_filesrc(walk->files, file, NULL, NULL);
}

static void walk_inlined(struct walk *walk, Dwarf_Die *parent_die, uint32_t parent,
			 struct span within, unsigned depth);

static void take_inlined(struct walk *walk, Dwarf_Die *die, uint32_t parent, struct span within,
			 unsigned depth)
{
	uint32_t call = (uint32_t)walk->call_count;
	struct span claimed = claim(walk, die, within, parent, call);

	if (claimed.from == claimed.to)
		return;
	add_call(walk, die, parent);
	set_call_place(walk, &walk->calls[call]);
	walk_inlined(walk, die, call, claimed, depth + 1);
}

static void walk_inlined(struct walk *walk, Dwarf_Die *parent_die, uint32_t parent,
			 struct span within, unsigned depth)
{
	Dwarf_Die die;
	struct span inner;

	if (depth > DEPTH_MAX || dwarf_child(parent_die, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			take_inlined(walk, &die, parent, within, depth);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt:
			inner = claim(walk, &die, within, parent, parent);
			if (inner.from != inner.to)
				walk_inlined(walk, &die, parent, inner, depth + 1);
			else if (!dwarf_hasattr(&die, DW_AT_ranges) &&
				 !dwarf_hasattr(&die, DW_AT_low_pc))
				walk_inlined(walk, &die, parent, within, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void take_function(struct walk *walk, Dwarf_Die *die, struct span within)
{
	uint32_t call = (uint32_t)walk->call_count;
	struct span claimed = claim(walk, die, within, NO_CALL, call);

	if (claimed.from == claimed.to)
		return;
	add_call(walk, die, NO_CALL);
	walk_inlined(walk, die, call, claimed, 0);
}

/* Looks for functions below @scope. */
static void walk_scope(struct walk *walk, Dwarf_Die *scope, struct span within, unsigned depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(scope, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			take_function(walk, &die, within);
			if (walk->thorough)
				walk_scope(walk, &die, within, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
			walk_scope(walk, &die, within, depth + 1);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
		case DW_TAG_lexical_block:
			if (walk->thorough)
				walk_scope(walk, &die, within, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* ---- lines --------------------------------------------------------------------------- */

/* The last row at or before @address, or NULL when none covers it. */
static Dwarf_Line *line_at(Dwarf_Lines *lines, size_t count, uint64_t address)
{
	size_t low = 0, high = count;
	Dwarf_Line *row;
	Dwarf_Addr at;
	bool is_end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		row = dwarf_onesrcline(lines, middle);
		if (!row || dwarf_lineaddr(row, &at))
			return NULL;
		if (at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	row = low ? dwarf_onesrcline(lines, low - 1) : NULL;
	if (!row || dwarf_lineendsequence(row, &is_end) || is_end)
		return NULL;
	return row;
}

static void take_lines(struct walk *walk, struct unit *unit, uint32_t number, struct span within)
{
	Dwarf_Lines *lines;
	size_t count;

	if (dwarf_getsrclines(&unit->die, &lines, &count))
		return;
	for (size_t i = within.from; i < within.to; i++) {
		Dwarf_Line *row;
		int line;

		if (walk->unit[i] != number || walk->file[i])
			continue;
		row = line_at(lines, count, walk->addresses[i]);
		if (!row)
			continue;
		walk->file[i] = dwarf_linesrc(row, NULL, NULL);
		if (dwarf_lineno(row, &line) == 0 && line > 0)
			walk->line[i] = (uint32_t)line;
	}
}

/* ---- one unit -------------------------------------------------------------------------- */

/* The DIE whose children tell of functions: in a split unit that of the .dwo.
 * false: it was not found. */
static bool unit_contents(struct dw_reader *reader, struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name;

	*die = unit->die;
	if (unit->type != DW_UT_skeleton)
		return true;
	if (dwarf_cu_info(unit->cu, NULL, NULL, NULL, die, NULL, NULL, NULL) == 0 && die->cu &&
	    dwarf_tag(die) != DW_TAG_invalid)
		return true;
	name = NULL;
	if (dwarf_attr(&unit->die, DW_AT_dwo_name, &attribute) ||
	    dwarf_attr(&unit->die, DW_AT_GNU_dwo_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (!reader->stats.split_missing++)
		snprintf(reader->stats.split_name, sizeof(reader->stats.split_name), "%s",
			 name ? name : "");
	return false;
}

static void walk_unit(struct walk *walk, uint32_t number, struct span within)
{
	struct unit *unit = &walk->reader->units[number];
	struct dw_stats *stats = &walk->reader->stats;
	Dwarf_Die contents;

	if (!unit->is_read)
		stats->units_read++;
	unit->is_read = true;
	take_lines(walk, unit, number, within);
	if (!unit_contents(walk->reader, unit, &contents))
		return;
	if (dwarf_getsrcfiles(&contents, &walk->files, &walk->file_count))
		walk->files = NULL;
	walk->thorough = false;
	walk_scope(walk, &contents, within, 0);
	for (size_t i = within.from; i < within.to; i++) {
		if (walk->unit[i] != number || walk->leaf[i] != NO_CALL)
			continue;
		walk->thorough = true;
		walk_scope(walk, &contents, within, 0);
		break;
	}
}

/*
 * Deals the addresses that have no function yet out to units: to the first one,
 * in the file's order, behind the one tried last. The linker keeps the first
 * copy of what is in several units, so the first unit is the one that it kept.
 */
static void deal_out(struct walk *walk, uint32_t *next, struct span *spans)
{
	struct dw_reader *reader = walk->reader;

	for (size_t i = 0; i < walk->count; i++)
		next[i] = NO_UNIT;
	for (size_t u = 0; u < reader->unit_count; u++) {
		struct unit *unit = &reader->units[u];

		spans[u] = (struct span){ 0, 0 };
		for (size_t r = 0; r < unit->range_count; r++) {
			struct range *range = &reader->ranges[unit->first_range + r];
			size_t i = lower_bound(walk, 0, walk->count, range->low);

			for (; i < walk->count && walk->addresses[i] < range->high; i++) {
				if (walk->leaf[i] != NO_CALL || next[i] != NO_UNIT ||
				    (walk->unit[i] != NO_UNIT && walk->unit[i] >= u))
					continue;
				next[i] = (uint32_t)u;
				span_add(&spans[u], i);
			}
		}
	}
}

/* Units without ranges of their own (old assemblers, odd tools) are asked for
 * what no other unit knew. */
static void walk_unranged(struct walk *walk)
{
	struct span all = { 0, walk->count };
	bool is_left = false;

	for (size_t i = 0; i < walk->count && !is_left; i++)
		is_left = walk->unit[i] == NO_UNIT;
	for (size_t u = 0; is_left && u < walk->reader->unit_count; u++) {
		struct unit *unit = &walk->reader->units[u];
		size_t before = walk->call_count;

		if (unit->range_count || unit->type == DW_UT_skeleton)
			continue;
		walk->files = NULL;
		if (dwarf_getsrcfiles(&unit->die, &walk->files, &walk->file_count))
			walk->files = NULL;
		walk->thorough = true;
		walk_scope(walk, &unit->die, all, 0);
		if (walk->call_count == before)
			continue;
		for (size_t i = 0; i < walk->count; i++)
			if (walk->unit[i] == NO_UNIT && walk->leaf[i] != NO_CALL)
				walk->unit[i] = (uint32_t)u;
		take_lines(walk, unit, (uint32_t)u, all);
	}
}

static void walk_units(struct walk *walk)
{
	size_t units = walk->reader->unit_count;
	uint32_t *next = reader_calloc(walk->count, sizeof(*next));
	struct span *spans = reader_calloc(units, sizeof(*spans));

	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		bool is_left = false;

		deal_out(walk, next, spans);
		for (size_t i = 0; i < walk->count; i++) {
			if (next[i] == NO_UNIT)
				continue;
			walk->unit[i] = next[i];
			is_left = true;
		}
		if (!is_left)
			break;
		for (size_t u = 0; u < units; u++)
			if (spans[u].from != spans[u].to)
				walk_unit(walk, (uint32_t)u, spans[u]);
	}
	walk_unranged(walk);
	free(spans);
	free(next);
}

/* ---- giving it out ------------------------------------------------------------------------ */

static const char *string_attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static void name_place(struct symbol_place *place, Dwarf_Die *die)
{
	place->linkage_name = string_attribute(die, DW_AT_linkage_name);
	if (!place->linkage_name)
		place->linkage_name = string_attribute(die, DW_AT_MIPS_linkage_name);
	place->function = string_attribute(die, DW_AT_name);
}

static void give_one(struct walk *walk, size_t index, symbol_take_places take, void *context)
{
	struct symbol_place places[SYMBOL_PLACES_MAX];
	const char *file = walk->file[index];
	uint32_t line = walk->line[index], at = walk->leaf[index];
	unsigned count = 0;

	if (at == NO_CALL && !file)
		return;
	do {
		struct symbol_place *place = &places[count];
		struct call *call = at == NO_CALL ? NULL : &walk->calls[at];

		*place = (struct symbol_place){ .file = file, .line = line };
		if (call) {
			name_place(place, &call->die);
			place->is_inlined = call->parent != NO_CALL;
			file = call->file;
			line = call->line;
			at = call->parent;
		}
		if (count + 1 < SYMBOL_PLACES_MAX || at == NO_CALL)
			count++;
	} while (at != NO_CALL);
	take(context, index, places, count);
}

void dw_reader_resolve(struct dw_reader *reader, const uint64_t *addresses, size_t count)
{
	struct walk *walk = reader_calloc(1, sizeof(*walk));

	*walk = (struct walk){ .reader = reader, .addresses = addresses, .count = count };
	walk->unit = reader_calloc(count, sizeof(*walk->unit));
	walk->leaf = reader_calloc(count, sizeof(*walk->leaf));
	walk->file = reader_calloc(count, sizeof(*walk->file));
	walk->line = reader_calloc(count, sizeof(*walk->line));
	for (size_t i = 0; i < count; i++)
		walk->unit[i] = walk->leaf[i] = NO_UNIT;
	reader->walk = walk;
	walk_units(walk);
}

void dw_reader_each(struct dw_reader *reader, symbol_take_places take, void *context)
{
	for (size_t i = 0; i < reader->walk->count; i++)
		give_one(reader->walk, i, take, context);
}

static void walk_free(struct walk *walk)
{
	if (!walk)
		return;
	free(walk->unit);
	free(walk->leaf);
	free(walk->file);
	free(walk->line);
	free(walk->calls);
	free(walk);
}

void dw_reader_free(struct dw_reader *reader)
{
	if (!reader)
		return;
	walk_free(reader->walk);
	if (reader->dwarf)
		dwarf_end(reader->dwarf);
	if (reader->alternate)
		dwarf_end(reader->alternate);
	free(reader->units);
	free(reader->ranges);
	free(reader);
}

void dw_reader_split_files(struct dw_reader *reader, void (*take)(void *context, const char *path),
			   void *context)
{
	for (size_t u = 0; u < reader->unit_count; u++) {
		struct unit *unit = &reader->units[u];
		Dwarf_Attribute attribute;
		const char *name, *folder = NULL;
		char path[4096];

		if (!unit->is_read || unit->type != DW_UT_skeleton)
			continue;
		if (!dwarf_attr(&unit->die, DW_AT_dwo_name, &attribute) &&
		    !dwarf_attr(&unit->die, DW_AT_GNU_dwo_name, &attribute))
			continue;
		name = dwarf_formstring(&attribute);
		if (dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute))
			folder = dwarf_formstring(&attribute);
		if (!name)
			continue;
		snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' || !folder ? "" : folder,
			 name[0] == '/' || !folder ? "" : "/", name);
		take(context, path);
	}
}
