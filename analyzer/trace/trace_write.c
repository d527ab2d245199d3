/*
 * See trace_write.h. Records gather in one piece; when it is full, or the lane
 * changes, it goes out as the next unit of the file and the encoder forgets its
 * state, as the format asks.
 */
#include "trace/trace_write.h"

#include "memprof/varint.h"
#include "util/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct trace_writer {
	FILE *file;
	bool failed;
	uint16_t kind;               /* of the piece being made */
	uint32_t lane, tid, sequence;
	uint64_t piece_ns, clock_units;
	uint64_t real_start_ns;
	uint64_t rate, header_rate;
	char *scope;
	uint64_t last_address;
	uint32_t *walked;            /* the walked stack, outermost first */
	size_t walked_count;
	size_t room;                 /* bytes in `records` */
	uint8_t records[TRACE_RECORDS_MAX + 64];
};

/* Longest record but for its stack: tag, time, address, size. */
#define RECORD_BYTES 64
/* Frames of a stack that are kept: a record must fit into a piece. */
#define FRAMES_MAX 4096u
/* What the clock shows at the start of the process; nobody's 0. */
#define CLOCK_START (1ull << 26)

static void state_clear(struct trace_writer *writer)
{
	writer->last_address = 0;
	writer->walked_count = 0;
	writer->rate = writer->header_rate;
}

static void flush(struct trace_writer *writer)
{
	static const uint8_t zeros[TRACE_UNIT_BYTES];
	struct trace_piece piece = {
		.magic = TRACE_PIECE_MAGIC, .kind = writer->kind, .lane = writer->lane,
		.tid = writer->tid, .word = (uint64_t)writer->sequence << 32 | writer->room,
		.ticks = CLOCK_START + writer->piece_ns,
		.mono_ns = CLOCK_START + writer->piece_ns,
		.real_ns = writer->real_start_ns + writer->piece_ns,
	};
	XXH3_state_t *hash;

	if (!writer->room && writer->kind != TRACE_PIECE_HEADER)
		return;
	hash = XXH3_createState();
	XXH3_64bits_reset(hash);
	XXH3_64bits_update(hash, &piece, sizeof(piece));
	XXH3_64bits_update(hash, writer->records, writer->room);
	piece.checksum = XXH3_64bits_digest(hash);
	XXH3_freeState(hash);
	writer->failed |= fwrite(&piece, sizeof(piece), 1, writer->file) != 1;
	writer->failed |= writer->room &&
			  fwrite(writer->records, writer->room, 1, writer->file) != 1;
	writer->failed |=
	    fwrite(zeros, TRACE_UNIT_BYTES - sizeof(piece) - writer->room, 1, writer->file) != 1 &&
	    writer->room < TRACE_RECORDS_MAX;
	writer->room = 0;
	writer->sequence++;
	writer->kind = TRACE_PIECE_EVENTS;
	state_clear(writer);
}

/* ---- bytes ---- */

static uint8_t *at_end(struct trace_writer *writer)
{
	return writer->records + writer->room;
}

static void put_varint(struct trace_writer *writer, uint64_t value)
{
	writer->room = (size_t)(varint_store(at_end(writer), value) - writer->records);
}

static void put_byte(struct trace_writer *writer, uint8_t byte)
{
	writer->records[writer->room++] = byte;
}

/* Payloads are built apart: their length comes first. */
struct payload {
	uint8_t bytes[TRACE_RECORDS_MAX];
	size_t count;
};

static void payload_varint(struct payload *payload, uint64_t value)
{
	if (payload->count + VARINT_BYTES_MAX <= sizeof(payload->bytes))
		payload->count = (size_t)(varint_store(payload->bytes + payload->count, value) -
					  payload->bytes);
}

static void payload_bytes(struct payload *payload, const void *bytes, size_t count)
{
	if (count > sizeof(payload->bytes) - payload->count)
		count = sizeof(payload->bytes) - payload->count;
	if (count)
		memcpy(payload->bytes + payload->count, bytes, count);
	payload->count += count;
}

static void payload_string(struct payload *payload, const void *text, size_t count)
{
	payload_varint(payload, count);
	payload_bytes(payload, text, count);
}

/* ---- records ---- */

static void restate_scope(struct trace_writer *writer);

/* Makes sure a record of @bytes fits; a new piece begins with its surroundings. */
static void need(struct trace_writer *writer, size_t bytes)
{
	if (writer->room + bytes <= TRACE_RECORDS_MAX)
		return;
	flush(writer);
	writer->piece_ns = writer->clock_units << TRACE_TIME_SHIFT;
	restate_scope(writer);
}

/* The time goes behind the tag: returns the tag with the bit for it. */
static uint64_t time_step(struct trace_writer *writer, uint64_t time_ns)
{
	uint64_t units = time_ns >> TRACE_TIME_SHIFT;
	uint64_t step = units > writer->clock_units ? units - writer->clock_units : 0;

	writer->clock_units += step;
	return step;
}

static void put_tag(struct trace_writer *writer, unsigned tag, uint64_t step)
{
	put_byte(writer, (uint8_t)(tag | (step ? TRACE_TAG_TIME : 0)));
	if (step)
		put_varint(writer, step);
}

