/*
 * pprof's profile.proto, gzipped (github.com/google/pprof, proto/profile.proto).
 * The message is written by hand: it is flat, and a field is a number and a
 * value. Names are inside, so that pprof asks nobody for them; addresses are
 * those of the first trace.
 */
#include "view/export.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- protocol buffers ---- */

struct message {
	uint8_t *bytes;
	size_t count, room;
};

static void message_add(struct message *message, const void *bytes, size_t count)
{
	if (message->count + count > message->room) {
		message->room = (message->count + count) * 2 + 256;
		message->bytes = memory_resize(message->bytes, message->room, 1);
	}
	if (count)
		memcpy(message->bytes + message->count, bytes, count);
	message->count += count;
}

static void add_base128(struct message *message, uint64_t value)
{
	uint8_t bytes[10];
	size_t count = 0;

	while (value >= 0x80) {
		bytes[count++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[count++] = (uint8_t)value;
	message_add(message, bytes, count);
}

static void add_number(struct message *message, unsigned field, uint64_t value)
{
	if (!value)
		return; /* 0 is what is not there */
	add_base128(message, field << 3);
	add_base128(message, value);
}

static void add_bytes(struct message *message, unsigned field, const void *bytes, size_t count)
{
	add_base128(message, field << 3 | 2);
	add_base128(message, count);
	message_add(message, bytes, count);
}

/* Adds @part and empties it. */
static void add_message(struct message *message, unsigned field, struct message *part)
{
	add_bytes(message, field, part->bytes, part->count);
	part->count = 0;
}

/* ---- tables by pointer or text ---- */

struct table_slot {
	uint64_t a, b;
	uint64_t id;               /* 0 = free */
};

struct id_table {
	struct table_slot *slots;
	size_t size, count;
};

static struct table_slot *table_find(struct id_table *table, uint64_t a, uint64_t b)
{
	uint64_t hash = (a * 0x9e3779b97f4a7c15ull ^ b) * 0x9e3779b97f4a7c15ull;
	size_t at;

	if (table->count * 2 >= table->size) {
		struct id_table old = *table;

		table->size = old.size ? old.size * 2 : 1024;
		table->slots = memory_zeroed(table->size, sizeof(*table->slots));
		table->count = 0;
		for (size_t i = 0; i < old.size; i++)
			if (old.slots[i].id) {
				*table_find(table, old.slots[i].a, old.slots[i].b) = old.slots[i];
				table->count++;
			}
		free(old.slots);
	}
	for (at = (size_t)(hash >> 20) & (table->size - 1); table->slots[at].id;
	     at = (at + 1) & (table->size - 1))
		if (table->slots[at].a == a && table->slots[at].b == b)
			break;
	return &table->slots[at];
}

/* The id of (a, b); *@is_new when it was made just now. */
static uint64_t table_id(struct id_table *table, uint64_t a, uint64_t b, bool *is_new)
{
	struct table_slot *slot = table_find(table, a, b);

	*is_new = !slot->id;
	if (*is_new)
		*slot = (struct table_slot){ a, b, ++table->count };
	return slot->id;
}

/* ---- the profile ---- */

struct pprof {
	struct export_job *job;
	struct message all, part, inner;
	struct message strings;    /* fields of `all`, put at its end */
	struct id_table string_ids, function_ids, location_ids, mapping_ids;
	uint64_t string_count;
};

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRINGS = 6, PROFILE_TIME_NS = 9, PROFILE_DURATION_NS = 10,
	PROFILE_PERIOD_TYPE = 11, PROFILE_PERIOD = 12, PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};

static uint64_t text_key(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
	return hash;
}

/* Strings of names are pooled, others are few: the text's hash and length serve. */
static uint64_t string_id(struct pprof *pprof, const char *text)
{
	bool is_new;
	uint64_t id;

	if (!text || !*text)
		return 0;
	id = table_id(&pprof->string_ids, text_key(text), strlen(text), &is_new);
	if (is_new)
		add_bytes(&pprof->strings, PROFILE_STRINGS, text, strlen(text));
	return id;
}

static void value_type(struct pprof *pprof, unsigned field, const char *type, const char *unit)
{
	add_number(&pprof->part, 1, string_id(pprof, type));
	add_number(&pprof->part, 2, string_id(pprof, unit));
	add_message(&pprof->all, field, &pprof->part);
}

static const struct pprof_type {
	const char *name, *unit;
	enum metric metric;
	bool by_count;
} types[] = {
	{ "alloc_objects", "count", METRIC_ALLOCATED, true },
	{ "alloc_space", "bytes", METRIC_ALLOCATED, false },
	{ "inuse_objects", "count", METRIC_LIVE, true },
	{ "inuse_space", "bytes", METRIC_LIVE, false },
	{ "peak_objects", "count", METRIC_PEAK, true },
	{ "peak_space", "bytes", METRIC_PEAK, false },
	{ "temporary_objects", "count", METRIC_TEMPORARY, true },
	{ "temporary_space", "bytes", METRIC_TEMPORARY, false },
};

#define TYPES (sizeof(types) / sizeof(*types))

static const struct trace_module *module_by_path(const struct pprof *pprof, const char *path)
{
	for (size_t t = 0; t < pprof->job->profile->trace_count; t++) {
		const struct trace *trace = pprof->job->profile->traces[t].trace;

		for (size_t i = 0; i < trace->module_count; i++)
			if (!strcmp(trace->modules[i].path, path))
				return &trace->modules[i];
	}
	return NULL;
}

/* Mappings of different traces may overlap: each gets a span of its own. */
#define MAPPING_SPAN (1ull << 40)

static uint64_t mapping_id(struct pprof *pprof, const char *path)
{
	const struct trace_module *module;
	char build_id[129] = "";
	bool is_new;
	uint64_t id;

	if (!path)
		return 0;
	id = table_id(&pprof->mapping_ids, text_key(path), strlen(path), &is_new);
	if (!is_new)
		return id;
	module = module_by_path(pprof, path);
	for (unsigned i = 0; module && i < module->build_id_bytes; i++)
		snprintf(build_id + 2 * i, 3, "%02x", module->build_id[i]);
	add_number(&pprof->part, 1, id);
	add_number(&pprof->part, 2, id * MAPPING_SPAN);
	add_number(&pprof->part, 3, (id + 1) * MAPPING_SPAN);
	add_number(&pprof->part, 5, string_id(pprof, path));
	add_number(&pprof->part, 6, string_id(pprof, build_id));
	for (unsigned has = 7; has <= 10; has++)
		add_number(&pprof->part, has, 1);
	add_message(&pprof->all, PROFILE_MAPPING, &pprof->part);
	return id;
}

static uint64_t function_id(struct pprof *pprof, const struct profile_frame *frame)
{
	bool is_new;
	const char *name = frame->function;
	char place[32];
	uint64_t id;

	if (!name) {
		snprintf(place, sizeof(place), "0x%llx", (unsigned long long)frame->module_offset);
		name = place;
	}
	id = table_id(&pprof->function_ids, text_key(name),
		      frame->file ? text_key(frame->file) : 0, &is_new);
	if (!is_new)
		return id;
	add_number(&pprof->inner, 1, id);
	add_number(&pprof->inner, 2, string_id(pprof, name));
	add_number(&pprof->inner, 3, string_id(pprof, name));
	add_number(&pprof->inner, 4, string_id(pprof, frame->file));
	add_message(&pprof->all, PROFILE_FUNCTION, &pprof->inner);
	return id;
}

/* A location is one address with the functions inlined there, innermost first. */
static uint64_t location_id(struct pprof *pprof, const struct profile_frame *frames, size_t count)
{
	uint64_t mapping = mapping_id(pprof, frames[0].module);
	uint64_t key = mapping * MAPPING_SPAN + frames[0].module_offset;
	bool is_new;
	uint64_t id = table_id(&pprof->location_ids, key,
			       frames[0].module ? count : text_key(frames[0].function ?
									   frames[0].function : ""),
			       &is_new);
	struct message location = { 0 };

	if (!is_new)
		return id;
	add_number(&location, 1, id);
	add_number(&location, 2, mapping);
	add_number(&location, 3, key);
	for (size_t i = 0; i < count; i++) {
		uint64_t function = function_id(pprof, &frames[i]);

		add_number(&pprof->inner, 1, function);
		add_number(&pprof->inner, 2, frames[i].line);
		add_message(&location, 4, &pprof->inner);
	}
	add_message(&pprof->all, PROFILE_LOCATION, &location);
	free(location.bytes);
	return id;
}

static void add_label(struct pprof *pprof, struct message *sample, const char *key,
		      const char *text)
{
	add_number(&pprof->inner, 1, string_id(pprof, key));
	add_number(&pprof->inner, 2, string_id(pprof, text));
	add_message(sample, 3, &pprof->inner);
}

static void add_process(struct pprof *pprof, struct message *sample,
			const struct profile_stack *stack)
{
	const struct trace_info *info = &pprof->job->profile->traces[stack->member].trace->info;
	char text[320];

	snprintf(text, sizeof(text), "%.256s %llu", path_base(info->exe),
		 (unsigned long long)info->pid);
	add_label(pprof, sample, "process", text);
}

static void add_stack(struct pprof *pprof, const struct profile_site *site,
		      const struct profile_stack *stack)
{
	struct profile *profile = pprof->job->profile;
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, stack, &frames), first = 0;
	struct message sample = { 0 }, ids = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (frames[i].is_inlined && i + 1 < count)
			continue;
		add_base128(&ids, location_id(pprof, &frames[first], i - first + 1));
		first = i + 1;
	}
	add_message(&sample, 1, &ids);
	for (size_t t = 0; t < TYPES; t++)
		add_base128(&ids, (uint64_t)(number_value(&stack->tally.of[types[t].metric],
							   types[t].by_count) + 0.5));
	add_message(&sample, 2, &ids);
	if (site->label)
		add_label(pprof, &sample, query_by_names[profile->query->by], site->label);
	if (profile->trace_count > 1 && profile->query->by != BY_PROCESS)
		add_process(pprof, &sample, stack);
	add_message(&pprof->all, PROFILE_SAMPLE, &sample);
	free(sample.bytes);
	free(ids.bytes);
}

