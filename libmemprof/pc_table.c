/*
 * The slow half of the table of places: asking a module for its row, insertion,
 * growth, ids, and forgetting. All that changes the table happens under one lock
 * that is only ever tried.
 *
 * Forgetting: places in modules that were there at the start stay valid for ever.
 * Of the others (`passing`) each keeps its range and its link map; when the
 * loader has been busy and one of them is no longer what _dl_find_object tells,
 * its places are taken out, and the generation rises so that memos and caches of
 * all threads go too. Ids are never used again.
 */
#define _GNU_SOURCE /* _dl_find_object */
#include "pc_table.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <sys/mman.h>

#include "cfi.h"
#include "memprof/trace_format.h"
#include "os.h"
#include "unwind.h"
#include "unwind_arch_x86_64.h"

#define FIRST_BUCKETS 64
#define BUCKETS_MAX (1u << 18)
#define ODD_ROWS_MAX 1024
#define KEY_FORGOTTEN 1u   /* place 0: nobody looks for it */

/* ---- the lock ------------------------------------------------------------------ */

static uint32_t table_lock;
static uint64_t table_signals; /* the holder's mask: no handler may leave with the lock */

static bool lock_try(void)
{
	uint64_t signals = os_block_signals();

	if (__atomic_exchange_n(&table_lock, 1, __ATOMIC_ACQUIRE) == 0) {
		table_signals = signals;
		return true;
	}
	os_restore_signals(signals);
	return false;
}

/* Its holder never waits for anything, so a short while is enough, unless the
 * holder is this very thread, interrupted. */
static bool lock_within(unsigned turns)
{
	while (__atomic_load_n(&table_lock, __ATOMIC_RELAXED) || !lock_try()) {
		if (turns-- == 0)
			return false;
		arch_pause();
	}
	return true;
}

static void lock_release(void)
{
	uint64_t signals = table_signals;

	__atomic_store_n(&table_lock, 0, __ATOMIC_RELEASE);
	os_restore_signals(signals);
}

/* ---- ids: from the id back to the place ------------------------------------------- */

/*
 * An append-only list in chunks; id i is entry i - TRACE_PC_FIRST. Written under
 * the lock, read by those who hand out fresh places.
 */
#define ID_CHUNK 4096u
#define ID_CHUNKS 256u

static uint64_t first_ids[256]; /* pc << 8 | enum trace_pc_flag; what small programs need */
static uint64_t *id_chunks[ID_CHUNKS];
struct pc_fresh pc_fresh;

static uint64_t *id_word(uint32_t index)
{
	uint64_t *chunk;

	if (index < 256)
		return &first_ids[index];
	chunk = id_chunks[index / ID_CHUNK];
	return chunk ? &chunk[index % ID_CHUNK] : NULL;
}

/* Under the lock. TRACE_FRAME_LITERAL: there are no more. */
static uint32_t new_id(uintptr_t pc, uint32_t flags)
{
	uint32_t index = pc_fresh.made;
	uint64_t *word;

	if (index >= ID_CHUNK * ID_CHUNKS || pc >> 56)
		return TRACE_FRAME_LITERAL;
	if (index >= 256 && !id_chunks[index / ID_CHUNK])
		id_chunks[index / ID_CHUNK] = os_map(ID_CHUNK * sizeof(uint64_t));
	word = id_word(index);
	if (!word)
		return TRACE_FRAME_LITERAL;
	*word = (uint64_t)pc << 8 | flags;
	__atomic_store_n(&pc_fresh.made, index + 1, __ATOMIC_RELEASE);
	return index + TRACE_PC_FIRST;
}

bool pc_table_entry(uint32_t index, struct pc_entry *entry)
{
	uint64_t word;

	if (index >= __atomic_load_n(&pc_fresh.made, __ATOMIC_ACQUIRE))
		return false;
	word = *id_word(index);
	entry->id = index + TRACE_PC_FIRST;
	entry->pc = (uintptr_t)(word >> 8);
	entry->flags = (uint32_t)(word & 0xff);
	return true;
}

