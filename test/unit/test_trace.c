/* LINK: analyzer */
/*
 * Opening and replaying traces that trace_builder made.
 */
#include "trace/trace.h"
#include "trace_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define EVENTS_MAX 100000

struct heard {
	struct trace_event *events;
	size_t count;
};

static int hear(void *context, const struct trace_event *events, size_t count)
{
	struct heard *heard = context;

	assert_true(heard->count + count <= EVENTS_MAX);
	memcpy(heard->events + heard->count, events, count * sizeof(*events));
	heard->count += count;
	return 0;
}

struct fixture {
	struct trace_builder *b;
	char path[4096];
	struct trace *trace;
	struct heard heard;
	struct trace_replay_stats stats;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const char *folder = getenv("TMPDIR");

	snprintf(f->path, sizeof(f->path), "%s/test_trace.%d.trace", folder ? folder : "/tmp",
		 (int)getpid());
	f->b = trace_builder_new();
	f->heard.events = calloc(EVENTS_MAX, sizeof(*f->heard.events));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char companion[4096];
	char *slash = strrchr(f->path, '/');

	trace_close(f->trace);
	trace_builder_free_all(f->b);
	unlink(f->path);
	snprintf(companion, sizeof(companion), "%.*s/.%s.live", (int)(slash - f->path), f->path,
		 slash + 1);
	unlink(companion);
	free(f->heard.events);
	free(f);
	return 0;
}

static void open_trace(struct fixture *f)
{
	struct error err;

	assert_int_equal(trace_open(f->path, &f->trace, &err), 0);
}

static void replay(struct fixture *f)
{
	struct error err;

	if (!f->trace)
		open_trace(f);
	f->heard.count = 0;
	assert_int_equal(trace_replay(f->trace, hear, &f->heard, &f->stats, &err), 0);
}

static void write_and_replay(struct fixture *f)
{
	trace_builder_write(f->b, f->path);
	replay(f);
}

static const struct trace_event *event(const struct fixture *f, size_t i)
{
	assert_true(i < f->heard.count);
	return &f->heard.events[i];
}

static uint64_t stack_frame(const struct fixture *f, uint32_t stack, unsigned depth)
{
	while (depth--)
		stack = f->trace->nodes[stack].parent;
	if (f->trace->nodes[stack].pc >= f->trace->pc_count)
		return f->trace->nodes[stack].pc;
	return f->trace->pcs[f->trace->nodes[stack].pc].address;
}