static const char *default_type(const struct query *query)
{
	for (size_t t = 0; t < TYPES; t++)
		if (types[t].metric == query->sort && types[t].by_count == query->by_count)
			return types[t].name;
	return types[1].name;
}

static void add_facts(struct pprof *pprof)
{
	const struct profile *profile = pprof->job->profile;
	const struct trace_info *info = &profile->traces[0].trace->info;

	for (size_t t = 0; t < TYPES; t++)
		value_type(pprof, PROFILE_SAMPLE_TYPE, types[t].name, types[t].unit);
	value_type(pprof, PROFILE_PERIOD_TYPE, "space", "bytes");
	add_number(&pprof->all, PROFILE_PERIOD, info->rate_bytes);
	add_number(&pprof->all, PROFILE_TIME_NS, info->start_unix_ns);
	add_number(&pprof->all, PROFILE_DURATION_NS, info->duration_ns);
	add_number(&pprof->all, PROFILE_DEFAULT_TYPE,
		   string_id(pprof, default_type(profile->query)));
	if (!profile->exact)
		add_number(&pprof->all, PROFILE_COMMENT,
			   string_id(pprof, "sampled: values are estimates, already scaled"));
	mapping_id(pprof, info->exe && *info->exe ? info->exe : NULL);
}

static int write_gzip(FILE *out, const struct message *message, struct error *err)
{
	z_stream stream = { 0 };
	uint8_t buffer[65536];
	int state = Z_OK;

	if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return error_set(err, ERROR_MEMORY, NULL, ERROR_NO_OFFSET, "out of memory");
	stream.next_in = message->bytes;
	stream.avail_in = (uInt)message->count;
	while (state != Z_STREAM_END) {
		stream.next_out = buffer;
		stream.avail_out = sizeof(buffer);
		state = deflate(&stream, Z_FINISH);
		fwrite(buffer, 1, sizeof(buffer) - stream.avail_out, out);
	}
	deflateEnd(&stream);
	return 0;
}

int export_pprof(struct export_job *job, struct error *err)
{
	struct pprof pprof = { .job = job };
	int status;

	add_bytes(&pprof.strings, PROFILE_STRINGS, "", 0);
	add_facts(&pprof);
	for (size_t i = 0; i < job->profile->site_count; i++) {
		const struct profile_site *site = &job->profile->sites[i];

		for (size_t s = 0; site->kind == TALLY_HEAP && s < site->stack_count; s++)
			add_stack(&pprof, site, &site->stacks[s]);
	}
	message_add(&pprof.all, pprof.strings.bytes, pprof.strings.count);
	status = write_gzip(job->out, &pprof.all, err);
	free(pprof.all.bytes);
	free(pprof.part.bytes);
	free(pprof.inner.bytes);
	free(pprof.strings.bytes);
	free(pprof.string_ids.slots);
	free(pprof.function_ids.slots);
	free(pprof.location_ids.slots);
	free(pprof.mapping_ids.slots);
	return status;
}
