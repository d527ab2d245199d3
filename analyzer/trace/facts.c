/*
 * One pass over all pieces that reads everything but the events: what the
 * process is, its modules, program counters, threads, scopes, marks, readings
 * and losses. Events are stepped over by their length and counted.
 *
 * Lanes are read one after the other, so facts come in no order of time; they
 * are sorted at the end, when the clock is known, too.
 */
#include "trace/reader.h"

#include "trace/digest.h"
#include "trace/record_step.h"
#include "util/cursor.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Ids below this are looked up in an array, others in a map. */
#define LOW_IDS (1u << 20)

struct scan {
	struct reader *reader;
	uint32_t piece;
	uint64_t clock;        /* units, at the present record */
	uint32_t thread;       /* HASH_MAP_NONE: outside */
	const uint8_t *begin;
	uint32_t record_end;   /* where the present record ends in its piece */
	uint64_t allocations, frees; /* by the present thread */
	uint64_t events;
	struct digest_counts counts; /* since the last record that was kept */
	bool is_outside;
};

/* ---- tables that the decoder asks, too ---- */

static uint32_t add_pc(struct reader *reader, uint64_t address, uint32_t flags, int32_t module)
{
	struct trace *trace = &reader->trace;

	MEMORY_ROOM(trace->pcs, trace->pc_count);
	trace->pcs[trace->pc_count] =
		(struct trace_pc){.address = address, .flags = flags, .module = module};
	return (uint32_t)trace->pc_count++;
}

static uint32_t find_pc(const struct reader *reader, uint64_t id)
{
	return id < reader->pc_low_ids ? reader->pc_of_low_id[id] :
					 hash_map_get(&reader->pc_of_id, id);
}

static void set_pc(struct reader *reader, uint64_t id, uint32_t pc)
{
	uint32_t room = reader->pc_low_ids ? reader->pc_low_ids : 4096;

	if (id >= LOW_IDS) {
		hash_map_set(&reader->pc_of_id, id, pc);
		return;
	}
	while (room <= id)
		room *= 2;
	if (room > reader->pc_low_ids) {
		reader->pc_of_low_id =
			memory_resize(reader->pc_of_low_id, room, sizeof(*reader->pc_of_low_id));
		memset(reader->pc_of_low_id + reader->pc_low_ids, 0xff,
		       (room - reader->pc_low_ids) * sizeof(*reader->pc_of_low_id));
		reader->pc_low_ids = room;
	}
	reader->pc_of_low_id[id] = pc;
}

uint32_t reader_pc(struct reader *reader, uint64_t id)
{
	uint32_t pc = find_pc(reader, id);

	if (pc == HASH_MAP_NONE) {
		pc = add_pc(reader, 0, TRACE_PC_UNDEFINED, -1);
		set_pc(reader, id, pc);
	}
	return pc;
}

uint32_t reader_literal_pc(struct reader *reader, uint64_t address, uint64_t time)
{
	uint32_t pc = hash_map_get(&reader->pc_of_literal, address);

	if (pc == HASH_MAP_NONE) {
		pc = add_pc(reader, address, 0,
			    reader_module_at(reader, address, clock_ns(&reader->clock, time)));
		hash_map_set(&reader->pc_of_literal, address, pc);
	}
	return pc;
}

void reader_add_literal(struct reader *reader, const struct trace_pc *pc)
{
	hash_map_set(&reader->pc_of_literal, pc->address,
		     add_pc(reader, pc->address, pc->flags, pc->module));
}

uint16_t reader_scope(struct reader *reader, const uint8_t *name, size_t bytes)
{
	struct trace *trace = &reader->trace;
	uint64_t key = XXH3_64bits(name, bytes);
	uint32_t number;

	for (; (number = hash_map_get(&reader->scope_of_hash, key)) != HASH_MAP_NONE; key++)
		if (strlen(trace->scopes[number]) == bytes &&
		    !memcmp(trace->scopes[number], name, bytes))
			return (uint16_t)number;
	/* The last number stands for all scopes that there is no number for; a name
	 * with a zero byte inside would never be found again. */
	if (trace->scope_count == UINT16_MAX || memchr(name, 0, bytes))
		return 0;
	number = (uint32_t)trace->scope_count;
	MEMORY_ROOM(trace->scopes, trace->scope_count);
	trace->scopes[trace->scope_count++] = string_arena_copy(&reader->strings, name, bytes);
	hash_map_set(&reader->scope_of_hash, key, number);
	return (uint16_t)number;
}