bool pc_table_take_fresh(struct pc_entry *entry)
{
	uint32_t index = __atomic_load_n(&pc_fresh.taken, __ATOMIC_RELAXED);
	uint64_t word;

	do {
		if (index == __atomic_load_n(&pc_fresh.made, __ATOMIC_ACQUIRE))
			return false;
		word = *id_word(index);
	} while (!__atomic_compare_exchange_n(&pc_fresh.taken, &index, index + 1, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED) || word == 0);
	entry->id = index + TRACE_PC_FIRST;
	entry->pc = (uintptr_t)(word >> 8);
	entry->flags = (uint32_t)(word & 0xff);
	return true;
}

/* ---- modules ------------------------------------------------------------------------ */

#define LASTING_MAX 512
#define PASSING_MAX 512

struct passing {
	uintptr_t start;
	uintptr_t end;
	const void *link_map;
};

static const void *lasting[LASTING_MAX]; /* link maps of modules that can't go */
static unsigned lasting_count;
static struct passing passing[PASSING_MAX];
static unsigned passing_count;
static unsigned places_of_no_module;     /* a module may come to lie there */
uint32_t pc_table_generation = 1;

static bool is_lasting(const void *link_map)
{
	for (unsigned i = 0; i < lasting_count; i++) {
		if (lasting[i] == link_map)
			return true;
	}
	return false;
}

/* Under the lock. false: no room, the module's places can't be remembered. */
static bool remember_passing(const struct dl_find_object *object)
{
	struct passing *new = &passing[passing_count];

	for (unsigned i = 0; i < passing_count; i++) {
		if (passing[i].start == (uintptr_t)object->dlfo_map_start)
			return true;
	}
	if (passing_count == PASSING_MAX)
		return false;
	new->start = (uintptr_t)object->dlfo_map_start;
	new->end = (uintptr_t)object->dlfo_map_end;
	new->link_map = object->dlfo_link_map;
	passing_count++;
	return true;
}

static bool find_module(uintptr_t pc, struct dl_find_object *object)
{
	return _dl_find_object((void *)pc, object) == 0;
}

/* ---- generated code -------------------------------------------------------------- */

/*
 * Executable memory of no module, as /proc/self/maps told it last. Read again
 * when an address is in none of these and the last look is so long ago that
 * looking costs a small share of the time at most. Guarded by the lock.
 */
#define RANGES_MAX 64
#define LOOK_SHARE 64

struct range {
	uintptr_t start;
	uintptr_t end;
};

static struct range generated[RANGES_MAX];
static unsigned generated_count;
static uint64_t looked_at, look_cost;

static bool in_generated(uintptr_t pc)
{
	for (unsigned i = 0; i < generated_count; i++) {
		if (pc - generated[i].start < generated[i].end - generated[i].start)
			return true;
	}
	return false;
}

static void add_generated(uintptr_t start, uintptr_t end)
{
	struct dl_find_object object;

	if (generated_count == RANGES_MAX || find_module(start, &object))
		return;
	generated[generated_count].start = start;
	generated[generated_count].end = end;
	generated_count++;
}

/* Reads lines "start-end perms ..." byte by byte: only the head of each counts. */
struct maps_line {
	uintptr_t numbers[2];
	unsigned field; /* 0, 1: numbers; 2: perms; 3: the rest */
	unsigned column;
	bool is_executable;
};

