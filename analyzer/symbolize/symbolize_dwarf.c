/*
 * See symbolize_dwarf.h. The search is that of symbolize_dw.c, told there: the
 * addresses are dealt out to units, one walk per unit, an address's leaf is the
 * innermost call known so far.
 *
 * A package holds the DIEs of units whose rest (ranges, addresses, lines) is in
 * the program; the two halves have an id in common. libdwarf finds addresses in
 * the program when it is "tied" to the package, and only after all unit headers
 * of the program were read.
 */
#include "symbolize/symbolize_dwarf.h"

#include "symbolize/reader_memory.h"

#include <fcntl.h>
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_CALL UINT32_MAX
#define NO_UNIT UINT32_MAX
#define DEPTH_MAX 256
#define ORIGINS_MAX 16      /* references followed for a name */

struct range {
	uint64_t low, high;
};

struct unit {
	Dwarf_Off die;
	Dwarf_Off split_die;     /* in the package; 0 = none */
	uint64_t base;           /* that its ranges count from */
	Dwarf_Sig8 id;
	size_t first_range, range_count;
	Dwarf_Half version;
	bool is_split;
};

struct file {
	Dwarf_Debug debug;       /* NULL: not open */
	int fd;
};

struct libdwarf_reader {
	struct file program, package;
	struct unit *units;
	size_t unit_count, unit_room;
	struct range *ranges;
	size_t range_count, range_room;
};

struct call {
	const char *function, *linkage_name, *file;
	uint32_t parent, line;
};

struct row {
	uint64_t address;
	Dwarf_Line line;
	size_t order;
	bool is_end;
};

struct walk {
	struct libdwarf_reader *reader;
	const uint64_t *addresses;
	size_t count;
	uint32_t *unit, *leaf, *line;
	const char **file;
	struct call *calls;
	size_t call_count, call_room;
	const struct unit *now;  /* the unit being walked */
	Dwarf_Debug debug;       /* that its DIEs are in */
	char **files;
	size_t file_count;
};

struct span {
	size_t from, to;
};

#define MAKE_ROOM(list, count, room)                                                               \
	do {                                                                                       \
		if ((count) == (room)) {                                                           \
			(room) = (room) ? (room) * 2 : 256;                                        \
			(list) = reader_realloc(list, (room) * sizeof(*(list)));                   \
		}                                                                                  \
	} while (0)

/* ---- attributes ---- */

static bool get_attribute(Dwarf_Die die, Dwarf_Half name, Dwarf_Attribute *attribute)
{
	Dwarf_Error error;

	return dwarf_attr(die, name, attribute, &error) == DW_DLV_OK;
}

static uint32_t number_attribute(Dwarf_Die die, Dwarf_Half name)
{
	Dwarf_Attribute attribute;
	Dwarf_Unsigned value = 0;
	Dwarf_Error error;

	if (!get_attribute(die, name, &attribute))
		return 0;
	if (dwarf_formudata(attribute, &value, &error) != DW_DLV_OK)
		value = 0;
	dwarf_dealloc_attribute(attribute);
	return value < UINT32_MAX ? (uint32_t)value : 0;
}

static const char *own_string(Dwarf_Die die, Dwarf_Half name)
{
	Dwarf_Attribute attribute;
	Dwarf_Error error;
	char *string = NULL;

	if (!get_attribute(die, name, &attribute))
		return NULL;
	if (dwarf_formstring(attribute, &string, &error) != DW_DLV_OK)
		string = NULL;
	dwarf_dealloc_attribute(attribute);
	return string;
}

