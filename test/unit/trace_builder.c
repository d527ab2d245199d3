/*
 * See trace_builder.h. Written for plainness: every state of the encoder is
 * kept as the format describes it.
 */
#include "trace_builder.h"

#include "memprof/control.h"
#include "memprof/varint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define FRAMES_MAX 600

struct stack {
	uint64_t frames[FRAMES_MAX]; /* outermost first */
	size_t count;
};

struct cache_slot {
	struct stack *stack;
	uint64_t size;
};

struct lane {
	uint32_t lane, tid;
	uint32_t piece_tid;                /* whose it was when the piece began */
	uint16_t kind;
	uint32_t sequence;
	uint8_t *records;
	size_t count;
	uint64_t begun;                    /* ticks at the piece's beginning */
	uint64_t clock;                    /* units */
	uint64_t lost;

	uint64_t last_address;
	uint64_t addresses[TRACE_ADDRESS_SLOTS];
	struct stack walked;
	struct cache_slot cache[TRACE_CACHE_SLOTS];
	unsigned last_slot;
};

struct trace_builder {
	struct lane **lanes;
	size_t lane_count;
	struct lane *lane;                 /* the present one */
	uint64_t ticks;
	struct stack stack;
	int no_stack;                      /* -1: there is one */
	bool is_literal;
	uint64_t *pcs;                     /* by id - TRACE_PC_FIRST */
	size_t pc_count;
	uint8_t *file;
	size_t file_bytes;
};

static void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* ---- lanes ---- */

static void forget_state(struct lane *lane)
{
	lane->last_address = 0;
	memset(lane->addresses, 0, sizeof(lane->addresses));
	lane->walked.count = 0;
	for (unsigned i = 0; i < TRACE_CACHE_SLOTS; i++)
		free(lane->cache[i].stack);
	memset(lane->cache, 0, sizeof(lane->cache));
	lane->last_slot = 0;
}

static void begin_piece(struct trace_builder *b, struct lane *lane)
{
	forget_state(lane);
	lane->count = 0;
	lane->piece_tid = lane->tid;
	lane->begun = b->ticks;
	lane->clock = b->ticks >> TRACE_TIME_SHIFT;
}

static struct lane *choose(struct trace_builder *b, uint16_t kind, uint32_t number, uint32_t tid)
{
	struct lane *lane;

	for (size_t i = 0; i < b->lane_count; i++)
		if (b->lanes[i]->lane == number && b->lanes[i]->kind == kind)
			return b->lanes[i];
	lane = checked(calloc(1, sizeof(*lane)));
	lane->kind = kind;
	lane->lane = number;
	lane->tid = tid;
	lane->records = checked(malloc(1 << 20));
	begin_piece(b, lane);
	b->lanes = checked(realloc(b->lanes, (b->lane_count + 1) * sizeof(*b->lanes)));
	b->lanes[b->lane_count++] = lane;
	return lane;
}

void trace_builder_lane(struct trace_builder *b, uint32_t lane, uint32_t tid)
{
	b->lane = choose(b, TRACE_PIECE_EVENTS, lane, tid);
}

void trace_builder_outside(struct trace_builder *b, uint32_t pid)
{
	b->lane = choose(b, TRACE_PIECE_OUTSIDE, pid, pid);
}

void trace_builder_at(struct trace_builder *b, uint64_t ns)
{
	b->ticks = TRACE_BUILDER_START + ns;
}

void trace_builder_stack(struct trace_builder *b, const uint64_t *frames, size_t count)
{
	if (count > FRAMES_MAX)
		abort();
	for (size_t i = 0; i < count; i++)
		b->stack.frames[i] = frames[count - 1 - i];
	b->stack.count = count;
	b->no_stack = -1;
}

void trace_builder_no_stack(struct trace_builder *b, enum trace_no_stack why)
{
	b->no_stack = (int)why;
}

void trace_builder_literal(struct trace_builder *b, bool is_literal)
{
	b->is_literal = is_literal;
}

/* ---- bytes ---- */

static void put(struct lane *lane, const void *bytes, size_t count)
{
	if (lane->count + count > TRACE_RECORDS_MAX)
		abort();
	memcpy(lane->records + lane->count, bytes, count);
	lane->count += count;
}

static void put_u8(struct lane *lane, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	put(lane, &byte, 1);
}

