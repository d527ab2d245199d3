/*
 * dump: what the trace says, line by line. In the order of time: allocations,
 * frees and maps as they were replayed, each free with what its allocation was,
 * marks and readings in between. With --raw-order: the records as they are
 * written, lane by lane, with their offsets.
 */
#include "view/common.h"

#include "util/cursor.h"
#include "util/memory.h"
#include "view/view_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool raw_order, wants_frames;
static const char *address_text;
static struct option_list kinds;

const struct option view_dump_options[] = {
	{ "kind", 0, OPTION_LIST, "KIND", "only these: allocate, free, map, unmap, mark, reading, "
	  "or (--raw-order) a record's name; may be repeated", &kinds, NULL, NULL },
	{ "address", 0, OPTION_STRING, "0xADDRESS", "only blocks and mappings that hold this "
	  "address", &address_text, NULL, NULL },
	{ "frames", 0, OPTION_FLAG, NULL, "show the frames of each stack, as module+offset",
	  &wants_frames, NULL, NULL },
	{ "raw-order", 0, OPTION_FLAG, NULL, "the records as written, lane by lane", &raw_order,
	  NULL, NULL },
	{ 0 },
};

struct dump {
	const struct view_request *request;
	struct trace *trace;
	struct json json;
	bool is_json;
	FILE *out;
	uint64_t from_ns, to_ns, address;
	bool has_address;
	bool *threads;             /* that are shown; NULL = all */
	size_t next_mark, next_reading;
};

#define STOPPED 1                  /* a callback has seen enough */

/* ---- filters ---- */

static bool wants_kind(const char *kind)
{
	for (size_t i = 0; i < kinds.count; i++)
		if (!strcmp(kinds.items[i], kind))
			return true;
	return !kinds.count;
}

static bool wants_thread(const struct dump *dump, uint32_t thread)
{
	return !dump->threads || (thread < dump->trace->thread_count && dump->threads[thread]);
}

static bool wants_address(const struct dump *dump, uint64_t address, uint64_t size)
{
	return !dump->has_address || dump->address == address ||
	       (dump->address > address && dump->address - address < size);
}

static void choose_threads(struct dump *dump)
{
	const struct pattern *pattern = &dump->request->query.thread;
	const struct trace *trace = dump->trace;

	if (!pattern->count)
		return;
	dump->threads = memory_zeroed(trace->thread_count, sizeof(bool));
	for (size_t i = 0; i < trace->thread_count; i++) {
		char tid[16];

		snprintf(tid, sizeof(tid), "%" PRIu32, trace->threads[i].tid);
		dump->threads[i] = pattern_matches(pattern, trace->threads[i].name) ||
				   pattern_matches(pattern, tid);
	}
}

static int choose_time(struct dump *dump, struct error *err)
{
	const struct query *query = &dump->request->query;
	struct moment moment;
	int status = 0;

	dump->to_ns = UINT64_MAX;
	if (query->from) {
		status = moment_parse(dump->trace, query->from, &moment, err);
		if (!status && moment.kind == MOMENT_TIME)
			dump->from_ns = moment.time_ns;
	}
	if (!status && query->to) {
		status = moment_parse(dump->trace, query->to, &moment, err);
		if (!status && moment.kind == MOMENT_TIME)
			dump->to_ns = moment.time_ns;
	}
	return status;
}

static int choose(struct dump *dump, struct error *err)
{
	char *end = NULL;

	choose_threads(dump);
	if (address_text) {
		dump->address = strtoull(address_text, &end, 16);
		dump->has_address = true;
		if (end == address_text || *end)
			return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
					 "--address %s: not a hexadecimal number", address_text);
	}
	return choose_time(dump, err);
}

/* ---- stacks ---- */

static const char *mark_words(uint32_t pc)
{
	switch (pc) {
	case TRACE_STACK_PC_CUT: return "[deeper frames were not kept]";
	case TRACE_STACK_PC_LOST: return "[the walk could not go on]";
	case TRACE_STACK_PC_NOT_ASKED: return "[no stack: MEMPROF_DEPTH=0]";
	case TRACE_STACK_PC_BUSY: return "[no stack: the unwinder was busy]";
	default: return "[no stack]";
	}
}