static void maps_line_feed(struct maps_line *line, char c)
{
	if (c == '\n') {
		if (line->field == 3 && line->is_executable)
			add_generated(line->numbers[0], line->numbers[1]);
		*line = (struct maps_line){ 0 };
	} else if (line->field < 2) {
		if (c == '-' || c == ' ')
			line->field++;
		else
			line->numbers[line->field] = line->numbers[line->field] << 4 |
						     (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	} else if (line->field == 2) {
		if (c == ' ')
			line->field = 3;
		else if (line->column++ == 2)
			line->is_executable = c == 'x';
	}
}

static void look_for_generated(void)
{
	static char text[4096];
	struct maps_line line = { 0 };
	uint64_t begin = arch_ticks();
	int file = os_open("/proc/self/maps", O_RDONLY, 0);
	long got;

	generated_count = 0;
	if (file >= 0) {
		while ((got = os_call3(SYS_read, file, text, sizeof(text))) > 0) {
			for (long i = 0; i < got; i++)
				maps_line_feed(&line, text[i]);
		}
		os_close(file);
	}
	looked_at = arch_ticks();
	look_cost = looked_at - begin;
}

/* Under the lock. */
static bool is_generated(uintptr_t pc)
{
	if (in_generated(pc))
		return true;
	if (looked_at && arch_ticks() - looked_at < LOOK_SHARE * look_cost)
		return false;
	look_for_generated();
	return in_generated(pc);
}

#define GENERATED_TURNS 2000

bool pc_table_has_code(uintptr_t pc)
{
	struct dl_find_object object;
	struct cfi_module module;
	struct cfi_row row;
	bool found;

	if (find_module(pc, &object)) {
		module.start = (uintptr_t)object.dlfo_map_start;
		module.end = (uintptr_t)object.dlfo_map_end;
		module.eh_frame_hdr = (uintptr_t)object.dlfo_eh_frame;
		return cfi_find(&module, pc - 1, &row) == CFI_FOUND;
	}
	if (!lock_within(GENERATED_TURNS))
		return false;
	found = is_generated(pc) && in_generated(pc - 8);
	lock_release();
	return found;
}

/* ---- rows ---------------------------------------------------------------------------- */

struct pc_odd_row pc_odd_rows[ODD_ROWS_MAX];
static unsigned odd_rows;

/* Under the lock. */
static pc_row intern_odd(const struct pc_odd_row *odd)
{
	unsigned i;

	for (i = 0; i < odd_rows; i++) {
		const struct pc_odd_row *row = &pc_odd_rows[i];

		if (row->cfa_from_fp == odd->cfa_from_fp && row->fp_kind == odd->fp_kind &&
		    row->cfa_is_loaded == odd->cfa_is_loaded &&
		    row->cfa_offset == odd->cfa_offset && row->fp_offset == odd->fp_offset)
			return (pc_row)(PC_ROW_ODD << 14 | i);
	}
	if (i == ODD_ROWS_MAX)
		return PC_ROW_REGISTERS;
	pc_odd_rows[i] = *odd;
	odd_rows++;
	return (pc_row)(PC_ROW_ODD << 14 | i);
}

static pc_row pack_odd(const struct cfi_row *cfi)
{
	const struct cfi_rule *fp = &cfi->rules[CFI_RBP];
	struct pc_odd_row odd = {
		.cfa_from_fp = cfi->cfa_base == CFI_RBP,
		.cfa_is_loaded = cfi->cfa_kind == CFI_CFA_LOAD,
		.cfa_offset = cfi->cfa_offset,
	};

	if (fp->kind == CFI_AT_CFA)
		odd.fp_kind = PC_ODD_FP_AT_CFA;
	else if (fp->kind == CFI_AT_BASE && fp->base == CFI_RBP)
		odd.fp_kind = PC_ODD_FP_AT_FP;
	else if (fp->kind != CFI_SAME && fp->kind != CFI_UNDEFINED)
		return PC_ROW_REGISTERS;
	if (odd.fp_kind != PC_ODD_FP_SAME)
		odd.fp_offset = fp->offset;
	return intern_odd(&odd);
}

/* The packed form of @cfi, or PC_ROW_ODD << 14 when it takes an odd row. */
static pc_row pack_row(const struct cfi_row *cfi)
{
	const struct cfi_rule *fp = &cfi->rules[CFI_RBP], *ra = &cfi->rules[CFI_RA];
	unsigned kind = cfi->cfa_base == CFI_RBP ? PC_ROW_FP : PC_ROW_SP;
	unsigned slot = 0;

	if (ra->kind == CFI_UNDEFINED)
		return PC_ROW_END;
	if (ra->kind != CFI_AT_CFA || ra->offset != -8 || cfi->cfa_kind == CFI_CFA_STRANGE ||
	    (cfi->cfa_base != CFI_RBP && cfi->cfa_base != CFI_RSP))
		return PC_ROW_REGISTERS;
	if (cfi->cfa_kind != CFI_CFA_BASE || cfi->cfa_offset % 8 || cfi->cfa_offset < 8 ||
	    cfi->cfa_offset / 8 > PC_ROW_WORDS)
		return PC_ROW_ODD << 14;
	if (fp->kind == CFI_AT_CFA && fp->offset % 8 == 0 && fp->offset <= -16 &&
	    fp->offset >= -128)
		slot = (unsigned)(-fp->offset / 8 - 1);
	else if (fp->kind != CFI_SAME && fp->kind != CFI_UNDEFINED)
		return PC_ROW_ODD << 14;
	return (pc_row)(kind << 14 | slot << PC_ROW_SLOT_SHIFT | (unsigned)cfi->cfa_offset / 8);
}

/*
 * No entry in the module's table. The loader's and libc's few functions of that
 * kind start stacks (the loader's entry, the first frame of makecontext); elsewhere
 * it is assembly whose callers can't be told.
 */
static pc_row row_without_entry(const struct dl_find_object *object, pc_place place)
{
	struct dl_find_object other;
	uintptr_t pc = pc_place_pc(place);

	if (pc + 9 <= (uintptr_t)object->dlfo_map_end && unwind_is_sigreturn(pc))
		return PC_ROW_SIGNAL;
	if (find_module((uintptr_t)&_r_debug, &other) &&
	    other.dlfo_link_map == object->dlfo_link_map)
		return PC_ROW_END;
	if (find_module((uintptr_t)&gnu_get_libc_version, &other) &&
	    other.dlfo_link_map == object->dlfo_link_map)
		return PC_ROW_END;
	return PC_ROW_LOST;
}

/* The program's own headers, as the kernel told of them; read when first needed
 * (libc's getauxval may be one of the program's). @count is 0 when they can't be had. */
static const ElfW(Phdr) *program_headers(unsigned *count)
{
	static struct {
		const ElfW(Phdr) *first;
		unsigned count;
		bool is_read; /* stored last; whoever comes meanwhile reads the same */
	} headers;
	ElfW(auxv_t) words[64];
	long bytes;

	if (!__atomic_load_n(&headers.is_read, __ATOMIC_ACQUIRE)) {
		bytes = os_read_file("/proc/self/auxv", (char *)words, sizeof(words));
		for (long i = 0; (i + 1) * (long)sizeof(*words) <= bytes; i++) {
			if (words[i].a_type == AT_PHDR)
				headers.first = (const void *)words[i].a_un.a_val;
			if (words[i].a_type == AT_PHNUM)
				headers.count = (unsigned)words[i].a_un.a_val;
		}
		__atomic_store_n(&headers.is_read, true, __ATOMIC_RELEASE);
	}
	*count = headers.first ? headers.count : 0;
	return headers.first;
}

/*
 * A program with gaps between its segments (node is one): the loader tells of the
 * code's segment alone, the table lies in another. Where that one begins and ends
 * stand in the program's own headers; other modules' can't be reached safely.
 */
static void span_of_table(const struct dl_find_object *object, struct cfi_module *module)
{
	const ElfW(Phdr) *segment;
	unsigned count;

	if (object->dlfo_link_map->l_name[0])
		return;
	for (segment = program_headers(&count); count; count--, segment++) {
		uintptr_t start = object->dlfo_link_map->l_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD &&
		    module->eh_frame_hdr - start < segment->p_filesz) {
			module->start = start;
			module->end = start + segment->p_filesz;
		}
	}
}