static size_t store(uint8_t *at, uint64_t value)
{
	return (size_t)(varint_store(at, value) - at);
}

static void put_varint(struct lane *lane, uint64_t value)
{
	uint8_t bytes[16];

	put(lane, bytes, store(bytes, value));
}

/* Flushes the lane when what a record may need isn't left. */
static void make_room(struct trace_builder *b, size_t bytes)
{
	if (b->lane->count + bytes > TRACE_RECORDS_MAX)
		trace_builder_flush(b);
}

/* How far the clock goes ahead; the lane's clock goes with it. */
static uint64_t ahead(struct trace_builder *b)
{
	uint64_t now = b->ticks >> TRACE_TIME_SHIFT;
	uint64_t by = now > b->lane->clock ? now - b->lane->clock : 0;

	b->lane->clock += by;
	return by;
}

void trace_builder_raw(struct trace_builder *b, const void *bytes, size_t count)
{
	put(b->lane, bytes, count);
}

void trace_builder_record(struct trace_builder *b, uint64_t kind, const void *payload,
			  size_t bytes)
{
	uint64_t by;

	make_room(b, bytes + 32);
	by = ahead(b);
	put_u8(b->lane, TRACE_OP_EXTENDED | (by ? TRACE_TAG_TIME : 0));
	if (by)
		put_varint(b->lane, by);
	put_varint(b->lane, kind);
	put_varint(b->lane, bytes);
	put(b->lane, payload, bytes);
}

/* A payload made of numbers and strings. */
struct payload {
	uint8_t bytes[60000];
	size_t count;
};

static void add(struct payload *payload, uint64_t value)
{
	payload->count += store(payload->bytes + payload->count, value);
}

static void add_bytes(struct payload *payload, const void *bytes, size_t count)
{
	memcpy(payload->bytes + payload->count, bytes, count);
	payload->count += count;
}

static void add_string(struct payload *payload, const char *text)
{
	add(payload, strlen(text));
	add_bytes(payload, text, strlen(text));
}

static void record(struct trace_builder *b, uint64_t kind, const struct payload *payload)
{
	trace_builder_record(b, kind, payload->bytes, payload->count);
}

/* ---- stacks ---- */

static size_t pc_id(struct trace_builder *b, uint64_t address)
{
	struct payload payload = {.count = 0};

	for (size_t i = 0; i < b->pc_count; i++)
		if (b->pcs[i] == address)
			return i + TRACE_PC_FIRST;
	b->pcs = checked(realloc(b->pcs, (b->pc_count + 1) * sizeof(*b->pcs)));
	b->pcs[b->pc_count] = address;
	add(&payload, b->pc_count + TRACE_PC_FIRST);
	add(&payload, address);
	add(&payload, 0);
	record(b, TRACE_KIND_PC, &payload);
	return TRACE_PC_FIRST + b->pc_count++;
}

/* Program counters are told before the record that needs them. */
static void tell_pcs(struct trace_builder *b)
{
	make_room(b, b->stack.count * 40 + 256);
	for (size_t i = 0; i < b->stack.count && !b->is_literal && b->no_stack < 0; i++)
		if (b->stack.frames[i] >= TRACE_PC_FIRST)
			pc_id(b, b->stack.frames[i]);
}

static bool is_same_stack(const struct stack *a, const struct stack *b)
{
	return a && a->count == b->count &&
	       !memcmp(a->frames, b->frames, a->count * sizeof(a->frames[0]));
}

static unsigned slot_for(const struct stack *stack)
{
	return (unsigned)XXH3_64bits(stack->frames, stack->count * 8) & (TRACE_CACHE_SLOTS - 1);
}

static enum trace_stack_mode stack_mode(const struct trace_builder *b)
{
	const struct lane *lane = b->lane;

	if (b->no_stack >= 0)
		return TRACE_STACK_NONE;
	if (is_same_stack(lane->cache[lane->last_slot].stack, &b->stack))
		return TRACE_STACK_SAME;
	if (is_same_stack(lane->cache[slot_for(&b->stack)].stack, &b->stack))
		return TRACE_STACK_CACHED;
	return TRACE_STACK_DELTA;
}

static void add_frame(struct trace_builder *b, struct payload *payload, uint64_t frame)
{
	if (frame > 0 && frame < TRACE_PC_FIRST) {
		add(payload, frame);
	} else if (b->is_literal) {
		add(payload, TRACE_FRAME_LITERAL);
		add_bytes(payload, &frame, 8);
	} else {
		add(payload, pc_id(b, frame));
	}
}