static char *frame_text(const struct trace *trace, uint32_t pc)
{
	const struct trace_pc *place;

	if (pc >= trace->pc_count)
		return memory_string(mark_words(pc));
	place = &trace->pcs[pc];
	if (place->flags & TRACE_PC_UNDEFINED)
		return memory_string("[a program counter that the trace doesn't tell]");
	if (place->module >= 0) {
		const struct trace_module *module = &trace->modules[place->module];

		return memory_format("%s+0x%" PRIx64, path_base(module->path),
				     place->address - module->bias);
	}
	return memory_format("0x%" PRIx64, place->address);
}

static void print_frames(struct dump *dump, uint32_t stack)
{
	const struct trace *trace = dump->trace;

	if (dump->is_json)
		json_list_begin(&dump->json, "frames");
	for (; stack; stack = trace->nodes[stack].parent) {
		char *text = frame_text(trace, trace->nodes[stack].pc);

		if (dump->is_json)
			json_string(&dump->json, NULL, text);
		else
			fprintf(dump->out, "        %s\n", text);
		free(text);
	}
	if (dump->is_json)
		json_array_end(&dump->json);
}

/* ---- lines ---- */

static void begin_line(struct dump *dump, uint64_t time_ns, uint32_t thread, const char *kind)
{
	const struct trace *trace = dump->trace;
	uint32_t tid = thread < trace->thread_count ? trace->threads[thread].tid : 0;

	if (dump->is_json) {
		json_init(&dump->json, dump->out); /* a document a line */
		json_row_begin(&dump->json, NULL);
		json_unsigned(&dump->json, "time_ns", time_ns);
		if (tid)
			json_unsigned(&dump->json, "tid", tid);
		json_string(&dump->json, "kind", kind);
		return;
	}
	fprintf(dump->out, "%5" PRIu64 ".%09" PRIu64 " %7" PRIu32 " %-10s", time_ns / 1000000000,
		time_ns % 1000000000, tid, kind);
}

static void end_line(struct dump *dump)
{
	if (dump->is_json) {
		json_object_end(&dump->json);
		json_end(&dump->json);
	} else {
		fputc('\n', dump->out);
	}
}

static void put_number(struct dump *dump, const char *key, uint64_t value)
{
	if (dump->is_json)
		json_unsigned(&dump->json, key, value);
	else
		fprintf(dump->out, " %s=%" PRIu64, key, value);
}

static void put_address(struct dump *dump, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	if (dump->is_json)
		json_string(&dump->json, key, text);
	else
		fprintf(dump->out, " %s=%s", key, text);
}

static void put_string(struct dump *dump, const char *key, const char *value)
{
	if (dump->is_json)
		json_string(&dump->json, key, value);
	else if (*value)
		fprintf(dump->out, " %s=\"%s\"", key, value);
}

static void end_with_stack(struct dump *dump, uint32_t stack)
{
	put_number(dump, "stack", stack);
	if (wants_frames && dump->is_json)
		print_frames(dump, stack);
	end_line(dump);
	if (wants_frames && !dump->is_json)
		print_frames(dump, stack);
}

/* ---- in the order of time ---- */

static const char *const mark_names[] = {
	[TRACE_MARK_SNAPSHOT] = "snapshot", [TRACE_MARK_EVENT] = "event",
	[TRACE_MARK_RESET] = "reset",       [TRACE_MARK_START] = "start",
	[TRACE_MARK_STOP] = "stop",         [TRACE_MARK_RATE] = "rate",
};

static const char *mark_name(uint32_t kind)
{
	return kind < sizeof(mark_names) / sizeof(*mark_names) && mark_names[kind] ?
		       mark_names[kind] : "unknown";
}

static void print_mark(struct dump *dump, const struct trace_marker *mark)
{
	if (!wants_kind("mark") || mark->time_ns < dump->from_ns || dump->has_address)
		return;
	begin_line(dump, mark->time_ns, UINT32_MAX, "mark");
	put_string(dump, "mark", mark_name(mark->kind));
	put_string(dump, "name", mark->name);
	put_string(dump, "detail", mark->detail);
	if (mark->value)
		put_number(dump, "value", mark->value);
	end_line(dump);
}