uint32_t reader_next_thread(const struct reader *reader, uint32_t thread, uint32_t piece,
			    uint32_t record_end)
{
	uint32_t next;

	if (thread >= reader->trace.thread_count) /* a piece that is no lane's */
		return thread;
	next = reader->links[thread].next;
	if (next != HASH_MAP_NONE && reader->links[next].piece == piece &&
	    reader->links[next].record_end == record_end)
		return next;
	return thread;
}

/* Modules that begin at or below @address. */
static size_t modules_below(const struct reader *reader, uint64_t address)
{
	const struct trace *trace = &reader->trace;
	size_t low = 0, high = trace->module_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace->modules[reader->module_order[middle]].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Looks from the nearest beginning downwards. A program has few modules at one
 * place at a time; a trace that says otherwise is not looked through for ever. */
int32_t reader_module_at(const struct reader *reader, uint64_t address, uint64_t time_ns)
{
	const struct trace *trace = &reader->trace;
	size_t at = modules_below(reader, address), steps = 0;
	int32_t best = -1;

	for (; at-- > 0 && reader->module_reach[at] > address && steps < 4096; steps++) {
		int32_t number = (int32_t)reader->module_order[at];
		const struct trace_module *module = &trace->modules[number];

		if (address >= module->end)
			continue;
		if (module->first_ns <= time_ns && time_ns <= module->gone_ns)
			return number;
		if (best < 0)
			best = number;
	}
	return best;
}

/* ---- one function for each kind of record ---- */

static const char *copy_string(struct reader *reader, const void *from, size_t bytes)
{
	return string_arena_copy(&reader->strings, from, bytes);
}

static uint64_t number_of(const char *text)
{
	return strtoull(text, NULL, 10);
}

/* NUL between the arguments; the one behind the last may be there or not. */
static char **split_command(const char *text, size_t bytes)
{
	size_t count = 0;
	char **words = NULL;

	for (const char *end = text + bytes; text < end; text += strlen(text) + 1) {
		MEMORY_ROOM(words, count);
		words[count++] = (char *)text;
	}
	MEMORY_ROOM(words, count);
	words[count] = NULL;
	return words;
}

struct meta_text {
	const char *key;
	size_t at; /* of the field in struct trace_info */
};

static const struct meta_text meta_texts[] = {
	{"exe", offsetof(struct trace_info, exe)},
	{"host", offsetof(struct trace_info, host)},
	{"version", offsetof(struct trace_info, version)},
	{"allocator", offsetof(struct trace_info, allocator)},
	{"own_malloc", offsetof(struct trace_info, own_malloc)},
	{"parent_trace", offsetof(struct trace_info, parent_trace)},
	{"settings", offsetof(struct trace_info, settings)},
	{"companion", offsetof(struct trace_info, companion)},
	{NULL, 0},
};

static void take_meta(struct scan *scan, struct cursor *payload)
{
	struct reader *reader = scan->reader;
	struct trace_info *info = &reader->trace.info;
	size_t key_bytes, bytes;
	const uint8_t *key_at = cursor_string(payload, &key_bytes);
	const char *key, *value;

	if (payload->is_broken)
		return;
	bytes = cursor_left(payload);
	key = copy_string(reader, key_at, key_bytes);
	value = copy_string(reader, payload->at, bytes);
	for (const struct meta_text *text = meta_texts; text->key; text++)
		if (!strcmp(text->key, key))
			*(const char **)((char *)info + text->at) = value;
	struct {
		const char *key;
		uint64_t *to;
	} numbers[] = {
		{"pid", &info->pid},
		{"ppid", &info->ppid},
		{"rate", &info->rate_bytes},
		{"depth", &info->depth},
		{"start_unix_ns", &info->start_unix_ns},
		{"start_ticks", &reader->start_ticks},
		{"start_mono_ns", &reader->start_mono_ns},
		{"ticks_per_second", &reader->ticks_per_second},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(numbers[i].key, key))
			*numbers[i].to = number_of(value);
	if (!strcmp(key, "start_ticks"))
		reader->has_start = true;
	if (!strcmp(key, "forked"))
		info->forked = !strcmp(value, "1");
	if (!strcmp(key, "command")) {
		free(info->command);
		info->command = split_command(value, bytes);
	}
}

static void take_module(struct scan *scan, struct cursor *payload)
{
	struct trace *trace = &scan->reader->trace;
	struct trace_module module = {.first_ns = scan->clock, .gone_ns = UINT64_MAX};
	const uint8_t *build_id, *path;
	size_t id_bytes, path_bytes;

	module.start = cursor_varint(payload);
	module.end = cursor_varint(payload);
	module.bias = cursor_varint(payload);
	module.file_bytes = cursor_varint(payload);
	module.mtime_ns = cursor_varint(payload);
	module.device = cursor_varint(payload);
	module.inode = cursor_varint(payload);
	build_id = cursor_string(payload, &id_bytes);
	path = cursor_string(payload, &path_bytes);
	if (payload->is_broken)
		return;
	if (id_bytes > sizeof(module.build_id))
		id_bytes = sizeof(module.build_id);
	memcpy(module.build_id, build_id, id_bytes);
	module.build_id_bytes = (unsigned)id_bytes;
	module.path = copy_string(scan->reader, path, path_bytes);
	MEMORY_ROOM(trace->modules, trace->module_count);
	trace->modules[trace->module_count++] = module;
}

static void take_module_names(struct scan *scan, struct cursor *payload)
{
	struct trace *trace = &scan->reader->trace;
	struct trace_names names = {.module_start = cursor_varint(payload)};
	size_t id_bytes;

	names.time_ns = scan->clock;
	names.build_id = cursor_string(payload, &id_bytes);
	names.build_id_bytes = (unsigned)id_bytes;
	names.part = (uint32_t)cursor_varint(payload);
	names.parts = (uint32_t)cursor_varint(payload);
	names.form = (uint32_t)cursor_varint(payload);
	if (payload->is_broken)
		return;
	names.byte_count = cursor_left(payload);
	names.build_id = (uint8_t *)string_arena_copy(&scan->reader->strings, names.build_id,
						      id_bytes);
	names.bytes = (uint8_t *)string_arena_copy(&scan->reader->strings, payload->at,
						   names.byte_count);
	MEMORY_ROOM(trace->names, trace->names_count);
	trace->names[trace->names_count++] = names;
}

static void take_module_gone(struct scan *scan, struct cursor *payload)
{
	struct reader *reader = scan->reader;
	struct module_gone gone = {.start = cursor_varint(payload), .time = scan->clock};

	MEMORY_ROOM(reader->gone, reader->gone_count);
	reader->gone[reader->gone_count++] = gone;
}

static void take_pc(struct scan *scan, struct cursor *payload)
{
	struct reader *reader = scan->reader;
	uint64_t id = cursor_varint(payload), address = cursor_varint(payload);
	uint32_t flags = (uint32_t)cursor_varint(payload) & ~TRACE_PC_UNDEFINED;

	if (payload->is_broken || id < TRACE_PC_FIRST || find_pc(reader, id) != HASH_MAP_NONE)
		return;
	MEMORY_ROOM(reader->pc_times, reader->trace.pc_count);
	reader->pc_times[reader->trace.pc_count] = scan->clock;
	set_pc(reader, id, add_pc(reader, address, flags, -1));
}

static uint32_t add_thread(struct scan *scan, uint32_t tid)
{
	struct trace *trace = &scan->reader->trace;
	size_t count = trace->thread_count;

	MEMORY_ROOM(scan->reader->links, count);
	MEMORY_ROOM(trace->threads, trace->thread_count);
	scan->reader->links[count] = (struct thread_link){.next = HASH_MAP_NONE};
	trace->threads[count] = (struct trace_thread){
		.tid = tid, .name = "", .first_ns = scan->clock, .last_ns = scan->clock};
	trace->thread_count++;
	if (hash_map_get(&scan->reader->thread_of_tid, tid) == HASH_MAP_NONE)
		hash_map_set(&scan->reader->thread_of_tid, tid, (uint32_t)count);
	return (uint32_t)count;
}

/* What has been counted so far belongs to the thread that the lane had. */
static void close_thread(struct scan *scan)
{
	struct trace_thread *thread;

	if (scan->thread == HASH_MAP_NONE)
		return;
	thread = &scan->reader->trace.threads[scan->thread];
	thread->allocations += scan->allocations;
	thread->frees += scan->frees;
	if (thread->last_ns < scan->clock)
		thread->last_ns = scan->clock;
	scan->allocations = scan->frees = 0;
}

static void switch_thread(struct scan *scan, uint32_t tid)
{
	uint32_t thread;

	close_thread(scan);
	thread = add_thread(scan, tid);
	if (scan->thread != HASH_MAP_NONE)
		scan->reader->links[scan->thread].next = thread;
	scan->thread = thread;
}

static void take_thread_begin(struct scan *scan, struct cursor *payload)
{
	struct reader *reader = scan->reader;
	uint32_t tid = (uint32_t)cursor_varint(payload);
	struct thread_link *link;

	if (payload->is_broken || scan->thread == HASH_MAP_NONE)
		return;
	link = &reader->links[scan->thread];
	/* The first thread of a lane may say so as well. */
	if (reader->trace.threads[scan->thread].tid != tid || link->record_end || link->piece) {
		switch_thread(scan, tid);
		link = &reader->links[scan->thread];
	}
	link->piece = scan->piece;
	link->record_end = scan->record_end;
}

static void take_thread_name(struct scan *scan, struct cursor *payload)
{
	size_t bytes;
	const uint8_t *name = cursor_string(payload, &bytes);

	if (!payload->is_broken && scan->thread != HASH_MAP_NONE)
		scan->reader->trace.threads[scan->thread].name =
			copy_string(scan->reader, name, bytes);
}

static void take_mark(struct scan *scan, struct cursor *payload)
{
	struct trace *trace = &scan->reader->trace;
	struct trace_marker mark = {.time_ns = scan->clock, .from_outside = scan->is_outside};
	size_t name_bytes, detail_bytes;
	const uint8_t *name, *detail;

	mark.kind = (uint32_t)cursor_varint(payload);
	name = cursor_string(payload, &name_bytes);
	detail = cursor_string(payload, &detail_bytes);
	mark.real_ns = cursor_varint(payload);
	mark.value = cursor_varint(payload);
	if (payload->is_broken)
		return;
	mark.name = copy_string(scan->reader, name, name_bytes);
	mark.detail = copy_string(scan->reader, detail, detail_bytes);
	MEMORY_ROOM(trace->marks, trace->mark_count);
	trace->marks[trace->mark_count++] = mark;
}

static void take_reading(struct scan *scan, struct cursor *payload)
{
	struct trace *trace = &scan->reader->trace;
	struct trace_reading reading = {.time_ns = scan->clock};

	reading.resident = cursor_varint(payload);
	reading.shared = cursor_varint(payload);
	reading.virtual_bytes = cursor_varint(payload);
	reading.mapped = cursor_varint(payload);
	if (payload->is_broken)
		return;
	MEMORY_ROOM(trace->readings, trace->reading_count);
	trace->readings[trace->reading_count++] = reading;
}

static void take_smaps(struct scan *scan, struct cursor *payload)
{
	struct trace *trace = &scan->reader->trace;
	struct trace_smaps smaps = {.real_ns = cursor_varint(payload)};

	smaps.part = (uint32_t)cursor_varint(payload);
	smaps.parts = (uint32_t)cursor_varint(payload);
	smaps.size = cursor_left(payload);
	smaps.bytes = cursor_bytes(payload, smaps.size);
	if (payload->is_broken)
		return;
	smaps.bytes = (const uint8_t *)copy_string(scan->reader, smaps.bytes, smaps.size);
	MEMORY_ROOM(trace->smaps, trace->smaps_count);
	trace->smaps[trace->smaps_count++] = smaps;
}

static void take_rate(struct scan *scan, struct cursor *payload)
{
	if (cursor_varint(payload) != 1)
		scan->reader->was_sampled = true;
}

static void take_lost(struct scan *scan, struct cursor *payload)
{
	struct trace *trace = &scan->reader->trace;
	uint32_t cause = (uint32_t)cursor_varint(payload);
	uint64_t events = cursor_varint(payload);

	for (size_t i = 0; i < trace->loss_count; i++)
		if (trace->losses[i].cause == cause) {
			trace->losses[i].events += events;
			return;
		}
	if (payload->is_broken || trace->loss_count >= 256)
		return;
	MEMORY_ROOM(trace->losses, trace->loss_count);
	trace->losses[trace->loss_count++] = (struct trace_loss_count){cause, events};
}

static void count_map(struct scan *scan, struct cursor *payload)
{
	(void)payload;
	scan->events++;
	scan->counts.maps++;
}

static void take_scope(struct scan *scan, struct cursor *payload)
{
	size_t bytes;
	const uint8_t *name = cursor_string(payload, &bytes);

	if (!payload->is_broken)
		reader_scope(scan->reader, name, bytes);
}

static void take_end(struct scan *scan, struct cursor *payload)
{
	uint8_t how = cursor_u8(payload);

	if (how == TRACE_END_EXIT || how == TRACE_END_EXEC)
		scan->reader->has_end = true;
	scan->reader->trace.info.end = how;
}

static void take_clock(struct scan *scan, struct cursor *payload)
{
	struct clock_pair pair = {.ticks = cursor_varint(payload)};

	pair.mono_ns = cursor_varint(payload);
	if (!payload->is_broken && !scan->is_outside && pair.ticks > scan->reader->latest.ticks)
		scan->reader->latest = pair;
}

typedef void (*take_record)(struct scan *scan, struct cursor *payload);

static const take_record takers[] = {
	[TRACE_KIND_META] = take_meta,
	[TRACE_KIND_MODULE] = take_module,
	[TRACE_KIND_MODULE_GONE] = take_module_gone,
	[TRACE_KIND_PC] = take_pc,
	[TRACE_KIND_THREAD_BEGIN] = take_thread_begin,
	[TRACE_KIND_THREAD_NAME] = take_thread_name,
	[TRACE_KIND_MARK] = take_mark,
	[TRACE_KIND_READING] = take_reading,
	[TRACE_KIND_RATE] = take_rate,
	[TRACE_KIND_LOST] = take_lost,
	[TRACE_KIND_MAP] = count_map,
	[TRACE_KIND_SCOPE_BEGIN] = take_scope,
	[TRACE_KIND_END] = take_end,
	[TRACE_KIND_CLOCK] = take_clock,
	[TRACE_KIND_MODULE_NAMES] = take_module_names,
	[TRACE_KIND_SMAPS] = take_smaps,
};

#define TAKERS (sizeof(takers) / sizeof(takers[0]))

/* ---- pieces ---- */

static void take_extended(struct scan *scan, uint64_t kind, const uint8_t *from, uint64_t length)
{
	struct cursor payload = {.at = from, .end = from + length};

	if (kind < TAKERS && takers[kind])
		takers[kind](scan, &payload);
}

/* Keeps what a later reading of the trace has to be told again. */
static void keep_record(struct scan *scan, uint64_t kind, const uint8_t *from, uint64_t length)
{
	if (kind >= TAKERS || !takers[kind] || kind == TRACE_KIND_MAP)
		return;
	digest_add(&scan->reader->digest, &(struct digest_entry){
		.clock = scan->clock, .counts = scan->counts, .record_end = scan->record_end,
		.kind = (uint32_t)kind, .bytes = length}, from);
	scan->counts = (struct digest_counts){0};
}

static const uint8_t *read_extended(struct scan *scan, const uint8_t *at, const uint8_t *end)
{
	struct cursor cursor = {.at = at, .end = end};
	uint64_t kind = cursor_varint(&cursor), length = cursor_varint(&cursor);
	const uint8_t *from = cursor_bytes(&cursor, length);

	if (!from)
		return NULL;
	scan->record_end = (uint32_t)(cursor.at - scan->begin);
	keep_record(scan, kind, from, length);
	take_extended(scan, kind, from, length);
	return cursor.at;
}

static void count_events(struct scan *scan, const struct digest_counts *counts)
{
	scan->allocations += counts->allocations + counts->reallocations;
	scan->frees += counts->frees + counts->reallocations;
	scan->events += counts->allocations + counts->reallocations + counts->frees;
}

/* Counted by operation, so that counting needs no branch. */
static void add_counts(struct scan *scan, uint64_t counts[4])
{
	struct digest_counts now = {.allocations = counts[TRACE_OP_ALLOCATE],
				    .frees = counts[TRACE_OP_FREE],
				    .reallocations = counts[TRACE_OP_REALLOCATE]};

	count_events(scan, &now);
	scan->counts.allocations += now.allocations;
	scan->counts.frees += now.frees;
	scan->counts.reallocations += now.reallocations;
	for (unsigned op = TRACE_OP_ALLOCATE; op <= TRACE_OP_REALLOCATE; op++)
		counts[op] = 0;
}

/* Ends early where the piece is damaged. Returns where. */
static const uint8_t *scan_records(struct scan *scan, const struct piece_bytes *bytes)
{
	const uint8_t *at = bytes->records, *end = bytes->end, *record = at;
	uint64_t clock = scan->clock, counts[4] = {0}, ahead;

	scan->begin = at;
	while (at < end) {
		uint8_t tag = *at;

		record = at++;
		if (tag & TRACE_TAG_TIME) {
			at = varint_load(at, end, &ahead);
			if (!at)
				break;
			clock += ahead;
		}
		if (tag & TRACE_OP_MASK) {
			at = step_event(at, end, tag);
		} else {
			scan->clock = clock;
			add_counts(scan, counts);
			at = read_extended(scan, at, end);
		}
		if (!at || at > end)
			break;
		counts[tag & TRACE_OP_MASK]++;
	}
	scan->clock = clock;
	add_counts(scan, counts);
	return at == end ? end : record;
}

static void enter_thread(struct scan *scan, struct piece *piece)
{
	uint32_t known = scan->thread;

	/* Lane 0 is nobody's own: who writes there has a lane elsewhere, if any. */
	if (!piece->lane)
		known = hash_map_get(&scan->reader->thread_of_tid, piece->tid);
	else if (known != HASH_MAP_NONE && scan->reader->trace.threads[known].tid != piece->tid)
		known = HASH_MAP_NONE;
	if (known == HASH_MAP_NONE)
		switch_thread(scan, piece->tid);
	else
		scan->thread = known;
	piece->thread = scan->thread;
}

/* Takes from the digest what the piece has. */
static void retell_piece(struct scan *scan)
{
	struct digest_entry entry;
	const uint8_t *bytes;

	while (digest_next(&scan->reader->digest, &entry, &bytes)) {
		scan->clock = entry.clock;
		scan->record_end = entry.record_end;
		count_events(scan, &entry.counts);
		scan->events += entry.counts.maps;
		if (!entry.kind)
			break;
		take_extended(scan, entry.kind, bytes, entry.bytes);
	}
}

static void end_digest_piece(struct scan *scan)
{
	digest_add(&scan->reader->digest,
		   &(struct digest_entry){.clock = scan->clock, .counts = scan->counts}, NULL);
	scan->counts = (struct digest_counts){0};
}

static void scan_piece(struct scan *scan, struct piece *piece, struct piece_bytes *bytes)
{
	struct reader *reader = scan->reader;
	const uint8_t *stop;

	scan->piece = (uint32_t)(piece - reader->pieces.items);
	scan->clock = piece->ticks >> TRACE_TIME_SHIFT;
	scan->is_outside = piece->kind == TRACE_PIECE_OUTSIDE;
	if (reader->digest.is_told) {
		if (piece->kind == TRACE_PIECE_EVENTS)
			enter_thread(scan, piece);
		retell_piece(scan);
		close_thread(scan);
		return;
	}
	pieces_fetch(&reader->pieces, piece, bytes, true);
	if (piece->kind == TRACE_PIECE_EVENTS)
		enter_thread(scan, piece);
	stop = scan_records(scan, bytes);
	close_thread(scan);
	end_digest_piece(scan);
	piece->is_cut = stop < bytes->end;
	if (piece->is_cut)
		reader_fault(reader,
			     piece_record_offset(piece, (uint64_t)(stop - bytes->records)),
			     piece->in_companion, "the piece ends within a record");
}

static void scan_lane(struct reader *reader, size_t row, struct piece_bytes *bytes)
{
	const struct piece_row *lane = &reader->pieces.lanes[row];
	struct scan scan = {.reader = reader, .thread = HASH_MAP_NONE};

	for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
		struct piece *piece = &reader->pieces.items[i];

		if (piece->sequence != i - lane->first + reader->pieces.items[lane->first].sequence)
			reader->is_missing_pieces = true;
		scan_piece(&scan, piece, bytes);
	}
	reader->lane_events[row] = scan.events;
	reader->trace.info.events += scan.events;
}

static void scan_rows(struct reader *reader, uint32_t first, uint32_t end,
		      struct piece_bytes *bytes)
{
	struct scan scan = {.reader = reader, .thread = HASH_MAP_NONE};

	for (uint32_t i = first; i < end; i++)
		scan_piece(&scan, &reader->pieces.items[i], bytes);
}

void facts_scan_headers(struct reader *reader)
{
	struct piece_bytes bytes = {0};

	scan_rows(reader, 0, reader->pieces.header_count, &bytes);
	piece_bytes_release(&bytes);
}

void facts_scan(struct reader *reader)
{
	struct piece_bytes bytes = {0};

	reader->lane_events = memory_zeroed(reader->pieces.lane_count, sizeof(uint64_t));
	for (size_t row = 0; row < reader->pieces.lane_count; row++)
		if (reader->pieces.lanes[row].lane)
			scan_lane(reader, row, &bytes);
	if (reader->pieces.lane_count && !reader->pieces.lanes[0].lane)
		scan_lane(reader, 0, &bytes);
	scan_rows(reader, reader->pieces.outside_first, (uint32_t)reader->pieces.count, &bytes);
	piece_bytes_release(&bytes);
}