#define STACK(...)                                                                                 \
	(uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

static void a_free_carries_what_its_allocation_said(void **state)
{
	struct fixture *f = *state;

	trace_builder_stack(f->b, STACK(0x401010, 0x401020, 0x401030));
	trace_builder_at(f->b, 6400);
	trace_builder_allocate(f->b, 0x10000, 24);
	trace_builder_at(f->b, 12800);
	trace_builder_free(f->b, 0x10000);
	write_and_replay(f);

	assert_int_equal(f->heard.count, 2);
	assert_int_equal(event(f, 0)->kind, TRACE_EVENT_ALLOCATE);
	assert_int_equal(event(f, 0)->size, 24);
	assert_int_equal(event(f, 0)->rate, 1);
	assert_int_equal(event(f, 0)->time_ns, 6400);
	assert_int_equal(event(f, 1)->kind, TRACE_EVENT_FREE);
	assert_int_equal(event(f, 1)->flags, TRACE_EVENT_TEMPORARY);
	assert_int_equal(event(f, 1)->size, 24);
	assert_int_equal(event(f, 1)->stack, event(f, 0)->stack);
	assert_int_equal(event(f, 1)->birth_ns, 6400);
	assert_int_equal(event(f, 1)->time_ns, 12800);
	assert_int_equal(stack_frame(f, event(f, 0)->stack, 0), 0x401010);
	assert_int_equal(stack_frame(f, event(f, 0)->stack, 1), 0x401020);
	assert_int_equal(stack_frame(f, event(f, 0)->stack, 2), 0x401030);
	assert_int_equal(f->stats.allocations, 1);
	assert_int_equal(f->stats.frees, 1);
	assert_true(f->trace->info.complete);
	assert_int_equal(f->trace->fault_count, 0);
}

static void the_process_is_told_as_it_was(void **state)
{
	struct fixture *f = *state;

	trace_builder_write(f->b, f->path);
	open_trace(f);
	assert_int_equal(f->trace->info.pid, 4242);
	assert_string_equal(f->trace->info.exe, "/bin/app");
	assert_string_equal(f->trace->info.command[0], "app");
	assert_string_equal(f->trace->info.command[1], "--flag");
	assert_null(f->trace->info.command[2]);
	assert_true(f->trace->info.exact);
	assert_int_equal(f->trace->module_count, 2);
	assert_string_equal(f->trace->modules[1].path, "/lib/libc.so");
	assert_int_equal(f->trace->modules[1].build_id_bytes, 20);
}

static int count_live(void *context, const struct trace_event *allocation)
{
	struct trace_event *sum = context;

	sum->size += allocation->size;
	sum->address++;
	return 0;
}

static void what_is_not_freed_is_live(void **state)
{
	struct fixture *f = *state;
	struct trace_event sum = {0};

	trace_builder_stack(f->b, STACK(0x401010));
	for (unsigned i = 0; i < 20000; i++) {
		trace_builder_at(f->b, i * 100);
		trace_builder_allocate(f->b, 0x10000 + i * 16ull, i % 100);
		if (i % 3 == 0)
			trace_builder_free(f->b, 0x10000 + i * 16ull);
	}
	write_and_replay(f);
	trace_live_blocks(f->trace, count_live, &sum);
	assert_int_equal(sum.address, 20000 - 6667);
	assert_int_equal(f->stats.frees, 6667);
	assert_int_equal(f->heard.count, 26667);
}

static void a_realloc_is_a_free_and_an_allocation(void **state)
{
	struct fixture *f = *state;

	trace_builder_stack(f->b, STACK(0x401010));
	trace_builder_allocate(f->b, 0x10000, 10);
	trace_builder_reallocate(f->b, 0x10000, 0x10000, 20);
	trace_builder_reallocate(f->b, 0x10000, 0x20000, 30);
	trace_builder_free(f->b, 0x20000);
	write_and_replay(f);
	assert_int_equal(f->heard.count, 6);
	assert_int_equal(event(f, 1)->kind, TRACE_EVENT_FREE);
	assert_int_equal(event(f, 1)->flags, TRACE_EVENT_REALLOC | TRACE_EVENT_TEMPORARY);
	assert_int_equal(event(f, 1)->size, 10);
	assert_int_equal(event(f, 2)->size, 20);
	assert_int_equal(event(f, 2)->flags, TRACE_EVENT_REALLOC);
	assert_int_equal(event(f, 3)->size, 20);
	assert_int_equal(event(f, 4)->address, 0x20000);
	assert_int_equal(event(f, 5)->size, 30);
	assert_int_equal(f->stats.reallocations, 2);
}

static void a_free_that_comes_early_waits_for_its_allocation(void **state)
{
	struct fixture *f = *state;

	trace_builder_stack(f->b, STACK(0x401010));
	trace_builder_at(f->b, 10000);
	trace_builder_allocate(f->b, 0x10000, 10);
	trace_builder_at(f->b, 9000);
	trace_builder_lane(f->b, 2, 101);
	trace_builder_free(f->b, 0x10000);
	write_and_replay(f);
	assert_int_equal(f->heard.count, 2);
	assert_int_equal(event(f, 0)->kind, TRACE_EVENT_ALLOCATE);
	assert_int_equal(event(f, 1)->kind, TRACE_EVENT_FREE);
	assert_int_equal(event(f, 1)->size, 10);
	assert_int_equal(event(f, 1)->flags, 0);
	assert_int_equal(f->stats.order_repairs, 1);
	assert_int_equal(f->stats.inherited_frees, 0);
}

/* A block from before a start is freed, and its address allocated again at once. */
static void a_free_is_not_that_of_its_threads_later_allocation(void **state)
{
	struct fixture *f = *state;

	trace_builder_stack(f->b, STACK(0x401010));
	trace_builder_at(f->b, 9000);
	trace_builder_lane(f->b, 2, 101);
	trace_builder_allocate(f->b, 0x20000, 20);
	trace_builder_lane(f->b, 1, 100);
	trace_builder_at(f->b, 9000);
	trace_builder_free(f->b, 0x10000);
	trace_builder_at(f->b, 9100);
	trace_builder_allocate(f->b, 0x10000, 10);
	write_and_replay(f);
	assert_int_equal(f->stats.order_repairs, 0);
	assert_int_equal(f->stats.inherited_frees, 1);
	assert_int_equal(event(f, 2)->flags, TRACE_EVENT_INHERITED);
	assert_int_equal(event(f, 2)->size, 0);
	assert_int_equal(f->stats.allocations, 2);
}

static void an_allocation_waits_for_the_free_that_gave_it_its_address(void **state)
{
	struct fixture *f = *state;

	trace_builder_stack(f->b, STACK(0x401010));
	trace_builder_allocate(f->b, 0x10000, 10);
	trace_builder_at(f->b, 20000);
	trace_builder_reallocate(f->b, 0x10000, 0x20000, 30);
	trace_builder_at(f->b, 19000);
	trace_builder_lane(f->b, 2, 101);
	trace_builder_allocate(f->b, 0x10000, 77);
	write_and_replay(f);
	assert_int_equal(f->heard.count, 4);
	assert_int_equal(event(f, 1)->kind, TRACE_EVENT_FREE);
	assert_int_equal(event(f, 1)->size, 10);
	assert_int_equal(event(f, 2)->size, 77);
	assert_int_equal(event(f, 3)->size, 30);
	assert_int_equal(f->stats.replaced, 0);
	assert_int_equal(f->stats.order_repairs, 1);
}

static void a_lost_free_is_made_up(void **state)
{
	struct fixture *f = *state;

	trace_builder_stack(f->b, STACK(0x401010));
	trace_builder_allocate(f->b, 0x10000, 10);
	trace_builder_at(f->b, 1000);
	trace_builder_allocate(f->b, 0x10000, 20);
	write_and_replay(f);
	assert_int_equal(f->heard.count, 3);
	assert_int_equal(event(f, 1)->flags, TRACE_EVENT_REPLACED);
	assert_int_equal(f->stats.replaced, 1);
}

static void a_free_of_an_unknown_block_is_inherited(void **state)
{
	struct fixture *f = *state;

	trace_builder_lane(f->b, 2, 101);
	trace_builder_free(f->b, 0x30000);
	trace_builder_lane(f->b, 1, 100);
	trace_builder_free(f->b, 0x10000);
	write_and_replay(f);
	assert_int_equal(f->heard.count, 2);
	assert_int_equal(event(f, 0)->flags, TRACE_EVENT_INHERITED);
	assert_int_equal(f->stats.inherited_frees, 2);
}

static void a_stop_makes_live_blocks_unknown(void **state)
{
	struct fixture *f = *state;
	struct trace_event sum = {0};

	trace_builder_stack(f->b, STACK(0x401010));
	trace_builder_allocate(f->b, 0x10000, 10);
	trace_builder_map(f->b, TRACE_MAP_MMAP, 0x7000000, 8192, 0, 0);
	trace_builder_at(f->b, 1000);
	trace_builder_mark(f->b, TRACE_MARK_STOP, "", "", 0);
	trace_builder_at(f->b, 2000);
	trace_builder_mark(f->b, TRACE_MARK_START, "", "", 0);
	trace_builder_free(f->b, 0x10000);
	trace_builder_allocate(f->b, 0x20000, 5);
	write_and_replay(f);
	assert_int_equal(f->heard.count, 6);
	assert_int_equal(event(f, 2)->flags, TRACE_EVENT_UNKNOWN);
	assert_int_equal(event(f, 2)->size, 10);
	assert_int_equal(event(f, 3)->kind, TRACE_EVENT_UNMAP);
	assert_int_equal(event(f, 3)->flags, TRACE_EVENT_UNKNOWN);
	assert_int_equal(event(f, 4)->flags, TRACE_EVENT_INHERITED);
	trace_live_blocks(f->trace, count_live, &sum);
	assert_int_equal(sum.size, 5);
}

static void maps_lose_parts(void **state)
{
	struct fixture *f = *state;
	struct trace_event sum = {0};

	trace_builder_stack(f->b, STACK(0x401010));
	trace_builder_map(f->b, TRACE_MAP_MMAP, 0x100000, 0xa000, 0, 0);
	trace_builder_map(f->b, TRACE_MAP_MUNMAP, 0x104000, 0x3000, 0, 0);
	trace_builder_map(f->b, TRACE_MAP_MUNMAP, 0x100000, 0x4000, 0, 0);
	trace_builder_map(f->b, TRACE_MAP_MMAP, 0x108000, 0x1000, 0, 0);
	trace_builder_map(f->b, TRACE_MAP_MREMAP, 0x300000, 0x2000, 0x108000, 0x1000);
	write_and_replay(f);
	/* 0: map, 1: middle gone, 2: head gone, 3: over the tail's second page, ... */
	assert_int_equal(event(f, 1)->size, 0x3000);
	assert_int_equal(event(f, 1)->flags, TRACE_EVENT_PART);
	assert_int_equal(event(f, 2)->size, 0x4000);
	assert_int_equal(event(f, 2)->flags, TRACE_EVENT_PART);
	assert_int_equal(event(f, 3)->kind, TRACE_EVENT_UNMAP);
	assert_int_equal(event(f, 3)->size, 0x1000);
	assert_int_equal(event(f, 4)->kind, TRACE_EVENT_MAP);
	assert_int_equal(event(f, 5)->kind, TRACE_EVENT_UNMAP);
	assert_int_equal(event(f, 5)->flags, TRACE_EVENT_REALLOC);
	assert_int_equal(event(f, 6)->size, 0x2000);
	trace_live_blocks(f->trace, count_live, &sum);
	assert_int_equal(sum.size, 0x1000 + 0x1000 + 0x2000);
}

static void many_lanes_come_out_in_the_order_of_time(void **state)
{
	struct fixture *f = *state;

	trace_builder_stack(f->b, STACK(0x401010, 0x401020));
	for (unsigned i = 0; i < 3000; i++) {
		trace_builder_lane(f->b, 1 + i * 7 % 100, 100 + i * 7 % 100);
		trace_builder_at(f->b, i * 1000);
		trace_builder_allocate(f->b, 0x10000 + i * 16ull, i);
	}
	write_and_replay(f);
	assert_int_equal(f->heard.count, 3000);
	for (unsigned i = 0; i < 3000; i++)
		assert_int_equal(event(f, i)->size, i);
	assert_int_equal(f->trace->thread_count, 101);
}

static void a_killed_process_is_joined_with_its_companion(void **state)
{
	struct fixture *f = *state;

	trace_builder_stack(f->b, STACK(0x401010));
	trace_builder_allocate(f->b, 0x10000, 10);
	trace_builder_flush_open(f->b);
	trace_builder_allocate(f->b, 0x20000, 20);
	trace_builder_flush(f->b);
	trace_builder_allocate(f->b, 0x30000, 30);
	trace_builder_write_killed(f->b, f->path);
	replay(f);
	assert_int_equal(f->heard.count, 3);
	assert_int_equal(event(f, 2)->size, 30);
	assert_false(f->trace->info.complete);
	assert_false(f->trace->info.running);
}

static void threads_follow_each_other_in_a_lane(void **state)
{
	struct fixture *f = *state;

	trace_builder_stack(f->b, STACK(0x401010));
	trace_builder_thread_begin(f->b, 100);
	trace_builder_thread_name(f->b, "first");
	trace_builder_allocate(f->b, 0x10000, 10);
	trace_builder_thread_begin(f->b, 200);
	trace_builder_allocate(f->b, 0x20000, 10);
	trace_builder_flush(f->b);
	trace_builder_free(f->b, 0x10000);
	write_and_replay(f);
	assert_int_equal(f->trace->threads[event(f, 0)->thread].tid, 100);
	assert_string_equal(f->trace->threads[event(f, 0)->thread].name, "first");
	assert_int_equal(f->trace->threads[event(f, 1)->thread].tid, 200);
	assert_int_equal(f->trace->threads[event(f, 2)->thread].tid, 200);
	assert_int_equal(event(f, 2)->birth_thread, event(f, 0)->thread);
}

static void scopes_and_rates_are_with_the_allocation(void **state)
{
	struct fixture *f = *state;

	trace_builder_stack(f->b, STACK(0x401010));
	trace_builder_scope_begin(f->b, "outer");
	trace_builder_scope_begin(f->b, "inner");
	trace_builder_allocate(f->b, 0x10000, 10);
	trace_builder_scope_end(f->b);
	trace_builder_rate(f->b, 65536);
	trace_builder_allocate(f->b, 0x20000, 10);
	trace_builder_scope_end(f->b);
	trace_builder_free_noted(f->b, 0x20000, TRACE_NOTE_TEMPORARY);
	write_and_replay(f);
	assert_string_equal(f->trace->scopes[event(f, 0)->scope], "inner");
	assert_string_equal(f->trace->scopes[event(f, 1)->scope], "outer");
	assert_int_equal(event(f, 1)->rate, 65536);
	assert_int_equal(event(f, 2)->flags, TRACE_EVENT_TEMPORARY);
	assert_int_equal(event(f, 2)->rate, 65536);
	assert_false(f->trace->info.exact);
}

static void marks_are_numbered_in_the_order_of_time(void **state)
{
	struct fixture *f = *state;

	trace_builder_at(f->b, 64000);
	trace_builder_mark(f->b, TRACE_MARK_SNAPSHOT, "late", "", 0);
	trace_builder_outside(f->b, 77);
	trace_builder_mark_at(f->b, TRACE_MARK_SNAPSHOT, "early", 32000);
	write_and_replay(f);
	assert_int_equal(f->trace->mark_count, 2);
	assert_string_equal(f->trace->marks[0].name, "early");
	assert_int_equal(f->trace->marks[0].number, 1);
	assert_int_equal(f->trace->marks[0].time_ns, 32000);
	assert_true(f->trace->marks[0].from_outside);
	assert_int_equal(f->trace->marks[1].number, 2);
	assert_int_equal(f->trace->marks[1].time_ns, 64000);
}

static void huge_sizes_and_odd_addresses_are_kept(void **state)
{
	struct fixture *f = *state;
	static const uint64_t addresses[] = {0xffff800000001230, 0x10001, 0x1000000000000, 0x20000};

	trace_builder_stack(f->b, STACK(0x401010));
	for (unsigned i = 0; i < 4; i++)
		trace_builder_allocate(f->b, addresses[i], (1ull << 40) + i);
	for (unsigned i = 0; i < 4; i++)
		trace_builder_free(f->b, addresses[i]);
	write_and_replay(f);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(event(f, 4 + i)->address, addresses[i]);
		assert_int_equal(event(f, 4 + i)->size, (1ull << 40) + i);
	}
}