static void add_delta(struct trace_builder *b, struct payload *payload)
{
	struct stack *walked = &b->lane->walked;
	size_t same = 0;

	while (same < walked->count && same < b->stack.count &&
	       walked->frames[same] == b->stack.frames[same])
		same++;
	add(payload, walked->count - same);
	add(payload, b->stack.count - same);
	for (size_t i = same; i < b->stack.count; i++)
		add_frame(b, payload, b->stack.frames[i]);
	*walked = b->stack;
}

/* The stack of a record as @mode has it. */
static void add_stack(struct trace_builder *b, struct payload *payload, enum trace_stack_mode mode)
{
	struct lane *lane = b->lane;
	unsigned slot = slot_for(&b->stack);
	uint8_t byte = (uint8_t)(mode == TRACE_STACK_NONE ? (unsigned)b->no_stack : slot);

	if (mode == TRACE_STACK_SAME)
		return;
	add_bytes(payload, &byte, 1);
	if (mode == TRACE_STACK_NONE)
		return;
	if (mode == TRACE_STACK_DELTA) {
		add_delta(b, payload);
		free(lane->cache[slot].stack);
		lane->cache[slot].stack = checked(malloc(sizeof(struct stack)));
		*lane->cache[slot].stack = b->stack;
		lane->cache[slot].size = 0;
	}
	lane->last_slot = slot;
}

/* ---- events ---- */

static bool is_known(const struct lane *lane, uint64_t address)
{
	return lane->addresses[trace_address_slot(address)] == address;
}

static void keep(struct lane *lane, uint64_t address)
{
	lane->addresses[trace_address_slot(address)] = address;
	lane->last_address = address;
}

static uint64_t distance(uint64_t from, uint64_t to)
{
	return zigzag((int64_t)(trace_rotate(to) - trace_rotate(from)));
}

/* Tag, time, notes and address of an event. */
static void put_head(struct trace_builder *b, unsigned tag, int notes, uint64_t address)
{
	struct lane *lane = b->lane;
	uint64_t by = ahead(b);

	tag |= by ? TRACE_TAG_TIME : 0;
	tag |= is_known(lane, address) ? TRACE_TAG_KNOWN : 0;
	tag |= notes >= 0 ? TRACE_TAG_NOTED : 0;
	put_u8(lane, tag);
	if (by)
		put_varint(lane, by);
	if (notes >= 0)
		put_u8(lane, (unsigned)notes);
	if (is_known(lane, address))
		put_u8(lane, trace_address_slot(address));
	else
		put_varint(lane, distance(lane->last_address, address));
	keep(lane, address);
}

static void put_birth(struct trace_builder *b, unsigned op, uint64_t old, uint64_t address,
		      uint64_t size)
{
	struct payload stack = {.count = 0};
	enum trace_stack_mode mode;
	unsigned slot;
	bool is_same_size;

	tell_pcs(b);
	mode = stack_mode(b);
	slot = mode == TRACE_STACK_SAME ? b->lane->last_slot : slot_for(&b->stack);
	is_same_size = mode != TRACE_STACK_NONE && mode != TRACE_STACK_DELTA &&
		       b->lane->cache[slot].size == size;
	put_head(b, op | (is_same_size ? TRACE_TAG_SAME_SIZE : 0) | mode << TRACE_TAG_STACK_SHIFT,
		 -1, op == TRACE_OP_REALLOCATE ? old : address);
	if (op == TRACE_OP_REALLOCATE) {
		put_varint(b->lane, distance(old, address));
		keep(b->lane, address);
	}
	if (!is_same_size)
		put_varint(b->lane, size);
	add_stack(b, &stack, mode);
	put(b->lane, stack.bytes, stack.count);
	if (mode != TRACE_STACK_NONE)
		b->lane->cache[slot].size = size;
}

void trace_builder_allocate(struct trace_builder *b, uint64_t address, uint64_t size)
{
	put_birth(b, TRACE_OP_ALLOCATE, 0, address, size);
}

void trace_builder_reallocate(struct trace_builder *b, uint64_t old, uint64_t address,
			      uint64_t size)
{
	put_birth(b, TRACE_OP_REALLOCATE, old, address, size);
}

