/* LINK: library analyzer */
/* SANITIZE: no */
/*
 * What the recorder writes, read back by the analyzer: both halves follow
 * trace_format.h, and here they meet. One trace is recorded into $TMPDIR; each
 * test adds a stretch of records to it, marked by a snapshot's name, and looks
 * at that stretch alone.
 */
#include "heap_calls.h"
#include "process.h"
#include "recorder.h"
#include "settings.h"
#include "thread_id.h"
#include "thread_state.h"
#include "trace/trace.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#define SITE __attribute__((noinline, noipa))

static char trace_path[4096];

/* ---- recording ---- */

static struct recorder *enter(struct thread_state **state)
{
	*state = thread_enter(__builtin_frame_address(0));
	assert_non_null(*state);
	assert_true(heap_is_recording(*state));
	return &(*state)->recorder;
}

static void mark(const char *name)
{
	struct thread_state *state;

	recorder_mark(enter(&state), TRACE_MARK_SNAPSHOT, name, NULL, 0);
	thread_leave(state);
}

SITE static void allocate(const void *block, uint64_t size)
{
	struct unwind_point point = UNWIND_CALLER();
	struct thread_state *state;

	recorder_allocate(enter(&state), block, size, &point);
	thread_leave(state);
}

static void release(const void *block, unsigned notes)
{
	struct thread_state *state;

	recorder_free(enter(&state), block, notes);
	thread_leave(state);
}

SITE static void reallocate(const void *old, const void *block, uint64_t size)
{
	struct unwind_point point = UNWIND_CALLER();
	struct thread_state *state;

	recorder_reallocate(enter(&state), old, block, size, &point);
	thread_leave(state);
}

/* Some call paths, so that stacks come and go. */
SITE static void path(unsigned way, unsigned depth, const void *block, uint64_t size)
{
	if (!depth) {
		allocate(block, size);
	} else if (way & 1) {
		path(way >> 1, depth - 1, block, size);
		__asm__ volatile("# one place");
	} else {
		path(way >> 1, depth - 1, block, size);
		__asm__ volatile("# another");
	}
}

/* ---- reading ---- */

struct heard {
	const char *from, *to; /* snapshots that enclose the stretch */
	bool is_on;
	struct trace_record *records;
	size_t count, room;
};

static bool is_mark(const struct trace_record *record, const char *name)
{
	size_t length = strlen(name);

	/* The payload: kind, length of the name, the name, ... */
	return record->op == TRACE_OP_EXTENDED && record->kind == TRACE_KIND_MARK &&
	       record->payload_bytes > length + 2 && record->payload[1] == (length << 1 | 1) &&
	       !memcmp(record->payload + 2, name, length);
}

static int hear(void *context, const struct trace_record *record)
{
	struct heard *heard = context;

	if (is_mark(record, heard->to))
		heard->is_on = false;
	if (heard->is_on && record->op != TRACE_OP_EXTENDED) {
		assert_true(heard->count < heard->room);
		heard->records[heard->count++] = *record;
	}
	if (is_mark(record, heard->from))
		heard->is_on = true;
	return 0;
}

/* The events between two marks, in the order of their writing. */
static struct trace *listen(struct heard *heard, const char *from, const char *to, size_t room)
{
	struct trace *trace;
	struct error err = { 0 };

	process_fold(TRACE_END_EXEC);
	assert_int_equal(trace_open(trace_path, &trace, &err), 0);
	heard->from = from;
	heard->to = to;
	heard->is_on = false;
	heard->records = calloc(room + 1, sizeof(*heard->records));
	heard->count = 0;
	heard->room = room;
	trace_each_record(trace, TRACE_RECORDS_LANES, hear, heard);
	assert_int_equal(heard->count, room);
	return trace;
}

static void done(struct heard *heard, struct trace *trace)
{
	assert_int_equal(trace->fault_count, 0);
	trace_close(trace);
	free(heard->records);
}

static const void *at(uint64_t number)
{
	return (const void *)(uintptr_t)(0x555500000000 + number * 16);
}

/* ---- the tests ---- */