static pc_row row_in_module(const struct dl_find_object *object, pc_place place,
			    struct cfi_row *cfi)
{
	struct cfi_module module = {
		.start = (uintptr_t)object->dlfo_map_start,
		.end = (uintptr_t)object->dlfo_map_end,
		.eh_frame_hdr = (uintptr_t)object->dlfo_eh_frame,
	};
	uintptr_t pc = pc_place_pc(place);

	if (module.eh_frame_hdr - module.start >= module.end - module.start)
		span_of_table(object, &module);
	if (!module.eh_frame_hdr || cfi_find(&module, pc - !(place & 1), cfi) != CFI_FOUND)
		return row_without_entry(object, place);
	if (cfi->is_signal_frame)
		return unwind_is_sigreturn(pc) ? PC_ROW_SIGNAL : PC_ROW_REGISTERS;
	return pack_row(cfi);
}

/* ---- the table -------------------------------------------------------------------------- */

/* Small programs need no mapping of ours. */
static struct {
	struct pc_map map;
	struct pc_bucket buckets[FIRST_BUCKETS];
} first_map = {
	.map = { .mask = FIRST_BUCKETS - 1 },
};

struct pc_map *pc_table_map = &first_map.map;

/* Under the lock. The key to write, NULL when no probed bucket has room. */
static uint64_t *free_key(struct pc_map *map, pc_place place, uint32_t **id)
{
	uint32_t at = pc_map_bucket(map, place);

	for (unsigned probed = 0; probed < PC_BUCKETS_PROBED; probed++) {
		struct pc_bucket *bucket = &pc_map_buckets(map)[(at + probed) & map->mask];

		for (unsigned i = 0; i < PC_BUCKET_KEYS; i++) {
			if (bucket->keys[i] <= KEY_FORGOTTEN) {
				*id = &bucket->ids[i];
				return &bucket->keys[i];
			}
		}
	}
	return NULL;
}