void trace_builder_free(struct trace_builder *b, uint64_t address)
{
	make_room(b, 64);
	put_head(b, TRACE_OP_FREE, -1, address);
}

void trace_builder_free_noted(struct trace_builder *b, uint64_t address, uint8_t notes)
{
	make_room(b, 64);
	put_head(b, TRACE_OP_FREE, notes, address);
}

static void record_with_stack(struct trace_builder *b, uint64_t kind, struct payload *payload)
{
	enum trace_stack_mode mode;
	uint8_t byte;

	tell_pcs(b);
	mode = stack_mode(b);
	byte = (uint8_t)mode;
	add_bytes(payload, &byte, 1);
	add_stack(b, payload, mode);
	record(b, kind, payload);
}

void trace_builder_free_with_stack(struct trace_builder *b, uint64_t address)
{
	struct payload payload = {.count = 0};

	record_with_stack(b, TRACE_KIND_FREE_STACK, &payload);
	trace_builder_free(b, address);
}

void trace_builder_map(struct trace_builder *b, enum trace_map_op op, uint64_t address,
		       uint64_t bytes, uint64_t old_address, uint64_t old_bytes)
{
	struct payload payload = {.count = 0};
	uint8_t byte = (uint8_t)op;

	add_bytes(&payload, &byte, 1);
	add(&payload, address);
	add(&payload, bytes);
	add(&payload, old_address);
	add(&payload, old_bytes);
	add(&payload, 3);    /* PROT_READ | PROT_WRITE */
	add(&payload, 0x22); /* MAP_PRIVATE | MAP_ANONYMOUS */
	add(&payload, 0);
	add(&payload, 0);
	record_with_stack(b, TRACE_KIND_MAP, &payload);
}

/* ---- everything else ---- */

void trace_builder_meta(struct trace_builder *b, const char *key, const char *value)
{
	struct payload payload = {.count = 0};
	struct lane *before = b->lane;

	add_string(&payload, key);
	add_bytes(&payload, value, strlen(value));
	b->lane = choose(b, TRACE_PIECE_HEADER, 0, 4242);
	record(b, TRACE_KIND_META, &payload);
	b->lane = before;
}

void trace_builder_module(struct trace_builder *b, uint64_t start, uint64_t end, const char *path)
{
	struct payload payload = {.count = 0};

	add(&payload, start);
	add(&payload, end);
	add(&payload, start);
	add(&payload, 12345);  /* bytes of the file */
	add(&payload, 678);    /* time of change */
	add(&payload, 1);      /* device, inode */
	add(&payload, start >> 12);
	add(&payload, 20);
	add_bytes(&payload, "01234567890123456789", 20);
	add_string(&payload, path);
	record(b, TRACE_KIND_MODULE, &payload);
}

static void number_record(struct trace_builder *b, uint64_t kind, uint64_t value)
{
	struct payload payload = {.count = 0};

	add(&payload, value);
	record(b, kind, &payload);
}

static void string_record(struct trace_builder *b, uint64_t kind, const char *text)
{
	struct payload payload = {.count = 0};

	add_string(&payload, text);
	record(b, kind, &payload);
}

void trace_builder_module_gone(struct trace_builder *b, uint64_t start)
{
	number_record(b, TRACE_KIND_MODULE_GONE, start);
}

static void put_mark(struct trace_builder *b, enum trace_mark mark, const char *name,
		     const char *detail, uint64_t real_ns, uint64_t value)
{
	struct payload payload = {.count = 0};

	add(&payload, mark);
	add_string(&payload, name);
	add_string(&payload, detail);
	add(&payload, real_ns);
	add(&payload, value);
	record(b, TRACE_KIND_MARK, &payload);
}

void trace_builder_mark(struct trace_builder *b, enum trace_mark mark, const char *name,
			const char *detail, uint64_t value)
{
	put_mark(b, mark, name, detail, 0, value);
}

void trace_builder_mark_at(struct trace_builder *b, enum trace_mark mark, const char *name,
			   uint64_t ns)
{
	put_mark(b, mark, name, "", TRACE_BUILDER_REAL + ns, 0);
}

void trace_builder_thread_begin(struct trace_builder *b, uint32_t tid)
{
	number_record(b, TRACE_KIND_THREAD_BEGIN, tid);
	b->lane->tid = tid;
}