/* ---- against a slow and simple reference ---- */

#define BLOCKS 200

struct model_block {
	uint64_t address, size, birth;
	uint32_t tid;
	bool is_live;
};

static uint64_t model_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 8;
}

static void expect_event(const struct fixture *f, size_t *next, enum trace_event_kind kind,
			 const struct model_block *block, uint64_t time, uint32_t tid)
{
	const struct trace_event *e = event(f, (*next)++);

	assert_int_equal(e->kind, kind);
	assert_int_equal(e->address, block->address);
	assert_int_equal(e->size, block->size);
	assert_int_equal(e->time_ns, time);
	assert_int_equal(f->trace->threads[e->thread].tid, tid);
	assert_int_equal(e->birth_ns, block->birth);
	assert_int_equal(f->trace->threads[e->birth_thread].tid, block->tid);
	assert_int_equal(stack_frame(f, e->stack, 0), 0x401000 + block->size % 7 * 16);
}

/* Made once with is_expected false (the trace is written), once with true (the
 * events are compared); the seed makes both the same. */
static void run_model(struct fixture *f, uint64_t seed, unsigned lanes, bool is_expected)
{
	static struct model_block blocks[BLOCKS];
	size_t next = 0;

	memset(blocks, 0, sizeof(blocks));
	for (unsigned i = 0; i < 4000; i++) {
		struct model_block *block = &blocks[model_random(&seed) % BLOCKS];
		uint32_t lane = 1 + (uint32_t)(model_random(&seed) % lanes), tid = 99 + lane;
		uint64_t time = (i + 1) * 128ull, size = model_random(&seed) % 5000;
		bool is_realloc = block->is_live && model_random(&seed) % 4 == 0;
		uint64_t place = model_random(&seed) % 4096 * BLOCKS + (uint64_t)(block - blocks);
		struct model_block now = {.address = 0x10000 + place * 16,
					  .size = size, .birth = time, .tid = tid,
					  .is_live = true};

		if (!is_expected) {
			uint64_t frames[] = {0x401000 + size % 7 * 16, 0x401800, 0x401900};

			trace_builder_at(f->b, time);
			trace_builder_lane(f->b, lane, tid);
			trace_builder_stack(f->b, frames, 3);
			if (is_realloc)
				trace_builder_reallocate(f->b, block->address, now.address, size);
			else if (block->is_live)
				trace_builder_free(f->b, block->address);
			else
				trace_builder_allocate(f->b, now.address, size);
		} else if (block->is_live) {
			expect_event(f, &next, TRACE_EVENT_FREE, block, time, tid);
		}
		if (is_expected && (is_realloc || !block->is_live))
			expect_event(f, &next, TRACE_EVENT_ALLOCATE, &now, time, tid);
		if (is_realloc || !block->is_live)
			*block = now;
		else
			block->is_live = false;
		if (!is_expected && model_random(&(uint64_t){seed + i}) % 500 == 0)
			trace_builder_flush(f->b);
	}
	if (is_expected)
		assert_int_equal(next, f->heard.count);
}