static void put_extended(struct trace_writer *writer, uint64_t time_ns, enum trace_kind kind,
			 const struct payload *payload)
{
	need(writer, payload->count + RECORD_BYTES);
	put_tag(writer, TRACE_OP_EXTENDED, time_step(writer, time_ns));
	put_varint(writer, kind);
	put_varint(writer, payload->count);
	memcpy(at_end(writer), payload->bytes, payload->count);
	writer->room += payload->count;
}

static uint64_t now(const struct trace_writer *writer)
{
	return writer->clock_units << TRACE_TIME_SHIFT;
}

static void put_scope(struct trace_writer *writer, bool is_restated)
{
	struct payload payload = { .count = 0 };

	payload_string(&payload, writer->scope, strlen(writer->scope));
	payload_varint(&payload, is_restated);
	put_extended(writer, now(writer), TRACE_KIND_SCOPE_BEGIN, &payload);
}

static void put_rate(struct trace_writer *writer, uint64_t rate)
{
	struct payload payload = { .count = 0 };

	payload_varint(&payload, rate);
	put_extended(writer, now(writer), TRACE_KIND_RATE, &payload);
	writer->rate = rate;
}

static void restate_scope(struct trace_writer *writer)
{
	if (writer->scope)
		put_scope(writer, true);
}

/* ---- making ---- */

struct trace_writer *trace_writer_new(FILE *file)
{
	struct trace_writer *writer = memory_zeroed(1, sizeof(*writer));

	writer->file = file;
	writer->kind = TRACE_PIECE_HEADER;
	writer->rate = writer->header_rate = 1;
	trace_writer_meta(writer, "clock", "monotonic_raw", strlen("monotonic_raw"));
	trace_writer_meta_number(writer, "ticks_per_second", 1000000000);
	trace_writer_meta_number(writer, "start_ticks", CLOCK_START);
	trace_writer_meta_number(writer, "start_mono_ns", CLOCK_START);
	return writer;
}

void trace_writer_free(struct trace_writer *writer)
{
	if (!writer)
		return;
	free(writer->walked);
	free(writer->scope);
	free(writer);
}

void trace_writer_meta(struct trace_writer *writer, const char *key, const void *value,
		       size_t bytes)
{
	struct payload payload = { .count = 0 };

	payload_string(&payload, key, strlen(key));
	payload_bytes(&payload, value, bytes);
	put_extended(writer, 0, TRACE_KIND_META, &payload);
}

void trace_writer_meta_number(struct trace_writer *writer, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	trace_writer_meta(writer, key, text, strlen(text));
	if (!strcmp(key, "rate"))
		writer->header_rate = value;
	if (!strcmp(key, "start_unix_ns"))
		writer->real_start_ns = value;
}

void trace_writer_module(struct trace_writer *writer, const struct trace_module *module)
{
	struct payload payload = { .count = 0 };

	payload_varint(&payload, module->start);
	payload_varint(&payload, module->end);
	payload_varint(&payload, module->bias);
	payload_varint(&payload, module->file_bytes);
	payload_varint(&payload, module->mtime_ns);
	payload_varint(&payload, module->device);
	payload_varint(&payload, module->inode);
	payload_string(&payload, module->build_id, module->build_id_bytes);
	payload_string(&payload, module->path, strlen(module->path));
	put_extended(writer, now(writer), TRACE_KIND_MODULE, &payload);
}

/* Modules that did not fit went into further pieces of lane 0. */
void trace_writer_header_end(struct trace_writer *writer)
{
	flush(writer);
}

void trace_writer_pc(struct trace_writer *writer, uint32_t id, uint64_t address, uint32_t flags)
{
	struct payload payload = { .count = 0 };

	payload_varint(&payload, id);
	payload_varint(&payload, address);
	payload_varint(&payload, flags & ~TRACE_PC_UNDEFINED);
	put_extended(writer, now(writer), TRACE_KIND_PC, &payload);
}

void trace_writer_lane(struct trace_writer *writer, uint32_t lane, uint32_t tid,
		       const char *thread_name)
{
	struct payload payload = { .count = 0 };

	flush(writer);
	writer->lane = lane;
	writer->tid = tid;
	writer->sequence = 0;
	writer->piece_ns = writer->clock_units = 0;
	free(writer->scope);
	writer->scope = NULL;
	if (!thread_name || !*thread_name)
		return;
	payload_string(&payload, thread_name, strlen(thread_name));
	put_extended(writer, 0, TRACE_KIND_THREAD_NAME, &payload);
}

void trace_writer_mark(struct trace_writer *writer, uint64_t time_ns,
		       const struct trace_marker *mark)
{
	struct payload payload = { .count = 0 };

	payload_varint(&payload, mark->kind);
	payload_string(&payload, mark->name, strlen(mark->name));
	payload_string(&payload, mark->detail, strlen(mark->detail));
	payload_varint(&payload, 0);
	payload_varint(&payload, mark->value);
	put_extended(writer, time_ns, TRACE_KIND_MARK, &payload);
}