void trace_builder_thread_name(struct trace_builder *b, const char *name)
{
	string_record(b, TRACE_KIND_THREAD_NAME, name);
}

void trace_builder_reading(struct trace_builder *b, uint64_t resident, uint64_t shared,
			   uint64_t virtual_bytes, uint64_t mapped)
{
	struct payload payload = {.count = 0};

	add(&payload, resident);
	add(&payload, shared);
	add(&payload, virtual_bytes);
	add(&payload, mapped);
	record(b, TRACE_KIND_READING, &payload);
}

void trace_builder_rate(struct trace_builder *b, uint64_t rate)
{
	number_record(b, TRACE_KIND_RATE, rate);
}

void trace_builder_scope_begin(struct trace_builder *b, const char *name)
{
	struct payload payload = {.count = 0};

	add_string(&payload, name);
	add(&payload, 0);
	record(b, TRACE_KIND_SCOPE_BEGIN, &payload);
}

void trace_builder_scope_end(struct trace_builder *b)
{
	trace_builder_record(b, TRACE_KIND_SCOPE_END, "", 0);
}

void trace_builder_lost(struct trace_builder *b, enum trace_loss cause, uint64_t events)
{
	struct payload payload = {.count = 0};

	add(&payload, cause);
	add(&payload, events);
	record(b, TRACE_KIND_LOST, &payload);
	b->lane->lost += events;
}

void trace_builder_restart(struct trace_builder *b)
{
	trace_builder_record(b, TRACE_KIND_RESTART, "", 0);
	forget_state(b->lane);
}

/* ---- files ---- */

static void fill_header(const struct lane *lane, struct trace_piece *header)
{
	*header = (struct trace_piece){
		.magic = TRACE_PIECE_MAGIC,
		.kind = lane->kind,
		.lane = lane->lane,
		.tid = lane->piece_tid,
		.word = (uint64_t)lane->sequence << 32 | lane->count,
		.lost = lane->lost,
		.ticks = lane->begun,
		.mono_ns = lane->begun,
		.real_ns = TRACE_BUILDER_REAL + lane->begun - TRACE_BUILDER_START,
	};
}

/* The header comes first in a file, whenever it is written. */
static void append_piece(struct trace_builder *b, struct lane *lane, uint16_t flags)
{
	struct trace_piece header;
	uint8_t *unit;

	b->file = checked(realloc(b->file, b->file_bytes + TRACE_UNIT_BYTES));
	unit = b->file + b->file_bytes;
	if (lane->kind == TRACE_PIECE_HEADER) {
		memmove(b->file + TRACE_UNIT_BYTES, b->file, b->file_bytes);
		unit = b->file;
	}
	memset(unit, 0, TRACE_UNIT_BYTES);
	fill_header(lane, &header);
	header.flags = flags;
	memcpy(unit, &header, sizeof(header));
	memcpy(unit + sizeof(header), lane->records, lane->count);
	header.checksum = XXH3_64bits(unit, sizeof(header) + lane->count);
	memcpy(unit, &header, sizeof(header));
	b->file_bytes += TRACE_UNIT_BYTES;
}

static void flush_lane(struct trace_builder *b, struct lane *lane)
{
	if (!lane->count)
		return;
	append_piece(b, lane, 0);
	lane->sequence++;
	begin_piece(b, lane);
}

void trace_builder_flush(struct trace_builder *b)
{
	flush_lane(b, b->lane);
}

void trace_builder_flush_open(struct trace_builder *b)
{
	append_piece(b, b->lane, TRACE_PIECE_OPEN);
}

static void write_file(const char *path, const void *bytes, size_t count)
{
	FILE *file = checked(fopen(path, "w"));

	if (count && fwrite(bytes, 1, count, file) != count)
		abort();
	fclose(file);
}

const uint8_t *trace_builder_bytes(struct trace_builder *b, size_t *bytes)
{
	for (size_t i = 0; i < b->lane_count; i++)
		flush_lane(b, b->lanes[i]);
	*bytes = b->file_bytes;
	return b->file;
}

void trace_builder_write(struct trace_builder *b, const char *path)
{
	uint8_t how = TRACE_END_EXIT;
	const uint8_t *bytes;
	size_t count;

	b->lane = choose(b, TRACE_PIECE_EVENTS, 0, 4242);
	trace_builder_record(b, TRACE_KIND_END, &how, 1);
	bytes = trace_builder_bytes(b, &count);
	write_file(path, bytes, count);
}