static bool map_insert(struct pc_map *map, pc_place place, const struct pc_found *found)
{
	uint32_t *id;
	uint64_t *key = free_key(map, place, &id);

	if (!key)
		return false;
	*id = found->id;
	__atomic_store_n(key, place << 16 | found->row, __ATOMIC_RELEASE);
	map->used++;
	return true;
}

static bool map_copy(struct pc_map *to, const struct pc_map *from)
{
	for (uint32_t b = 0; b <= from->mask; b++) {
		const struct pc_bucket *bucket = &pc_map_buckets(from)[b];

		for (unsigned i = 0; i < PC_BUCKET_KEYS; i++) {
			struct pc_found found = { bucket->ids[i], (pc_row)bucket->keys[i] };

			if (bucket->keys[i] > KEY_FORGOTTEN &&
			    !map_insert(to, bucket->keys[i] >> 16, &found))
				return false;
		}
	}
	return true;
}

static struct pc_map *map_new(uint32_t buckets)
{
	struct pc_map *map = os_map(sizeof(*map) + buckets * sizeof(struct pc_bucket));

	if (map)
		map->mask = buckets - 1;
	return map;
}

/*
 * Under the lock. The old map is left as it is: others may be reading it, and all
 * old ones together are as large as the new one. Its keys being dense matters more
 * than the room: a walk's misses of the processor's caches are lookups here.
 */
static bool map_grow(void)
{
	struct pc_map *old = pc_table_map, *new;

	for (uint32_t buckets = 2 * (old->mask + 1); buckets <= BUCKETS_MAX; buckets *= 2) {
		new = map_new(buckets);
		if (!new)
			return false;
		if (map_copy(new, old))
			return __atomic_compare_exchange_n(&pc_table_map, &old, new, false,
							   __ATOMIC_RELEASE, __ATOMIC_RELAXED);
		os_unmap(new, sizeof(*new) + buckets * sizeof(struct pc_bucket));
	}
	return false;
}

static bool is_full(const struct pc_map *map)
{
	return map->used > (map->mask + 1) * PC_BUCKET_KEYS / 4 * 3;
}

/* Under the lock: gives @found its id, where that is possible. */
static void insert(pc_place place, uint32_t flags, struct pc_found *found)
{
	uint32_t *id;

	if (is_full(pc_table_map) || !free_key(pc_table_map, place, &id)) {
		map_grow();
		if (!free_key(pc_table_map, place, &id))
			return;
	}
	found->id = new_id(pc_place_pc(place), flags | (place & 1 ? TRACE_PC_EXACT : 0));
	if (found->id != TRACE_FRAME_LITERAL)
		map_insert(pc_table_map, place, found);
}

static void resolve_in_module(const struct dl_find_object *object, pc_place place,
			      struct pc_found *found)
{
	struct cfi_row cfi;

	found->row = row_in_module(object, place, &cfi);
	if (place >> 48 || !lock_try()) {
		if (found->row == PC_ROW_ODD << 14)
			found->row = PC_ROW_REGISTERS; /* the general walk can do all */
		return;
	}
	if (found->row == PC_ROW_ODD << 14)
		found->row = pack_odd(&cfi);
	if (!pc_table_find(pc_table_map, place, found) &&
	    (is_lasting(object->dlfo_link_map) || remember_passing(object)))
		insert(place, 0, found);
	lock_release();
}