/* The DIE that @die is an instance of, or completes. NULL: none. */
static Dwarf_Die origin_of(Dwarf_Debug debug, Dwarf_Die die)
{
	static const Dwarf_Half names[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Die origin;
	Dwarf_Error error;

	for (size_t i = 0; i < 2; i++) {
		Dwarf_Attribute attribute;
		Dwarf_Off offset;
		int ret;

		if (!get_attribute(die, names[i], &attribute))
			continue;
		ret = dwarf_global_formref(attribute, &offset, &error);
		dwarf_dealloc_attribute(attribute);
		if (ret == DW_DLV_OK &&
		    dwarf_offdie_b(debug, offset, 1, &origin, &error) == DW_DLV_OK)
			return origin;
	}
	return NULL;
}

static const char *string_attribute(Dwarf_Debug debug, Dwarf_Die die, Dwarf_Half name,
				    unsigned depth)
{
	const char *string = own_string(die, name);
	Dwarf_Die origin;

	if (string || depth > ORIGINS_MAX)
		return string;
	origin = origin_of(debug, die);
	if (!origin)
		return NULL;
	string = string_attribute(debug, origin, name, depth + 1);
	dwarf_dealloc_die(origin);
	return string;
}

/* ---- ranges ---- */

typedef void (*take_range)(void *context, uint64_t low, uint64_t high);

static void ranges_4(Dwarf_Debug debug, Dwarf_Die die, Dwarf_Attribute attribute, uint64_t base,
		     take_range take, void *context)
{
	Dwarf_Off offset, real;
	Dwarf_Ranges *list;
	Dwarf_Signed count;
	Dwarf_Unsigned bytes;
	Dwarf_Error error;

	if (dwarf_global_formref(attribute, &offset, &error) != DW_DLV_OK ||
	    dwarf_get_ranges_b(debug, offset, die, &real, &list, &count, &bytes, &error) !=
		    DW_DLV_OK)
		return;
	for (Dwarf_Signed i = 0; i < count; i++) {
		if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = list[i].dwr_addr2;
		else if (list[i].dwr_type == DW_RANGES_ENTRY)
			take(context, base + list[i].dwr_addr1, base + list[i].dwr_addr2);
		else
			break;
	}
	dwarf_ranges_dealloc(debug, list, count);
}

static void ranges_5(Dwarf_Attribute attribute, take_range take, void *context)
{
	Dwarf_Rnglists_Head head;
	Dwarf_Unsigned value, count, offset;
	Dwarf_Error error;
	Dwarf_Half form;

	if (dwarf_whatform(attribute, &form, &error) != DW_DLV_OK)
		return;
	if (form == DW_FORM_rnglistx ? dwarf_formudata(attribute, &value, &error) != DW_DLV_OK :
				       dwarf_global_formref(attribute, &value, &error) != DW_DLV_OK)
		return;
	if (dwarf_rnglists_get_rle_head(attribute, form, value, &head, &count, &offset, &error) !=
	    DW_DLV_OK)
		return;
	for (Dwarf_Unsigned i = 0; i < count; i++) {
		Dwarf_Unsigned raw1, raw2, low, high;
		unsigned length, code;

		if (dwarf_get_rnglists_entry_fields(head, i, &length, &code, &raw1, &raw2, &low,
						    &high, &error) != DW_DLV_OK ||
		    code == DW_RLE_end_of_list)
			break;
		if (code != DW_RLE_base_address && code != DW_RLE_base_addressx)
			take(context, low, high);
	}
	dwarf_dealloc_rnglists_head(head);
}

static void die_ranges(Dwarf_Debug debug, Dwarf_Die die, const struct unit *unit, take_range take,
		       void *context)
{
	enum Dwarf_Form_Class class;
	Dwarf_Attribute attribute;
	Dwarf_Addr low, high;
	Dwarf_Error error;
	Dwarf_Half form;

	if (get_attribute(die, DW_AT_ranges, &attribute)) {
		if (unit->version >= 5)
			ranges_5(attribute, take, context);
		else
			ranges_4(debug, die, attribute, unit->base, take, context);
		dwarf_dealloc_attribute(attribute);
		return;
	}
	if (dwarf_lowpc(die, &low, &error) != DW_DLV_OK ||
	    dwarf_highpc_b(die, &high, &form, &class, &error) != DW_DLV_OK)
		return;
	take(context, low, class == DW_FORM_CLASS_CONSTANT ? low + high : high);
}

/* ---- the table of units ---- */

static void add_range(void *context, uint64_t low, uint64_t high)
{
	struct libdwarf_reader *reader = context;

	if (low >= high)
		return;
	MAKE_ROOM(reader->ranges, reader->range_count, reader->range_room);
	reader->ranges[reader->range_count++] = (struct range){ low, high };
}

/* The id in a unit's DIE (DWARF 4), when the header had none. */
static bool die_id(Dwarf_Die die, Dwarf_Sig8 *id)
{
	Dwarf_Attribute attribute;
	Dwarf_Error error;
	int ret;

	if (!get_attribute(die, DW_AT_GNU_dwo_id, &attribute))
		return false;
	ret = dwarf_formsig8_const(attribute, id, &error);
	dwarf_dealloc_attribute(attribute);
	return ret == DW_DLV_OK;
}

typedef void (*take_unit)(struct libdwarf_reader *reader, Dwarf_Die die, struct unit *unit);

/* Gives the top DIE of each unit of @debug. All headers are read first: see
 * above. */
static void each_unit(struct libdwarf_reader *reader, Dwarf_Debug debug, take_unit take)
{
	for (;;) {
		struct unit unit = { 0 };
		Dwarf_Unsigned length, type_offset, next;
		Dwarf_Off abbreviations;
		Dwarf_Half address_bytes, length_bytes, extension_bytes, type;
		Dwarf_Addr low;
		Dwarf_Error error;
		Dwarf_Die die;

		if (dwarf_next_cu_header_d(debug, 1, &length, &unit.version, &abbreviations,
					   &address_bytes, &length_bytes, &extension_bytes,
					   &unit.id, &type_offset, &next, &type,
					   &error) != DW_DLV_OK)
			return;
		if (dwarf_siblingof_b(debug, NULL, 1, &die, &error) != DW_DLV_OK)
			continue;
		unit.is_split = type == DW_UT_skeleton || type == DW_UT_split_compile;
		unit.is_split = die_id(die, &unit.id) || unit.is_split;
		if (dwarf_lowpc(die, &low, &error) == DW_DLV_OK)
			unit.base = low;
		if (type != DW_UT_type && type != DW_UT_split_type && type != DW_UT_partial &&
		    dwarf_dieoffset(die, &unit.die, &error) == DW_DLV_OK)
			take(reader, die, &unit);
		dwarf_dealloc_die(die);
	}
}

static void add_unit(struct libdwarf_reader *reader, Dwarf_Die die, struct unit *unit)
{
	unit->first_range = reader->range_count;
	die_ranges(reader->program.debug, die, unit, add_range, reader);
	unit->range_count = reader->range_count - unit->first_range;
	MAKE_ROOM(reader->units, reader->unit_count, reader->unit_room);
	reader->units[reader->unit_count++] = *unit;
}

static int compare_ids(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return memcmp(&x->id, &y->id, sizeof(x->id));
}

/* @unit of the package: the other half of some unit of the program? (They are
 * sorted by id at this moment.) */
static void match_unit(struct libdwarf_reader *reader, Dwarf_Die die, struct unit *unit)
{
	struct unit *half = bsearch(unit, reader->units, reader->unit_count, sizeof(*unit),
				    compare_ids);

	(void)die;
	if (half && half->is_split)
		half->split_die = unit->die;
}

static int compare_dies(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return x->die < y->die ? -1 : x->die > y->die;
}

/* ---- opening ---- */

static void open_file(struct file *file, const char *path)
{
	Dwarf_Error error;

	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return;
	if (dwarf_init_b(file->fd, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL, NULL, &file->debug,
			 &error) == DW_DLV_OK)
		return;
	file->debug = NULL;
	close(file->fd);
	file->fd = -1;
}

static void close_file(struct file *file)
{
	Dwarf_Error error;

	if (!file->debug)
		return;
	dwarf_finish(file->debug, &error);
	close(file->fd);
}

struct libdwarf_reader *libdwarf_reader_new(const char *path, const char *package)
{
	struct libdwarf_reader *reader = reader_calloc(1, sizeof(*reader));
	Dwarf_Error error;

	open_file(&reader->program, path);
	if (!reader->program.debug) {
		free(reader);
		return NULL;
	}
	each_unit(reader, reader->program.debug, add_unit);
	if (package)
		open_file(&reader->package, package);
	if (!reader->package.debug || !reader->unit_count)
		return reader;
	dwarf_set_tied_dbg(reader->package.debug, reader->program.debug, &error);
	qsort(reader->units, reader->unit_count, sizeof(*reader->units), compare_ids);
	each_unit(reader, reader->package.debug, match_unit);
	qsort(reader->units, reader->unit_count, sizeof(*reader->units), compare_dies);
	return reader;
}

void libdwarf_reader_free(struct libdwarf_reader *reader)
{
	if (!reader)
		return;
	close_file(&reader->package);
	close_file(&reader->program);
	free(reader->units);
	free(reader->ranges);
	free(reader);
}

/* ---- which addresses a DIE holds ---- */

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

static void span_add(struct span *span, size_t index)
{
	if (span->from == span->to)
		*span = (struct span){ index, index + 1 };
	else if (index < span->from)
		span->from = index;
	else if (index >= span->to)
		span->to = index + 1;
}

struct claim {
	struct walk *walk;
	struct span within, claimed;
	uint32_t parent, leaf;
};

static void claim_range(void *context, uint64_t low, uint64_t high)
{
	struct claim *claim = context;
	struct walk *walk = claim->walk;
	size_t i = lower_bound(walk, claim->within.from, claim->within.to, low);

	for (; i < claim->within.to && walk->addresses[i] < high; i++) {
		if (walk->leaf[i] != claim->parent)
			continue;
		walk->leaf[i] = claim->leaf;
		span_add(&claim->claimed, i);
	}
}

static struct span claim(struct walk *walk, Dwarf_Die die, struct span within, uint32_t parent,
			 uint32_t leaf)
{
	struct claim claim = { walk, within, { 0, 0 }, parent, leaf };

	die_ranges(walk->debug, die, walk->now, claim_range, &claim);
	return claim.claimed;
}

/* Files count from 1 before DWARF 5. */
static const char *file_name(const struct walk *walk, uint64_t file)
{
	file -= walk->now->version < 5;
	return file < walk->file_count ? walk->files[file] : NULL;
}

/* ---- the walk ---- */

static void add_call(struct walk *walk, Dwarf_Die die, uint32_t parent)
{
	struct call call = { .parent = parent };
	uint32_t file = number_attribute(die, DW_AT_call_file);

	call.linkage_name = string_attribute(walk->debug, die, DW_AT_linkage_name, 0);
	if (!call.linkage_name)
		call.linkage_name = string_attribute(walk->debug, die, DW_AT_MIPS_linkage_name, 0);
	call.function = string_attribute(walk->debug, die, DW_AT_name, 0);
	call.line = number_attribute(die, DW_AT_call_line);
	if (parent != NO_CALL)
		call.file = file_name(walk, file);
	MAKE_ROOM(walk->calls, walk->call_count, walk->call_room);
	walk->calls[walk->call_count++] = call;
}

static void walk_children(struct walk *walk, Dwarf_Die parent_die, uint32_t parent,
			  struct span within, unsigned depth);

static void take_block(struct walk *walk, Dwarf_Die die, uint32_t parent, struct span within,
		       unsigned depth)
{
	struct span inner = claim(walk, die, within, parent, parent);
	Dwarf_Attribute attribute;

	if (inner.from == inner.to && get_attribute(die, DW_AT_ranges, &attribute)) {
		dwarf_dealloc_attribute(attribute);
		return;
	}
	if (inner.from == inner.to && get_attribute(die, DW_AT_low_pc, &attribute)) {
		dwarf_dealloc_attribute(attribute);
		return;
	}
	walk_children(walk, die, parent, inner.from == inner.to ? within : inner, depth + 1);
}

static void take_code(struct walk *walk, Dwarf_Die die, uint32_t parent, struct span within,
		      unsigned depth)
{
	uint32_t number = (uint32_t)walk->call_count;
	struct span claimed = claim(walk, die, within, parent, number);

	if (claimed.from == claimed.to)
		return;
	add_call(walk, die, parent);
	walk_children(walk, die, number, claimed, depth + 1);
}

/* One DIE: @parent is the call it lies in, NO_CALL outside of functions. */
static void take_die(struct walk *walk, Dwarf_Die die, uint32_t parent, struct span within,
		     unsigned depth)
{
	Dwarf_Error error;
	Dwarf_Half tag;

	if (dwarf_tag(die, &tag, &error) != DW_DLV_OK)
		return;
	switch (tag) {
	case DW_TAG_subprogram:
		take_code(walk, die, NO_CALL, within, depth);
		break;
	case DW_TAG_inlined_subroutine:
		if (parent != NO_CALL)
			take_code(walk, die, parent, within, depth);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		if (parent != NO_CALL)
			take_block(walk, die, parent, within, depth);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		if (parent == NO_CALL)
			walk_children(walk, die, NO_CALL, within, depth + 1);
		break;
	default:
		break;
	}
}

static void walk_children(struct walk *walk, Dwarf_Die parent_die, uint32_t parent,
			  struct span within, unsigned depth)
{
	Dwarf_Die die, next;
	Dwarf_Error error;
	int ret;

	if (depth > DEPTH_MAX || dwarf_child(parent_die, &die, &error) != DW_DLV_OK)
		return;
	do {
		take_die(walk, die, parent, within, depth);
		ret = dwarf_siblingof_b(walk->debug, die, 1, &next, &error);
		dwarf_dealloc_die(die);
		die = next;
	} while (ret == DW_DLV_OK);
}

/* ---- lines ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* The end of one piece of code may be the start of another. */
	if (x->is_end != y->is_end)
		return x->is_end ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct row *sorted_rows(Dwarf_Line *lines, size_t count)
{
	struct row *rows = reader_calloc(count, sizeof(*rows));

	for (size_t i = 0; i < count; i++) {
		Dwarf_Error error;
		Dwarf_Addr address = 0;
		Dwarf_Bool is_end = 0;

		dwarf_lineaddr(lines[i], &address, &error);
		dwarf_lineendsequence(lines[i], &is_end, &error);
		rows[i] = (struct row){ address, lines[i], i, is_end };
	}
	qsort(rows, count, sizeof(*rows), compare_rows);
	return rows;
}

static void take_row(struct walk *walk, size_t index, const struct row *row)
{
	Dwarf_Unsigned line, file;
	Dwarf_Error error;

	/* In DWARF 5 libdwarf lets the file number start at 0, not 1: a 0 says
	 * nothing. (dwarf_linesrc hides which it was.) */
	if (dwarf_line_srcfileno(row->line, &file, &error) == DW_DLV_OK && file)
		walk->file[index] = file_name(walk, file);
	if (dwarf_lineno(row->line, &line, &error) == DW_DLV_OK && line < UINT32_MAX)
		walk->line[index] = (uint32_t)line;
}

static void take_lines(struct walk *walk, Dwarf_Die die, uint32_t number, struct span within)
{
	Dwarf_Unsigned version;
	Dwarf_Small tables;
	Dwarf_Line_Context context;
	Dwarf_Line *lines;
	Dwarf_Signed count;
	Dwarf_Error error;
	struct row *rows;
	size_t at = 0;

	if (dwarf_srclines_b(die, &version, &tables, &context, &error) != DW_DLV_OK)
		return;
	if (dwarf_srclines_from_linecontext(context, &lines, &count, &error) != DW_DLV_OK)
		return;
	rows = sorted_rows(lines, (size_t)count);
	for (size_t i = within.from; i < within.to; i++) {
		while (at < (size_t)count && rows[at].address <= walk->addresses[i])
			at++;
		if (walk->unit[i] == number && at && !rows[at - 1].is_end)
			take_row(walk, i, &rows[at - 1]);
	}
	free(rows);
	/* The rows' file names live on with the context, until dwarf_finish. */
}

/* ---- one batch ---- */

static void walk_unit(struct walk *walk, uint32_t number, struct span within)
{
	struct libdwarf_reader *reader = walk->reader;
	const struct unit *unit = &reader->units[number];
	Dwarf_Signed files = 0;
	Dwarf_Error error;
	Dwarf_Die die, split;

	if (dwarf_offdie_b(reader->program.debug, unit->die, 1, &die, &error) != DW_DLV_OK)
		return;
	walk->now = unit;
	walk->debug = reader->program.debug;
	if (dwarf_srcfiles(die, &walk->files, &files, &error) != DW_DLV_OK)
		files = 0;
	walk->file_count = (size_t)files;
	take_lines(walk, die, number, within);
	if (!unit->is_split) {
		walk_children(walk, die, NO_CALL, within, 0);
	} else if (unit->split_die && dwarf_offdie_b(reader->package.debug, unit->split_die, 1,
						     &split, &error) == DW_DLV_OK) {
		walk->debug = reader->package.debug;
		walk_children(walk, split, NO_CALL, within, 0);
		dwarf_dealloc_die(split);
	}
	dwarf_dealloc_die(die);
}

/* To the first unit in the file's order that covers it. */
static void deal_out(struct walk *walk, struct span *spans)
{
	struct libdwarf_reader *reader = walk->reader;

	for (size_t u = 0; u < reader->unit_count; u++) {
		const struct unit *unit = &reader->units[u];

		for (size_t r = 0; r < unit->range_count; r++) {
			const struct range *range = &reader->ranges[unit->first_range + r];
			size_t i = lower_bound(walk, 0, walk->count, range->low);

			for (; i < walk->count && walk->addresses[i] < range->high; i++) {
				if (walk->unit[i] != NO_UNIT)
					continue;
				walk->unit[i] = (uint32_t)u;
				span_add(&spans[u], i);
			}
		}
	}
}

static void give_one(const struct walk *walk, size_t index, symbol_take_places take, void *context)
{
	struct symbol_place places[SYMBOL_PLACES_MAX];
	const char *file = walk->file[index];
	uint32_t line = walk->line[index], at = walk->leaf[index];
	unsigned count = 0;

	if (at == NO_CALL && !file)
		return;
	do {
		const struct call *call = at == NO_CALL ? NULL : &walk->calls[at];
		struct symbol_place *place = &places[count];

		*place = (struct symbol_place){ .file = file, .line = line };
		if (call) {
			place->function = call->function;
			place->linkage_name = call->linkage_name;
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

void libdwarf_reader_resolve(struct libdwarf_reader *reader, const uint64_t *addresses,
			     size_t count, symbol_take_places take, void *context)
{
	struct walk walk = { .reader = reader, .addresses = addresses, .count = count };
	struct span *spans = reader_calloc(reader->unit_count, sizeof(*spans));

	walk.unit = reader_calloc(count, sizeof(*walk.unit));
	walk.leaf = reader_calloc(count, sizeof(*walk.leaf));
	walk.line = reader_calloc(count, sizeof(*walk.line));
	walk.file = reader_calloc(count, sizeof(*walk.file));
	for (size_t i = 0; i < count; i++)
		walk.unit[i] = walk.leaf[i] = NO_UNIT;
	deal_out(&walk, spans);
	for (size_t u = 0; u < reader->unit_count; u++)
		if (spans[u].from != spans[u].to)
			walk_unit(&walk, (uint32_t)u, spans[u]);
	for (size_t i = 0; i < count; i++)
		give_one(&walk, i, take, context);
	free(walk.unit);
	free(walk.leaf);
	free(walk.line);
	free(walk.file);
	free(walk.calls);
	free(spans);
}