static void print_reading(struct dump *dump, const struct trace_reading *reading)
{
	if (!wants_kind("reading") || reading->time_ns < dump->from_ns || dump->has_address)
		return;
	begin_line(dump, reading->time_ns, UINT32_MAX, "reading");
	put_number(dump, "resident", reading->resident);
	put_number(dump, "shared", reading->shared);
	put_number(dump, "virtual", reading->virtual_bytes);
	put_number(dump, "mapped", reading->mapped);
	end_line(dump);
}

/* Marks and readings up to @time_ns. */
static void print_between(struct dump *dump, uint64_t time_ns)
{
	const struct trace *trace = dump->trace;

	if (time_ns > dump->to_ns)
		time_ns = dump->to_ns;
	while (dump->next_mark < trace->mark_count &&
	       trace->marks[dump->next_mark].time_ns <= time_ns)
		print_mark(dump, &trace->marks[dump->next_mark++]);
	while (dump->next_reading < trace->reading_count &&
	       trace->readings[dump->next_reading].time_ns <= time_ns)
		print_reading(dump, &trace->readings[dump->next_reading++]);
}

static const struct {
	unsigned flag;
	const char *name;
} event_flags[] = {
	{ TRACE_EVENT_TEMPORARY, "temporary" }, { TRACE_EVENT_REALLOC, "realloc" },
	{ TRACE_EVENT_INHERITED, "inherited" }, { TRACE_EVENT_BRK, "brk" },
	{ TRACE_EVENT_REPLACED, "missing" },    { TRACE_EVENT_UNKNOWN, "unknown" },
	{ TRACE_EVENT_PART, "part" },
};

static void put_flags(struct dump *dump, unsigned flags)
{
	if (dump->is_json)
		json_list_begin(&dump->json, "flags");
	for (size_t i = 0; i < sizeof(event_flags) / sizeof(*event_flags); i++) {
		if (!(flags & event_flags[i].flag))
			continue;
		if (dump->is_json)
			json_string(&dump->json, NULL, event_flags[i].name);
		else
			fprintf(dump->out, " %s", event_flags[i].name);
	}
	if (dump->is_json)
		json_array_end(&dump->json);
}

static void print_event(struct dump *dump, const struct trace_event *event)
{
	static const char *const names[] = {
		[TRACE_EVENT_ALLOCATE] = "allocate", [TRACE_EVENT_FREE] = "free",
		[TRACE_EVENT_MAP] = "map", [TRACE_EVENT_UNMAP] = "unmap",
	};
	bool is_end = event->kind == TRACE_EVENT_FREE || event->kind == TRACE_EVENT_UNMAP;

	if (event->time_ns < dump->from_ns || !wants_kind(names[event->kind]) ||
	    !wants_thread(dump, event->thread) ||
	    !wants_address(dump, event->address, event->size))
		return;
	begin_line(dump, event->time_ns, event->thread, names[event->kind]);
	put_address(dump, "address", event->address);
	put_number(dump, "size", event->size);
	if (event->rate != 1)
		put_number(dump, "rate", event->rate);
	if (event->scope)
		put_string(dump, "scope", dump->trace->scopes[event->scope]);
	if (is_end && !(event->flags & TRACE_EVENT_INHERITED))
		put_number(dump, "age_ns", event->time_ns - event->birth_ns);
	if (event->free_stack)
		put_number(dump, "free_stack", event->free_stack);
	put_flags(dump, event->flags);
	end_with_stack(dump, event->stack);
}

static int take_events(void *context, const struct trace_event *events, size_t count)
{
	struct dump *dump = context;

	for (size_t i = 0; i < count; i++) {
		if (events[i].time_ns > dump->to_ns || ferror(dump->out))
			return STOPPED;
		print_between(dump, events[i].time_ns);
		print_event(dump, &events[i]);
	}
	return 0;
}

static int dump_by_time(struct dump *dump, struct error *err)
{
	int status = trace_replay(dump->trace, take_events, dump, NULL, err);

	if (status < 0)
		return status;
	print_between(dump, UINT64_MAX);
	return 0;
}