static void random_traces_are_replayed_as_the_reference_does(void **state)
{
	struct fixture *f = *state;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		unsigned lanes = seed % 4 + 1;

		trace_builder_free_all(f->b);
		f->b = trace_builder_new();
		run_model(f, seed * 0x9e3779b97f4a7c15, lanes, false);
		trace_close(f->trace);
		f->trace = NULL;
		write_and_replay(f);
		run_model(f, seed * 0x9e3779b97f4a7c15, lanes, true);
		assert_int_equal(f->stats.inherited_frees, 0);
		assert_int_equal(f->stats.replaced, 0);
	}
}

/* ---- packed ---- */

static int count_record(void *context, const struct trace_record *record)
{
	uint64_t *sum = context;

	sum[0]++;
	sum[1] = sum[1] * 31 + record->kind + record->op * 7 + record->address + record->size +
		 record->time_ns + record->stack;
	for (size_t i = 0; i < record->payload_bytes; i++)
		sum[1] = sum[1] * 31 + record->payload[i];
	return 0;
}

static void a_packed_trace_reads_like_the_trace(void **state)
{
	struct fixture *f = *state;
	struct heard plain = f->heard;
	uint64_t sums[2] = {0}, packed_sums[2] = {0}, bytes;
	struct trace_replay_stats stats;
	struct error err;

	run_model(f, 12345, 3, false);
	trace_builder_scope_begin(f->b, "scope");
	trace_builder_literal(f->b, true);
	trace_builder_stack(f->b, STACK(0x7f0000001000, 0x401020, TRACE_FRAME_CUT));
	trace_builder_map(f->b, TRACE_MAP_MMAP, 0x7000000, 8192, 0, 0);
	trace_builder_free_noted(f->b, 0x123450, 1);
	trace_builder_no_stack(f->b, TRACE_NO_STACK_BUSY);
	trace_builder_allocate(f->b, 0xa0000, 1);
	trace_builder_outside(f->b, 77);
	trace_builder_mark_at(f->b, TRACE_MARK_SNAPSHOT, "outside", 32000);
	write_and_replay(f);
	plain.count = f->heard.count;
	stats = f->stats;
	trace_each_record(f->trace, TRACE_RECORDS_ALL, count_record, sums);

	assert_int_equal(trace_pack(f->trace, f->path, &bytes, &err), 0);
	trace_close(f->trace);
	f->trace = NULL;
	f->heard.events = calloc(EVENTS_MAX, sizeof(*f->heard.events));
	replay(f);
	assert_true(f->trace->info.packed);
	assert_true(f->trace->info.complete);
	assert_int_equal(f->trace->mark_count, 1);
	assert_int_equal(f->heard.count, plain.count);
	assert_memory_equal(f->heard.events, plain.events, plain.count * sizeof(*plain.events));
	assert_memory_equal(&f->stats, &stats, sizeof(stats));
	trace_each_record(f->trace, TRACE_RECORDS_ALL, count_record, packed_sums);
	assert_int_equal(sums[0], packed_sums[0]);
	assert_int_equal(sums[1], packed_sums[1]);
	free(plain.events);
}

