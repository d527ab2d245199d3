/*
 * Fuzzes the reader of traces: opens what it is given as a trace, replays it
 * twice, walks its records and its live blocks. Built by
 *
 *	clang -fsanitize=fuzzer,address,undefined
 *
 * and, without the fuzzer, into a unit test that runs the corpus.
 *
 * The first byte of the input chooses; with bit 1 the trace is packed as well, and
 * damaged in one place. 0: the rest is the file. Else the rest is
 * a row of parts, from each of which a unit of the trace (or a slot of its
 * companion) is made, so that the fuzzer need not find magic numbers and
 * checksums and units of 64 KiB:
 *
 *	u8 kind and where  u8 lane  u8 sequence  u8 tid  u16 length  records
 */
#include "fuzz.h"

#include "memprof/control.h"
#include "trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define PARTS_MAX 24

/* A file that parts are put into, with holes between them. */
struct file {
	int fd;
	uint64_t bytes;
};

static void put(struct file *file, const void *bytes, size_t count, uint64_t offset)
{
	if (pwrite(file->fd, bytes, count, (off_t)offset) != (ssize_t)count)
		abort();
}

static struct file make_file(const char *path)
{
	struct file file = {.fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600)};

	if (file.fd < 0)
		abort();
	return file;
}

static size_t add_part(struct file *trace, struct file *companion, const uint8_t *at, size_t left)
{
	static uint8_t unit[TRACE_UNIT_BYTES];
	size_t length = at[4] | (size_t)at[5] << 8;
	bool is_slot = at[0] & 0x80;
	struct file *file = is_slot ? companion : trace;
	struct trace_piece header = {
		.magic = is_slot ? TRACE_SLOT_MAGIC : TRACE_PIECE_MAGIC,
		.kind = at[0] & 3,
		.lane = at[1] & 7,
		.tid = at[3],
		.ticks = 1000 + 64u * at[3],
		.mono_ns = 1000 + 64u * at[2],
		.real_ns = 5000,
	};

	if (length > left - 6)
		length = left - 6;
	if (length > TRACE_RECORDS_MAX)
		length = TRACE_RECORDS_MAX;
	header.word = (uint64_t)at[2] << 32 | length;
	memcpy(unit, &header, sizeof(header));
	memcpy(unit + sizeof(header), at + 6, length);
	header.checksum = XXH3_64bits(unit, sizeof(header) + length);
	memcpy(unit, &header, sizeof(header));
	put(file, unit, sizeof(header) + length, file->bytes);
	file->bytes += TRACE_UNIT_BYTES;
	return 6 + length;
}

/* In memory: /dev/shm, else where temporary files go. */
static void paths_init(char *trace, char *companion, size_t room)
{
	const char *folder = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	snprintf(trace, room, "%s/fuzz.%d.trace", folder, (int)getpid());
	snprintf(companion, room, "%s/.fuzz.%d.trace.live", folder, (int)getpid());
}

static void put_control(struct file *companion, int trace_fd)
{
	struct control_page control = {.version = CONTROL_VERSION, .slot_bytes = TRACE_UNIT_BYTES};
	struct stat st;

	if (fstat(trace_fd, &st))
		abort();
	memcpy(control.magic, CONTROL_MAGIC, sizeof(control.magic));
	control.trace_device = st.st_dev;
	control.trace_inode = st.st_ino;
	put(companion, &control, sizeof(control), 0);
}

static void make_files(const char *trace_path, const char *companion_path, const uint8_t *data,
		       size_t size)
{
	struct file trace = make_file(trace_path), companion = make_file(companion_path);

	companion.bytes = CONTROL_PAGE_BYTES;
	put_control(&companion, trace.fd);
	for (unsigned i = 0; size >= 6 && i < PARTS_MAX; i++) {
		size_t used = add_part(&trace, &companion, data, size);

		data += used;
		size -= used;
	}
	close(trace.fd);
	close(companion.fd);
}

static void make_plain_file(const char *path, const uint8_t *data, size_t size)
{
	struct file file = make_file(path);

	put(&file, data, size, 0);
	close(file.fd);
}

/* Everything that an event says must lie in the trace's tables. */
static int take_events(void *context, const struct trace_event *events, size_t count)
{
	struct trace *trace = context;

	for (size_t i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];

		if (event->kind < TRACE_EVENT_ALLOCATE || event->kind > TRACE_EVENT_UNMAP ||
		    event->stack >= trace->node_count || event->free_stack >= trace->node_count ||
		    event->thread >= trace->thread_count ||
		    event->birth_thread >= trace->thread_count ||
		    event->scope >= trace->scope_count)
			abort();
	}
	return 0;
}

static void check_nodes(const struct trace *trace)
{
	for (uint32_t node = 1; node < trace->node_count; node++)
		if (trace->nodes[node].parent >= node ||
		    (trace->nodes[node].pc >= trace->pc_count &&
		     trace->nodes[node].pc < TRACE_STACK_PC_CUT))
			abort();
}

static int take_record(void *context, const struct trace_record *record)
{
	struct trace *trace = context;

	if (record->stack >= trace->node_count)
		abort();
	return 0;
}

static int take_block(void *context, const struct trace_event *allocation)
{
	return take_events(context, allocation, 1);
}

static void read_trace(const char *path)
{
	struct trace_replay_stats first, second;
	struct trace *trace;
	struct error err;

	if (trace_open(path, &trace, &err))
		return;
	if (trace_replay(trace, take_events, trace, &first, &err) ||
	    trace_live_blocks(trace, take_block, trace) ||
	    trace_each_record(trace, TRACE_RECORDS_ALL, take_record, trace) ||
	    trace_replay(trace, take_events, trace, &second, &err) ||
	    memcmp(&first, &second, sizeof(first)))
		abort();
	check_nodes(trace);
	trace_close(trace);
}

/* Packs the trace, damages one byte of it and reads it. */
static void read_packed(const char *path, unsigned where, uint8_t flip)
{
	struct trace *trace;
	struct error err;
	uint64_t bytes;
	uint8_t byte;
	int fd;

	if (trace_open(path, &trace, &err))
		return;
	if (trace_pack(trace, path, &bytes, &err))
		abort();
	trace_close(trace);
	fd = open(path, O_RDWR);
	if (fd < 0 || pread(fd, &byte, 1, (off_t)(where % bytes)) != 1)
		abort();
	byte ^= flip;
	if (pwrite(fd, &byte, 1, (off_t)(where % bytes)) != 1)
		abort();
	close(fd);
	read_trace(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char trace[256], companion[256];

	if (!size)
		return 0;
	paths_init(trace, companion, sizeof(trace));
	if (data[0])
		make_files(trace, companion, data + 1, size - 1);
	else
		make_plain_file(trace, data + 1, size - 1);
	read_trace(trace);
	if (data[0] & 2 && size > 4)
		read_packed(trace, data[1] | (unsigned)data[2] << 8, data[3]);
	unlink(companion);
	unlink(trace);
	return 0;
}