void trace_writer_rate(struct trace_writer *writer, uint64_t rate_bytes)
{
	need(writer, RECORD_BYTES * 2);
	if (writer->rate != rate_bytes)
		put_rate(writer, rate_bytes);
}

void trace_writer_scope(struct trace_writer *writer, const char *name)
{
	struct payload payload = { .count = 0 };
	bool is_same = name && *name ? writer->scope && !strcmp(writer->scope, name) :
				       !writer->scope;

	if (is_same)
		return;
	if (writer->scope)
		put_extended(writer, now(writer), TRACE_KIND_SCOPE_END, &payload);
	free(writer->scope);
	writer->scope = name && *name ? memory_string(name) : NULL;
	if (writer->scope)
		put_scope(writer, false);
}

/* ---- events ---- */

static void put_address(struct trace_writer *writer, uint64_t address)
{
	put_varint(writer, zigzag((int64_t)(trace_rotate(address) -
					    trace_rotate(writer->last_address))));
	writer->last_address = address;
}

/* One cache slot is enough: every stack is told by its difference. */
static void put_stack(struct trace_writer *writer, const uint32_t *frames, size_t count)
{
	size_t same = 0;

	while (same < count && same < writer->walked_count &&
	       writer->walked[same] == frames[count - 1 - same])
		same++;
	put_byte(writer, 0);
	put_varint(writer, writer->walked_count - same);
	put_varint(writer, count - same);
	writer->walked = memory_resize(writer->walked, count, sizeof(*writer->walked));
	for (size_t i = same; i < count; i++) {
		writer->walked[i] = frames[count - 1 - i];
		put_varint(writer, writer->walked[i]);
	}
	writer->walked_count = count;
}

static size_t stack_bytes(size_t count)
{
	return RECORD_BYTES + count * VARINT_BYTES_MAX;
}

void trace_writer_allocate(struct trace_writer *writer, uint64_t time_ns, uint64_t address,
			   uint64_t size, const uint32_t *frames, size_t count,
			   enum trace_no_stack no_stack)
{
	unsigned mode = count ? TRACE_STACK_DELTA : TRACE_STACK_NONE;
	uint64_t rate = writer->rate;

	count = count < FRAMES_MAX ? count : FRAMES_MAX;
	need(writer, stack_bytes(count));
	if (writer->rate != rate)
		trace_writer_rate(writer, rate);
	put_tag(writer, TRACE_OP_ALLOCATE | mode << TRACE_TAG_STACK_SHIFT,
		time_step(writer, time_ns));
	put_address(writer, address);
	put_varint(writer, size);
	if (count)
		put_stack(writer, frames, count);
	else
		put_byte(writer, (uint8_t)no_stack);
}

void trace_writer_map(struct trace_writer *writer, uint64_t time_ns, uint64_t address,
		      uint64_t size, const uint32_t *frames, size_t count,
		      enum trace_no_stack no_stack)
{
	struct payload payload = { .count = 0 };
	uint8_t op = TRACE_MAP_MMAP;
	uint8_t mode = count ? TRACE_STACK_DELTA : TRACE_STACK_NONE;
	uint8_t slot = count ? 0 : (uint8_t)no_stack;

	count = count < FRAMES_MAX ? count : FRAMES_MAX;
	payload_bytes(&payload, &op, 1);
	payload_varint(&payload, address);
	payload_varint(&payload, size);
	for (int i = 0; i < 2; i++) /* old address, old bytes */
		payload_varint(&payload, 0);
	payload_varint(&payload, 3);    /* PROT_READ | PROT_WRITE */
	payload_varint(&payload, 0x22); /* MAP_PRIVATE | MAP_ANONYMOUS */
	payload_varint(&payload, 0);    /* no file */
	payload_varint(&payload, 0);
	payload_bytes(&payload, &mode, 1);
	payload_bytes(&payload, &slot, 1);
	if (count) {
		/* A whole stack: popped is what may be there. */
		need(writer, payload.count + stack_bytes(count));
		payload_varint(&payload, writer->walked_count);
		payload_varint(&payload, count);
		writer->walked = memory_resize(writer->walked, count, sizeof(*writer->walked));
		for (size_t i = 0; i < count; i++) {
			writer->walked[i] = frames[count - 1 - i];
			payload_varint(&payload, writer->walked[i]);
		}
		writer->walked_count = count;
	}
	put_extended(writer, time_ns, TRACE_KIND_MAP, &payload);
}

void trace_writer_ended(struct trace_writer *writer, uint64_t time_ns)
{
	struct payload payload = { .count = 0 };
	uint8_t how = TRACE_END_EXIT;

	payload_bytes(&payload, &how, 1);
	put_extended(writer, time_ns, TRACE_KIND_END, &payload);
}

int trace_writer_finish(struct trace_writer *writer, struct error *err)
{
	flush(writer);
	if (writer->failed || fflush(writer->file))
		return error_set(err, ERROR_SYSTEM, NULL, ERROR_NO_OFFSET,
				 "the trace could not be written: %s", strerror(errno));
	return 0;
}