/* ---- as written ---- */

struct field {
	const char *name;
	char type; /* v varint, x varint shown as address, s string, b the rest as text, 1 byte */
};

struct record_kind {
	const char *name;
	struct field fields[10];
};

static const struct record_kind record_kinds[] = {
	[TRACE_KIND_META] = { "meta", { { "key", 's' }, { "value", 'b' } } },
	[TRACE_KIND_MODULE] = { "module", { { "start", 'x' }, { "end", 'x' }, { "bias", 'x' },
		{ "file_bytes", 'v' }, { "mtime", 'v' }, { "device", 'v' }, { "inode", 'v' },
		{ "build_id", 'h' }, { "path", 's' } } },
	[TRACE_KIND_MODULE_GONE] = { "module_gone", { { "start", 'x' } } },
	[TRACE_KIND_PC] = { "pc", { { "id", 'v' }, { "address", 'x' }, { "flags", 'v' } } },
	[TRACE_KIND_THREAD_BEGIN] = { "thread_begin", { { "tid", 'v' } } },
	[TRACE_KIND_THREAD_NAME] = { "thread_name", { { "name", 's' } } },
	[TRACE_KIND_MARK] = { "mark", { { "mark", 'v' }, { "name", 's' }, { "detail", 's' },
		{ "real_ns", 'v' }, { "value", 'v' } } },
	[TRACE_KIND_READING] = { "reading", { { "resident", 'v' }, { "shared", 'v' },
		{ "virtual", 'v' }, { "mapped", 'v' } } },
	[TRACE_KIND_RATE] = { "rate", { { "rate", 'v' } } },
	[TRACE_KIND_LOST] = { "lost", { { "cause", 'v' }, { "events", 'v' } } },
	[TRACE_KIND_RESTART] = { "restart", { { 0 } } },
	[TRACE_KIND_MAP] = { "map", { { "op", '1' }, { "address", 'x' }, { "bytes", 'v' },
		{ "old_address", 'x' }, { "old_bytes", 'v' }, { "prot", 'v' }, { "flags", 'v' },
		{ "fd_plus_1", 'v' }, { "offset", 'v' } } },
	[TRACE_KIND_SCOPE_BEGIN] = { "scope_begin", { { "name", 's' }, { "restated", 'v' } } },
	[TRACE_KIND_SCOPE_END] = { "scope_end", { { 0 } } },
	[TRACE_KIND_FREE_STACK] = { "free_stack", { { 0 } } },
	[TRACE_KIND_END] = { "end", { { "how", '1' } } },
	[TRACE_KIND_CLOCK] = { "clock", { { "ticks", 'v' }, { "mono_ns", 'v' },
		{ "real_ns", 'v' } } },
	[TRACE_KIND_STACK_CHECK] = { "stack_check", { { "sum", '8' } } },
	[TRACE_KIND_USABLE] = { "usable", { { "requested", 'v' }, { "usable", 'v' } } },
	[TRACE_KIND_SMAPS] = { "smaps", { { "real_ns", 'v' } } },
	[TRACE_KIND_MODULE_NAMES] = { "module_names", { { "start", 'x' }, { "build_id", 'h' },
		{ "part", 'v' }, { "parts", 'v' } } },
	[TRACE_KIND_LANE_TOTALS] = { "lane_totals", { { "allocations", 'v' }, { "frees", 'v' } } },
};

/* What can be shown of bytes that a stranger wrote; to be freed. */
static char *printable(const uint8_t *bytes, size_t count)
{
	char *text = memory_zeroed(count + 1, 1);

	for (size_t i = 0; i < count; i++)
		text[i] = bytes[i] == 0 ? ' ' : bytes[i] < 32 || bytes[i] == 127 ? '?' :
						(char)bytes[i];
	return text;
}

