/*
 * See elf_symbols.h. Several names at one address are settled when the table is
 * sorted, so that finding is one search.
 */
#include "symbolize/elf_symbols.h"

#include "symbolize/reader_memory.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many symbols within another are looked through, no more. */
#define NESTED_MAX 4096

static void add_symbol(struct elf_symbols *symbols, struct elf_symbol symbol)
{
	if (symbols->count == symbols->room) {
		symbols->room = symbols->room ? symbols->room * 2 : 1024;
		symbols->list = reader_realloc(symbols->list,
					       symbols->room * sizeof(*symbols->list));
	}
	symbols->list[symbols->count++] = symbol;
}

/* Where a symbol without a size may reach at most: the end of its section.
 * false: the section holds no code. */
static bool code_section_end(Elf *elf, size_t index, uint64_t *end)
{
	Elf_Scn *section = elf_getscn(elf, index);
	GElf_Shdr shdr;

	if (!section || !gelf_getshdr(section, &shdr) || !(shdr.sh_flags & SHF_EXECINSTR))
		return false;
	*end = shdr.sh_addr + shdr.sh_size;
	return true;
}

/* The mapping symbols of ARM and RISC-V and the local labels of assemblers are
 * no names of functions. */
static bool is_name(const char *name)
{
	return name && *name && *name != '$' && strncmp(name, ".L", 2);
}

static void add_table(struct elf_symbols *symbols, Elf *elf, Elf_Scn *section,
		      const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = shdr->sh_entsize ? shdr->sh_size / shdr->sh_entsize : 0;

	for (size_t i = 1; data && i < count; i++) {
		struct elf_symbol symbol = { 0 };
		GElf_Sym sym;
		uint64_t section_end;
		unsigned type;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		type = GELF_ST_TYPE(sym.st_info);
		if (sym.st_shndx == SHN_UNDEF || sym.st_shndx >= SHN_LORESERVE)
			continue;
		if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
			continue;
		if (!code_section_end(elf, sym.st_shndx, &section_end))
			continue;
		symbol.name = elf_strptr(elf, shdr->sh_link, sym.st_name);
		if (!is_name(symbol.name) || sym.st_value >= section_end)
			continue;
		symbol.start = sym.st_value;
		symbol.end = sym.st_value + sym.st_size;
		if (symbol.end < symbol.start)
			symbol.end = section_end;
		symbol.binding = (uint8_t)GELF_ST_BIND(sym.st_info);
		add_symbol(symbols, symbol);
	}
}

void elf_symbols_add(struct elf_symbols *symbols, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &shdr))
			continue;
		if (shdr.sh_type == SHT_SYMTAB)
			symbols->has_full_table = true;
		if (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM)
			add_table(symbols, elf, section, &shdr);
	}
}

void elf_symbols_add_one(struct elf_symbols *symbols, uint64_t value, uint64_t size,
			 uint8_t binding, const char *name, size_t name_bytes)
{
	struct elf_symbol symbol = { .start = value, .end = value + size, .binding = binding,
				     .is_own = 1 };
	char *copy;

	if (symbol.end < symbol.start)
		return;
	copy = reader_realloc(NULL, name_bytes + 1);
	memcpy(copy, name, name_bytes);
	copy[name_bytes] = 0;
	symbol.name = copy;
	add_symbol(symbols, symbol);
}

/* ---- the procedure linkage table ------------------------------------------- */

struct slot {
	uint64_t address;
	const char *name;
};

struct slots {
	struct slot *list;
	size_t count, room;
};

static const char *relocation_name(Elf *elf, const GElf_Shdr *shdr, uint64_t info)
{
	Elf_Scn *table = elf_getscn(elf, shdr->sh_link);
	GElf_Shdr table_shdr;
	GElf_Sym sym;

	if (!table || !gelf_getshdr(table, &table_shdr) ||
	    !gelf_getsym(elf_getdata(table, NULL), (int)GELF_R_SYM(info), &sym))
		return NULL;
	return elf_strptr(elf, table_shdr.sh_link, sym.st_name);
}