static void events_come_back_as_they_were_recorded(void **state)
{
	struct heard heard;
	struct trace *trace;

	(void)state;
	mark("plain");
	allocate(at(1), 100);
	allocate(at(2), 0);
	reallocate(at(1), at(900000), UINT64_MAX);
	release(at(2), 0);
	reallocate(at(900000), at(900000), 7);
	release((const void *)0x7fffffff0008, TRACE_NOTE_TEMPORARY);
	mark("plain end");

	trace = listen(&heard, "plain", "plain end", 6);
	assert_int_equal(heard.records[0].op, TRACE_OP_ALLOCATE);
	assert_int_equal(heard.records[0].address, (uintptr_t)at(1));
	assert_int_equal(heard.records[0].size, 100);
	assert_int_equal(heard.records[1].size, 0);
	assert_int_equal(heard.records[2].op, TRACE_OP_REALLOCATE);
	assert_int_equal(heard.records[2].old_address, (uintptr_t)at(1));
	assert_int_equal(heard.records[2].address, (uintptr_t)at(900000));
	assert_int_equal(heard.records[2].size, UINT64_MAX);
	assert_int_equal(heard.records[3].op, TRACE_OP_FREE);
	assert_int_equal(heard.records[3].address, (uintptr_t)at(2));
	assert_int_equal(heard.records[4].address, (uintptr_t)at(900000));
	assert_int_equal(heard.records[4].size, 7);
	assert_int_equal(heard.records[5].address, 0x7fffffff0008);
	assert_int_equal(heard.records[5].notes, TRACE_NOTE_TEMPORARY);
	done(&heard, trace);
}

static uint64_t next_random(uint64_t *x)
{
	*x = *x * 6364136223846793005ull + 1442695040888963407ull;
	return *x >> 33;
}

/* The same random walk for the writer (@records NULL) and for the check. */
static void random_walk(const struct trace_record *records, size_t count)
{
	uint64_t x = 42;

	for (size_t n = 0; n < count; n++) {
		const void *block = at(next_random(&x) % (n % 2 ? 300 : 3000000));
		uint64_t size = next_random(&x) % 3 ? 32 : next_random(&x);
		unsigned kind = next_random(&x) % 5, way = next_random(&x) % 64;

		if (!records && kind < 3)
			path(way, 6, block, size);
		else if (!records && kind == 3)
			release(block, 0);
		else if (!records)
			reallocate(block, at(way), size);
		if (!records)
			continue;
		assert_int_equal(records[n].op, kind < 3 ? TRACE_OP_ALLOCATE :
						kind == 3 ? TRACE_OP_FREE : TRACE_OP_REALLOCATE);
		if (kind == 4)
			assert_int_equal(records[n].old_address, (uintptr_t)block);
		else
			assert_int_equal(records[n].address, (uintptr_t)block);
		if (kind != 3)
			assert_int_equal(records[n].size, size);
	}
}

static void a_hundred_thousand_random_events_survive_many_pieces(void **state)
{
	enum { COUNT = 100000 };
	struct heard heard;
	struct trace *trace;

	(void)state;
	mark("walk");
	random_walk(NULL, COUNT);
	mark("walk end");

	trace = listen(&heard, "walk", "walk end", COUNT);
	assert_true(trace->info.pieces > 5);
	random_walk(heard.records, COUNT);
	done(&heard, trace);
}

static void times_do_not_go_back(void **state)
{
	enum { COUNT = 1000 };
	struct heard heard;
	struct trace *trace;

	(void)state;
	mark("times");
	for (int n = 0; n < COUNT; n++)
		allocate(at((uint64_t)n), 1);
	mark("times end");

	trace = listen(&heard, "times", "times end", COUNT);
	for (int n = 1; n < COUNT; n++)
		assert_true(heard.records[n].time_ns >= heard.records[n - 1].time_ns);
	assert_true(heard.records[COUNT - 1].time_ns > heard.records[0].time_ns);
	done(&heard, trace);
}

static void equal_call_paths_have_equal_stacks(void **state)
{
	struct heard heard;
	struct trace *trace;

	(void)state;
	mark("stacks");
	for (unsigned n = 0; n < 200; n++)
		path(n % 4, 2, at(n), 8);
	mark("stacks end");

	trace = listen(&heard, "stacks", "stacks end", 200);
	for (unsigned n = 4; n < 200; n++)
		assert_int_equal(heard.records[n].stack, heard.records[n - 4].stack);
	assert_int_not_equal(heard.records[0].stack, heard.records[1].stack);
	done(&heard, trace);
}