static char *companion_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *result = NULL;

	if (asprintf(&result, "%.*s.%s.live", slash ? (int)(slash + 1 - path) : 0, path,
		     slash ? slash + 1 : path) < 0)
		abort();
	return result;
}

static size_t fill_slots(struct trace_builder *b, uint8_t *slots)
{
	size_t count = 0;

	for (size_t i = 0; i < b->lane_count; i++) {
		struct lane *lane = b->lanes[i];
		uint8_t *slot = slots + count * TRACE_UNIT_BYTES;
		struct trace_piece header;

		if (lane->kind != TRACE_PIECE_EVENTS)
			continue;
		fill_header(lane, &header);
		header.magic = TRACE_SLOT_MAGIC;
		memcpy(slot, &header, sizeof(header));
		memcpy(slot + sizeof(header), lane->records, lane->count);
		count++;
	}
	return count;
}

void trace_builder_write_killed(struct trace_builder *b, const char *path)
{
	size_t room = CONTROL_PAGE_BYTES + b->lane_count * TRACE_UNIT_BYTES, count;
	struct control_page *control = checked(calloc(1, room));
	char *companion = companion_path(path);
	struct stat st;

	for (size_t i = 0; i < b->lane_count; i++)
		if (b->lanes[i]->kind != TRACE_PIECE_EVENTS)
			flush_lane(b, b->lanes[i]);
	write_file(path, b->file, b->file_bytes);
	count = fill_slots(b, (uint8_t *)control + CONTROL_PAGE_BYTES);
	memcpy(control->magic, CONTROL_MAGIC, sizeof(control->magic));
	control->version = CONTROL_VERSION;
	control->slot_bytes = TRACE_UNIT_BYTES;
	control->pid = 4242;
	control->start_ticks = TRACE_BUILDER_START;
	control->start_mono_ns = TRACE_BUILDER_START;
	control->start_real_ns = TRACE_BUILDER_REAL;
	control->slots = (uint32_t)count;
	control->tail = b->file_bytes;
	if (stat(path, &st))
		abort();
	control->trace_device = st.st_dev;
	control->trace_inode = st.st_ino;
	write_file(companion, control, CONTROL_PAGE_BYTES + count * TRACE_UNIT_BYTES);
	free(companion);
	free(control);
}

struct trace_builder *trace_builder_new_bare(void)
{
	struct trace_builder *b = checked(calloc(1, sizeof(*b)));

	b->ticks = TRACE_BUILDER_START;
	b->no_stack = -1;
	trace_builder_lane(b, 1, 100);
	return b;
}

struct trace_builder *trace_builder_new(void)
{
	struct trace_builder *b = trace_builder_new_bare();
	struct payload payload = {.count = 0};

	trace_builder_meta(b, "version", "1.0");
	trace_builder_meta(b, "pid", "4242");
	trace_builder_meta(b, "ppid", "1");
	trace_builder_meta(b, "exe", "/bin/app");
	trace_builder_meta(b, "host", "box");
	trace_builder_meta(b, "start_unix_ns", "1700000000000000000");
	trace_builder_meta(b, "start_ticks", "1000000");
	trace_builder_meta(b, "start_mono_ns", "1000000");
	trace_builder_meta(b, "ticks_per_second", "1000000000");
	trace_builder_meta(b, "rate", "1");
	trace_builder_meta(b, "depth", "256");
	add_string(&payload, "command");
	add_bytes(&payload, "app\0--flag", 11);
	b->lane = choose(b, TRACE_PIECE_HEADER, 0, 4242);
	record(b, TRACE_KIND_META, &payload);
	trace_builder_module(b, 0x400000, 0x500000, "/bin/app");
	trace_builder_module(b, 0x7f0000000000, 0x7f0000200000, "/lib/libc.so");
	trace_builder_lane(b, 1, 100);
	return b;
}

void trace_builder_free_all(struct trace_builder *b)
{
	for (size_t i = 0; i < b->lane_count; i++) {
		forget_state(b->lanes[i]);
		free(b->lanes[i]->records);
		free(b->lanes[i]);
	}
	free(b->lanes);
	free(b->pcs);
	free(b->file);
	free(b);
}
