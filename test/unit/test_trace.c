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
		trace_builder_lane(f->b, 1 + i * 7 % 300, 100 + i * 7 % 300);
		trace_builder_at(f->b, i * 1000);
		trace_builder_allocate(f->b, 0x10000 + i * 16ull, i);
	}
	write_and_replay(f);
	assert_int_equal(f->heard.count, 3000);
	for (unsigned i = 0; i < 3000; i++)
		assert_int_equal(event(f, i)->size, i);
	assert_int_equal(f->trace->thread_count, 301);
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
	trace_builder_thread_end(f->b);
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
		TEST(a_file_that_is_no_trace_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