static void a_file_that_is_no_trace_is_an_error(void **state)
{
	struct fixture *f = *state;
	FILE *file = fopen(f->path, "w");
	struct error err;

	assert_int_equal(trace_open("/nonexistent", &f->trace, &err), ERROR_SYSTEM);
	fputs("hello world, this is no trace at all but is longer than a header of a piece", file);
	fclose(file);
	assert_int_equal(trace_open(f->path, &f->trace, &err), ERROR_FORMAT);
	assert_null(f->trace);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_free_carries_what_its_allocation_said),
		TEST(the_process_is_told_as_it_was),
		TEST(what_is_not_freed_is_live),
		TEST(a_realloc_is_a_free_and_an_allocation),
		TEST(a_free_that_comes_early_waits_for_its_allocation),
		TEST(a_free_is_not_that_of_its_threads_later_allocation),
		TEST(an_allocation_waits_for_the_free_that_gave_it_its_address),
		TEST(a_lost_free_is_made_up),
		TEST(a_free_of_an_unknown_block_is_inherited),
		TEST(a_stop_makes_live_blocks_unknown),
		TEST(maps_lose_parts),
		TEST(many_lanes_come_out_in_the_order_of_time),
		TEST(a_killed_process_is_joined_with_its_companion),
		TEST(threads_follow_each_other_in_a_lane),
		TEST(scopes_and_rates_are_with_the_allocation),
		TEST(marks_are_numbered_in_the_order_of_time),
		TEST(huge_sizes_and_odd_addresses_are_kept),
		TEST(random_traces_are_replayed_as_the_reference_does),
		TEST(a_packed_trace_reads_like_the_trace),
		TEST(a_file_that_is_no_trace_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