static void a_restart_in_the_middle_costs_no_record(void **state)
{
	struct thread_state *thread;
	struct heard heard;
	struct trace *trace;

	(void)state;
	mark("restart");
	for (unsigned n = 0; n < 300; n++) {
		path(n % 8, 3, at(n % 50), n);
		if (n % 7)
			continue;
		recorder_restart(enter(&thread));
		thread_leave(thread);
	}
	mark("restart end");

	trace = listen(&heard, "restart", "restart end", 300);
	for (unsigned n = 0; n < 300; n++) {
		assert_int_equal(heard.records[n].address, (uintptr_t)at(n % 50));
		assert_int_equal(heard.records[n].size, n);
	}
	done(&heard, trace);
}

/* ---- states ---- */

#define NESTING_MAX 8 /* thread_state.c */

static void who_interrupts_the_recorder_gets_a_state_of_his_own(void **state)
{
	const char *here = __builtin_frame_address(0);
	struct thread_state *states[NESTING_MAX];

	(void)state;
	for (int i = 0; i < NESTING_MAX; i++) {
		states[i] = thread_enter((const void *)(here - 1000 * i));
		assert_non_null(states[i]);
		for (int k = 0; k < i; k++)
			assert_ptr_not_equal(states[i], states[k]);
	}
	/* dropped, and counted */
	assert_null(thread_enter((const void *)(here - 1000 * NESTING_MAX)));
	for (int i = NESTING_MAX - 1; i > 0; i--)
		thread_leave(states[i]);
	assert_ptr_equal(thread_enter((const void *)(here - 1000)), states[1]);
	thread_leave(states[1]);
	thread_leave(states[0]);
}

static void a_state_left_by_longjmp_is_free_again(void **state)
{
	const char *here = __builtin_frame_address(0);
	struct thread_state *first;

	(void)state;
	first = thread_enter((const void *)(here - 5000));
	assert_ptr_equal(thread_enter((const void *)(here - 4000)), first);
	thread_leave(first);
	assert_ptr_equal(thread_enter((const void *)(here)), first);
	thread_leave(first);
}

static void *short_thread(void *context)
{
	(void)context;
	allocate(at(5), 5);
	release(at(5), 0);
	return NULL;
}

