/*
 * What the header says. pid, proc_start and boot_id come first: whoever wants to
 * know only whether the file's owner still runs reads its first kilobyte.
 */
#define _GNU_SOURCE
#include "trace_header.h"

#include <string.h>
#include <sys/resource.h>

#include <memprof/version.h>

#include "clock.h"
#include "companion.h"
#include "modules.h"
#include "os.h"
#include "process_facts.h"
#include "record_store.h"
#include "settings.h"

#define COMMAND_BYTES_MAX 12000
#define FACTS_MAX 16
#define FACT_BYTES_MAX 1000

static struct {
	const char *key;
	char value[FACT_BYTES_MAX + 1];
} noted_facts[FACTS_MAX];

/* Long texts on their way into a record; one header is made at a time. */
static char scratch[COMMAND_BYTES_MAX + 1];

static void meta_bytes(struct record_cursor *cursor, const char *key, const void *value,
		       size_t bytes)
{
	record_begin(cursor, TRACE_KIND_META);
	record_string(cursor, key, strlen(key));
	record_bytes(cursor, value, bytes);
	record_end(cursor);
}

void meta_text(struct record_cursor *cursor, const char *key, const char *value)
{
	meta_bytes(cursor, key, value, strlen(value));
}

void meta_number(struct record_cursor *cursor, const char *key, unsigned long value)
{
	char text[24];

	meta_bytes(cursor, key, text, text_format(text, sizeof(text), "%lu", value));
}

void header_note_fact(const char *key, const char *value)
{
	for (unsigned i = 0; i < FACTS_MAX; i++) {
		if (noted_facts[i].key && !text_equal(noted_facts[i].key, key))
			continue;
		text_format(noted_facts[i].value, sizeof(noted_facts[i].value), "%s", value);
		noted_facts[i].key = key;
		return;
	}
}

static void store_identity(struct record_cursor *cursor, const struct process_facts *facts)
{
	meta_number(cursor, "pid", facts->pid);
	meta_number(cursor, "proc_start", facts->proc_start);
	meta_text(cursor, "boot_id", facts->boot_id);
	meta_text(cursor, "version", MEMPROF_VERSION);
	meta_number(cursor, "ppid", facts->ppid);
	meta_number(cursor, "tid", facts->tid);
	meta_number(cursor, "image", facts->image);
	meta_text(cursor, "host", facts->host);
	if (facts->nspids[0])
		meta_text(cursor, "nspid", facts->nspids);
	meta_text(cursor, "exe", facts->exe);
}

/* The arguments as the kernel keeps them: NUL behind each. */
static void store_command(struct record_cursor *cursor)
{
	long bytes = os_read_file("/proc/self/cmdline", scratch, sizeof(scratch));

	while (bytes > 0 && !scratch[bytes - 1])
		bytes--;
	if (bytes > 0)
		meta_bytes(cursor, "command", scratch, (size_t)bytes);
}

static void store_clock(struct record_cursor *cursor, const struct clock_reading *start)
{
	bool is_known;
	uint64_t rate = clock_ticks_per_second(&is_known);

	meta_text(cursor, "clock", clock_source_name());
	meta_number(cursor, "ticks_per_second", is_known ? rate : 0);
	meta_number(cursor, "start_unix_ns", start->real_ns);
	meta_number(cursor, "start_ticks", start->ticks);
	meta_number(cursor, "start_mono_ns", start->mono_ns);
}

/* The rate in force: a child of fork starts with what its parent was told. */
static void store_settings(struct record_cursor *cursor)
{
	const struct settings *settings = settings_get();

	meta_number(cursor, "rate", control_rate_bytes());
	meta_number(cursor, "depth", settings->depth);
	settings_text(settings, scratch, sizeof(scratch));
	meta_text(cursor, "settings", scratch);
}

static void store_stack_bounds(struct record_cursor *cursor, const struct process_facts *facts)
{
	struct rlimit limit;

	if (!facts->stack_hi || os_call2(SYS_getrlimit, RLIMIT_STACK, &limit) != 0 ||
	    limit.rlim_cur >= facts->stack_hi)
		return;
	meta_number(cursor, "stack_lo", facts->stack_hi - limit.rlim_cur);
	meta_number(cursor, "stack_hi", facts->stack_hi);
}

static void store_noted(struct record_cursor *cursor)
{
	for (unsigned i = 0; i < FACTS_MAX && noted_facts[i].key; i++)
		meta_text(cursor, noted_facts[i].key, noted_facts[i].value);
}

void trace_header_store(const struct trace_header *header, struct record_cursor *cursor)
{
	store_identity(cursor, header->facts);
	store_clock(cursor, header->start);
	store_settings(cursor);
	if (header->parent_trace) {
		meta_number(cursor, "forked", 1);
		meta_text(cursor, "parent_trace", header->parent_trace);
	}
	if (header->companion)
		meta_text(cursor, "companion", header->companion);
	store_stack_bounds(cursor, header->facts);
	store_noted(cursor);
	store_command(cursor);
	if (header->with_modules)
		modules_store_loaded(cursor);
}