static char *hexadecimal(const uint8_t *bytes, size_t count)
{
	char *text = memory_zeroed(2 * count + 1, 1);

	for (size_t i = 0; i < count; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

static void put_text(struct dump *dump, const char *key, char *text)
{
	put_string(dump, key, text);
	free(text);
}

static void put_field(struct dump *dump, const struct field *field, struct cursor *payload)
{
	const uint8_t *bytes;
	size_t count;

	switch (field->type) {
	case 'v':
		put_number(dump, field->name, cursor_varint(payload));
		break;
	case 'x':
		put_address(dump, field->name, cursor_varint(payload));
		break;
	case '1':
		put_number(dump, field->name, cursor_u8(payload));
		break;
	case '8':
		put_address(dump, field->name, cursor_u64(payload));
		break;
	case 'b':
		put_text(dump, field->name, printable(payload->at, cursor_left(payload)));
		break;
	default:
		bytes = cursor_string(payload, &count);
		put_text(dump, field->name, field->type == 'h' ? hexadecimal(bytes, count) :
								 printable(bytes, count));
		break;
	}
}

static const char *record_name(const struct trace_record *record)
{
	static const char *const ops[] = { "", "allocate", "free", "reallocate" };

	if (record->op != TRACE_OP_EXTENDED)
		return ops[record->op];
	if (record->kind < sizeof(record_kinds) / sizeof(*record_kinds) &&
	    record_kinds[record->kind].name)
		return record_kinds[record->kind].name;
	return "unknown";
}

static void put_payload(struct dump *dump, const struct trace_record *record)
{
	struct cursor payload = { .at = record->payload,
				  .end = record->payload + record->payload_bytes };

	if (record->kind >= sizeof(record_kinds) / sizeof(*record_kinds) ||
	    !record_kinds[record->kind].name) {
		put_number(dump, "record_kind", record->kind);
		put_number(dump, "bytes", record->payload_bytes);
		return;
	}
	for (const struct field *field = record_kinds[record->kind].fields; field->name; field++)
		put_field(dump, field, &payload);
}

static void put_event_fields(struct dump *dump, const struct trace_record *record)
{
	if (record->op == TRACE_OP_REALLOCATE)
		put_address(dump, "old", record->old_address);
	put_address(dump, "address", record->address);
	if (record->op != TRACE_OP_FREE)
		put_number(dump, "size", record->size);
	if (record->notes & TRACE_NOTE_TEMPORARY)
		put_string(dump, "note", "temporary");
}

static bool wants_record(const struct dump *dump, const struct trace_record *record)
{
	if (record->time_ns < dump->from_ns || record->time_ns > dump->to_ns ||
	    !wants_kind(record_name(record)) || !wants_thread(dump, record->thread))
		return false;
	return !dump->has_address ||
	       (record->op != TRACE_OP_EXTENDED &&
		(wants_address(dump, record->address, record->size) ||
		 (record->op == TRACE_OP_REALLOCATE && record->old_address == dump->address)));
}

static int take_record(void *context, const struct trace_record *record)
{
	struct dump *dump = context;
	bool has_stack = record->op == TRACE_OP_ALLOCATE || record->op == TRACE_OP_REALLOCATE ||
			 (record->op == TRACE_OP_EXTENDED && record->kind == TRACE_KIND_MAP);

	if (ferror(dump->out))
		return STOPPED;
	if (!wants_record(dump, record))
		return 0;
	begin_line(dump, record->time_ns, record->is_outside ? UINT32_MAX : record->thread,
		   record_name(record));
	put_number(dump, "offset", record->offset);
	if (dump->is_json && record->in_companion)
		json_bool(&dump->json, "in_companion", true);
	put_number(dump, "lane", record->lane);
	put_number(dump, "piece", record->sequence);
	if (record->op == TRACE_OP_EXTENDED)
		put_payload(dump, record);
	else
		put_event_fields(dump, record);
	if (has_stack)
		end_with_stack(dump, record->stack);
	else
		end_line(dump);
	return 0;
}

VIEW_SHOW(view_dump)
{
	int status = 0;

	for (size_t i = 0; i < set->count && !status; i++) {
		struct dump dump = { .request = request, .trace = set->members[i].trace,
				     .out = request->out,
				     .is_json = request->format == FORMAT_JSON };

		status = choose(&dump, err);
		if (!status && raw_order)
			trace_each_record(dump.trace, TRACE_RECORDS_ALL, take_record, &dump);
		else if (!status)
			status = dump_by_time(&dump, err);
		free(dump.threads);
	}
	return status;
}