static void short_threads_use_the_same_lanes_again(void **state)
{
	uint32_t before = recorder_lanes;
	pthread_t thread;

	(void)state;
	for (int n = 0; n < 500; n++) {
		assert_int_equal(pthread_create(&thread, NULL, short_thread, NULL), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	/* A joined thread may be seen for a moment longer, and the main thread has
	 * many states side by side. */
	assert_in_range(recorder_lanes - before, 0, 60);
}

#define RELAY_THREADS 200
#define RELAY_BLOCK 5000000u

static void *one_path(void *context)
{
	unsigned n = *(unsigned *)context;

	path(n % 4, 2, at(RELAY_BLOCK + n), n);
	return NULL;
}

struct relay {
	size_t count;
	uint32_t threads[RELAY_THREADS], stacks[4];
};

static int hear_relay(void *context, const struct trace_record *record)
{
	struct relay *relay = context;
	uint64_t n = (record->address - (uintptr_t)at(RELAY_BLOCK)) / 16;

	if (record->op != TRACE_OP_ALLOCATE || n >= RELAY_THREADS)
		return 0;
	assert_int_equal(record->size, n);
	relay->threads[n] = record->thread;
	relay->count++;
	if (!relay->stacks[n % 4])
		relay->stacks[n % 4] = record->stack;
	assert_int_equal(record->stack, relay->stacks[n % 4]);
	return 0;
}

/* The next thread goes on with what its lane's decoder knows of the last one. */
static void threads_one_after_the_other_keep_their_own_events_and_stacks(void **state)
{
	struct relay relay = { 0 };
	struct error err = { 0 };
	struct trace *trace;
	pthread_t thread;

	(void)state;
	for (unsigned n = 0; n < RELAY_THREADS; n++) {
		assert_int_equal(pthread_create(&thread, NULL, one_path, &n), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	process_fold(TRACE_END_EXEC);
	assert_int_equal(trace_open(trace_path, &trace, &err), 0);
	trace_each_record(trace, TRACE_RECORDS_LANES, hear_relay, &relay);
	assert_int_equal(relay.count, RELAY_THREADS);
	for (unsigned n = 0; n < RELAY_THREADS; n++)
		for (unsigned k = 0; k < n; k++)
			assert_int_not_equal(relay.threads[n], relay.threads[k]);
	for (unsigned n = 0; n < 4; n++)
		for (unsigned k = 0; k < n; k++)
			assert_int_not_equal(relay.stacks[n], relay.stacks[k]);
	assert_int_equal(trace->fault_count, 0);
	trace_close(trace);
}

static void *tid_of_thread(void *context)
{
	*(int *)context = thread_id() == (uint32_t)gettid();
	return NULL;
}

/* A child as no library makes it: its control block has its parent's tid. */
static void *tid_of_child(void *context)
{
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	int status = 1;

	if (!child) {
		allocate(at(79), 79);
		status = thread_id() != (uint32_t)syscall(SYS_gettid);
		syscall(SYS_exit_group, status);
	}
	waitpid(child, &status, 0);
	*(int *)context = status == 0;
	return NULL;
}

static void a_tid_known_without_a_call_is_the_kernels(void **state)
{
	void *(*const asks[])(void *) = { tid_of_thread, tid_of_child };
	pthread_t thread;
	int is_right;

	(void)state;
	assert_int_equal(thread_id(), gettid());
	for (unsigned n = 0; n < 20; n++) {
		is_right = 0;
		assert_int_equal(pthread_create(&thread, NULL, asks[n % 2], &is_right), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_true(is_right);
	}
}

static void *own_state(void *context)
{
	struct thread_state *state;

	(void)context;
	enter(&state);
	thread_leave(state);
	return state;
}

static void each_living_thread_has_a_state_of_its_own(void **state)
{
	struct thread_state *mine;
	pthread_t thread;
	void *other;

	(void)state;
	enter(&mine);
	thread_leave(mine);
	assert_int_equal(pthread_create(&thread, NULL, own_state, NULL), 0);
	assert_int_equal(pthread_join(thread, &other), 0);
	assert_non_null(other);
	assert_ptr_not_equal(other, mine);
}

static void a_child_of_fork_records_into_a_trace_of_its_own(void **state)
{
	uint64_t base;
	int status;
	pid_t child;

	(void)state;
	allocate(at(77), 77);
	base = thread_here.state->recorder.buffer.base;
	child = fork();
	if (!child) {
		bool is_new;

		allocate(at(78), 78);
		is_new = process_is_forked() && thread_here.state->recorder.buffer.base != base;
		process_fold(TRACE_END_EXIT);
		_exit(is_new ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(thread_here.state->recorder.buffer.base, base);
}

static int begin(void **state)
{
	const char *folder = getenv("TMPDIR");
	char pattern[4200];

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/recorder.%%p.trace", folder ? folder : "/tmp");
	setenv("MEMPROF_OUTPUT", pattern, 1);
	setenv("MEMPROF_RATE", "1", 1);
	snprintf(trace_path, sizeof(trace_path), "%s/recorder.%d.trace", folder ? folder : "/tmp",
		 (int)getpid());
	heap_calls_start();
	return thread_here.state ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	process_fold(TRACE_END_EXIT);
	return unlink(trace_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_back_as_they_were_recorded),
		cmocka_unit_test(a_hundred_thousand_random_events_survive_many_pieces),
		cmocka_unit_test(times_do_not_go_back),
		cmocka_unit_test(equal_call_paths_have_equal_stacks),
		cmocka_unit_test(a_restart_in_the_middle_costs_no_record),
		cmocka_unit_test(who_interrupts_the_recorder_gets_a_state_of_his_own),
		cmocka_unit_test(a_state_left_by_longjmp_is_free_again),
		cmocka_unit_test(short_threads_use_the_same_lanes_again),
		cmocka_unit_test(threads_one_after_the_other_keep_their_own_events_and_stacks),
		cmocka_unit_test(a_tid_known_without_a_call_is_the_kernels),
		cmocka_unit_test(each_living_thread_has_a_state_of_its_own),
		cmocka_unit_test(a_child_of_fork_records_into_a_trace_of_its_own),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