static void resolve_in_no_module(pc_place place, struct pc_found *found)
{
	found->id = TRACE_FRAME_LOST;
	found->row = PC_ROW_LOST;
	if (place >> 48 || !lock_within(GENERATED_TURNS))
		return;
	if (is_generated(pc_place_pc(place))) {
		found->id = TRACE_FRAME_LITERAL;
		found->row = PC_ROW_GENERATED;
		places_of_no_module++;
		if (!pc_table_find(pc_table_map, place, found))
			insert(place, TRACE_PC_NO_MODULE | TRACE_PC_FRAME_POINTER, found);
	}
	lock_release();
}

void pc_table_resolve(pc_place place, struct pc_found *found)
{
	struct dl_find_object object;

	found->id = TRACE_FRAME_LITERAL;
	if (find_module(pc_place_pc(place) - !(place & 1), &object))
		resolve_in_module(&object, place, found);
	else
		resolve_in_no_module(place, found);
}

/* ---- forgetting ----------------------------------------------------------------------------- */

/* Under the lock: takes out the places in [start, end). */
static void forget_range(uintptr_t start, uintptr_t end)
{
	struct pc_map *map = pc_table_map;

	for (uint32_t b = 0; b <= map->mask; b++) {
		struct pc_bucket *bucket = &pc_map_buckets(map)[b];

		for (unsigned i = 0; i < PC_BUCKET_KEYS; i++) {
			uintptr_t pc = (uintptr_t)(bucket->keys[i] >> 17);
			uint32_t index = bucket->ids[i] - TRACE_PC_FIRST;

			if (bucket->keys[i] <= KEY_FORGOTTEN || pc - start >= end - start)
				continue;
			__atomic_store_n(&bucket->keys[i], KEY_FORGOTTEN, __ATOMIC_RELEASE);
			map->used--;
			if (index < __atomic_load_n(&pc_fresh.taken, __ATOMIC_RELAXED))
				*id_word(index) = 0; /* a later trace must not hear of it */
		}
	}
}

static bool forget_gone_modules(void)
{
	bool any = places_of_no_module != 0;

	for (unsigned i = 0; i < generated_count && any; i++)
		forget_range(generated[i].start, generated[i].end);
	places_of_no_module = 0;
	generated_count = 0;
	looked_at = 0;
	for (unsigned i = 0; i < passing_count;) {
		struct passing *module = &passing[i];
		struct dl_find_object object;

		if (find_module(module->start, &object) &&
		    object.dlfo_link_map == module->link_map &&
		    (uintptr_t)object.dlfo_map_end == module->end) {
			i++;
			continue;
		}
		forget_range(module->start, module->end);
		*module = passing[--passing_count];
		any = true;
	}
	return any;
}

#define FORGET_TURNS 1000000

void pc_table_modules_changed(void)
{
	static struct {
		struct pc_map map;
		struct pc_bucket bucket;
	} nothing = { .map = { .used = PC_BUCKET_KEYS } };
	bool any = true;

	if (passing_count == 0 && places_of_no_module == 0)
		return;
	if (lock_within(FORGET_TURNS)) {
		any = forget_gone_modules();
		lock_release();
	} else {
		/* This thread holds the lock further up: start all over. Should there be
		 * no memory, each place is found out whenever it is met from now on. */
		struct pc_map *map = map_new(FIRST_BUCKETS);

		__atomic_store_n(&pc_table_map, map ? map : &nothing.map, __ATOMIC_RELEASE);
	}
	if (any && __atomic_add_fetch(&pc_table_generation, 1, __ATOMIC_RELEASE) == 0)
		__atomic_add_fetch(&pc_table_generation, 1, __ATOMIC_RELEASE);
}

/* ---- process ------------------------------------------------------ */

void pc_table_start(void)
{
	for (struct link_map *map = _r_debug.r_map; map && lasting_count < LASTING_MAX;
	     map = map->l_next)
		lasting[lasting_count++] = map;
}

void pc_table_forked(void)
{
	table_lock = 0;
	pc_fresh.taken = 0;
}