static void add_slots(struct slots *slots, Elf *elf, Elf_Scn *section, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = shdr->sh_entsize ? shdr->sh_size / shdr->sh_entsize : 0;

	for (size_t i = 0; data && i < count; i++) {
		GElf_Rela rela;
		const char *name;

		if (!gelf_getrela(data, (int)i, &rela))
			break;
		if (!GELF_R_SYM(rela.r_info))
			continue;
		name = relocation_name(elf, shdr, rela.r_info);
		if (!name || !*name)
			continue;
		if (slots->count == slots->room) {
			slots->room = slots->room ? slots->room * 2 : 256;
			slots->list = reader_realloc(slots->list,
						     slots->room * sizeof(*slots->list));
		}
		slots->list[slots->count++] = (struct slot){ rela.r_offset, name };
	}
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/*
 * x86-64: a stub is [endbr64] [bnd] jmp *slot(%rip), 16 bytes (8 in .plt.got of
 * older linkers). Returns the slot's address, 0 when this is none.
 */
static uint64_t stub_slot(const uint8_t *code, uint64_t address)
{
	static const uint8_t endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint8_t *at = code;
	int32_t distance;

	if (!memcmp(at, endbr64, 4))
		at += 4;
	if (*at == 0xf2)
		at++;
	if (at[0] != 0xff || at[1] != 0x25)
		return 0;
	memcpy(&distance, at + 2, 4);
	return address + (uint64_t)(at - code) + 6 + (uint64_t)(int64_t)distance;
}

static void add_stub(struct elf_symbols *symbols, const struct slots *slots, uint64_t address,
		     uint64_t bytes, uint64_t slot_address)
{
	struct slot key = { slot_address, NULL };
	struct slot *slot = bsearch(&key, slots->list, slots->count, sizeof(key), compare_slots);
	struct elf_symbol symbol = { .start = address, .end = address + bytes,
				     .binding = STB_LOCAL, .is_own = 1 };
	size_t length;
	char *name;

	if (!slot)
		return;
	length = strlen(slot->name) + sizeof("@plt");
	name = reader_realloc(NULL, length);
	snprintf(name, length, "%s@plt", slot->name);
	symbol.name = name;
	add_symbol(symbols, symbol);
}

static void add_stubs(struct elf_symbols *symbols, const struct slots *slots, Elf_Scn *section,
		      const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	uint64_t step = shdr->sh_entsize == 8 ? 8 : 16;

	for (uint64_t at = 0; data && data->d_buf && at + 16 <= data->d_size; at += step) {
		uint64_t slot = stub_slot((uint8_t *)data->d_buf + at, shdr->sh_addr + at);

		if (slot)
			add_stub(symbols, slots, shdr->sh_addr + at, step, slot);
	}
}

void elf_symbols_add_plt(struct elf_symbols *symbols, Elf *elf)
{
	struct slots slots = { 0 };
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	GElf_Ehdr ehdr;
	size_t names;

	if (!gelf_getehdr(elf, &ehdr) || ehdr.e_machine != EM_X86_64 ||
	    elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_type == SHT_RELA &&
		    (shdr.sh_flags & SHF_ALLOC))
			add_slots(&slots, elf, section, &shdr);
	if (slots.count)
		qsort(slots.list, slots.count, sizeof(*slots.list), compare_slots);
	while (slots.count && (section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		if (name && !strncmp(name, ".plt", 4))
			add_stubs(symbols, &slots, section, &shdr);
	}
	free(slots.list);
}

/* ---- one name per address ------------------------------------------------------ */

static unsigned leading_underscores(const char *name)
{
	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		return 0; /* mangled */
	return (unsigned)strspn(name, "_");
}

static unsigned binding_rank(unsigned binding)
{
	return binding == STB_WEAK ? 2 : binding == STB_LOCAL ? 1 : 0;
}

/*
 * Which of two names for one place would a person use? The one that says how
 * long it is; "write" rather than "__write"; a function rather than a weak alias
 * of it; "free" rather than "cfree". Negative: @x.
 */
static int compare_names(const struct elf_symbol *x, const struct elf_symbol *y)
{
	size_t x_length = strlen(x->name), y_length = strlen(y->name);
	int by;

	by = (x->end == x->start) - (y->end == y->start);
	if (!by)
		by = (int)leading_underscores(x->name) - (int)leading_underscores(y->name);
	if (!by)
		by = (int)binding_rank(x->binding) - (int)binding_rank(y->binding);
	if (!by && x_length != y_length)
		by = x_length < y_length ? -1 : 1;
	return by ? by : strcmp(x->name, y->name);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return compare_names(x, y);
}

void elf_symbols_sort(struct elf_symbols *symbols)
{
	struct elf_symbol *list = symbols->list;
	size_t kept = 0;
	uint64_t reach = 0;

	if (symbols->count)
		qsort(list, symbols->count, sizeof(*list), compare_symbols);
	for (size_t i = 0; i < symbols->count; i++) {
		if (kept && list[kept - 1].start == list[i].start) {
			if (list[i].is_own)
				free((char *)list[i].name);
			continue;
		}
		list[kept++] = list[i];
	}
	symbols->count = kept;
	for (size_t i = 0; i < kept; i++) {
		if (list[i].end == list[i].start)
			list[i].end = i + 1 < kept ? list[i + 1].start : list[i].start + 4096;
		if (list[i].end > reach)
			reach = list[i].end;
		list[i].reach = reach;
	}
}

void elf_symbols_release(struct elf_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++)
		if (symbols->list[i].is_own)
			free((char *)symbols->list[i].name);
	free(symbols->list);
	memset(symbols, 0, sizeof(*symbols));
}

const char *elf_symbols_find(const struct elf_symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* The nearest start may be that of a short symbol within a longer one. */
	for (unsigned steps = 0; low-- > 0 && steps < NESTED_MAX; steps++) {
		if (symbols->list[low].reach <= address)
			break;
		if (symbols->list[low].end > address)
			return symbols->list[low].name;
	}
	return NULL;
}
