/* LINK: library */
/* TSAN: yes */
/*
 * The life of a process and its trace. Each test starts this program again in a
 * folder of its own, to act as a process that records (`act_...`): it writes
 * events numbered 1, 2, 3 ..., gets into trouble, and ends in some way. Then its
 * trace is read and held against what it must have written.
 */
#include "process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <memprof/varint.h>

#include "clock.h"
#include "companion.h"
#include "event_buffer.h"
#include "os.h"
#include "readings.h"
#include "trace_check.h"

#define EVENTS 100000

/* ---- a process that records ------------------------------------------------ */

struct writer {
	struct event_buffer buffer;
	uint64_t count, last; /* events written; the address before, in this piece */
};

static struct writer *writer; /* of the main thread, on a page that fork wipes */

static void writer_begin(struct writer *self)
{
	if (!process_ready() || !event_buffer_open(&self->buffer, (uint32_t)os_tid()))
		_exit(99);
	self->last = 0;
}

/* An event is the FREE of address 16 * its number. false: it was lost. */
static bool write_event(struct writer *self)
{
	struct event_buffer *buffer = &self->buffer;
	uint8_t *at;

	if (!buffer->limit)
		writer_begin(self);
	if (buffer->at >= buffer->limit) {
		if (!event_buffer_flush(buffer)) {
			event_buffer_drop(buffer, 0);
			return false;
		}
		self->last = 0;
	}
	at = buffer->at;
	*at++ = TRACE_OP_FREE;
	at = varint_store(at, zigzag((int64_t)(++self->count - self->last)));
	self->last = self->count;
	event_buffer_commit(buffer, at);
	return true;
}

static unsigned write_events(struct writer *self, unsigned count)
{
	unsigned lost = 0;

	while (count--)
		lost += !write_event(self);
	return lost;
}

static void act_return_from_main(void)
{
	write_events(writer, EVENTS);
}

static void act_kill_itself(void)
{
	write_events(writer, EVENTS);
	kill(getpid(), SIGKILL);
}

static void act_fold_and_leave_by_system_call(void)
{
	write_events(writer, EVENTS);
	process_fold(TRACE_END_EXIT);
	syscall(SYS_exit_group, 0);
}

static void act_go_on_after_the_end(void)
{
	write_events(writer, EVENTS);
	process_fold(TRACE_END_EXIT);
	write_events(writer, 1000);
	syscall(SYS_exit_group, 0);
}

static void write_at_exit(int status, void *count)
{
	(void)status;
	write_events(writer, (unsigned)(uintptr_t)count);
}

static void act_write_in_exit_handlers(void)
{
	on_exit(write_at_exit, (void *)500);
	write_events(writer, 10);
}

static void act_fork(void)
{
	write_events(writer, EVENTS);
	if (fork() == 0) {
		write_events(writer, 2000);
		exit(0);
	}
	wait(NULL);
	write_events(writer, 10);
}

static void act_clone_raw(void)
{
	write_events(writer, EVENTS);
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
		write_events(writer, 2000);
		process_fold(TRACE_END_EXIT);
		syscall(SYS_exit_group, 0);
	}
	wait(NULL);
	write_events(writer, 10);
}

static void act_fork_a_child_without_events(void)
{
	write_events(writer, 10);
	if (fork() == 0)
		exit(0);
	wait(NULL);
}

static int write_as_vfork_child(void *unused)
{
	(void)unused;
	write_events(writer, 1000);
	process_fold(TRACE_END_EXIT);
	syscall(SYS_exit_group, 0);
	return 0;
}

/* What vfork and posix_spawn ask the kernel for. */
static void act_vfork(void)
{
	static char stack[1 << 18];

	write_events(writer, 1000);
	clone(write_as_vfork_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	wait(NULL);
	write_events(writer, 10);
}

static void act_meet_the_file_size_limit(void)
{
	struct rlimit limit = { 200000, RLIM_INFINITY };
	unsigned lost;

	write_event(writer);
	setrlimit(RLIMIT_FSIZE, &limit);
	lost = write_events(writer, EVENTS * 4);
	_exit(lost ? 0 : 98);
}

static void act_close_all_and_reuse(void)
{
	char text[4] = "";
	int file;

	write_events(writer, EVENTS);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	file = open("program.txt", O_CREAT | O_RDWR, 0600);
	for (int fd = 890; fd < 910; fd++)
		dup2(file, fd);
	write_events(writer, EVENTS);
	if (write(file, "mine", 4) != 4 || pread(file, text, 4, 0) != 4)
		_exit(97);
	if (lseek(file, 0, SEEK_END) != 4 || memcmp(text, "mine", 4))
		_exit(98);
}

static void act_lose_the_file(void)
{
	write_events(writer, EVENTS);
	if (system("rm -f ./*.trace ./.*.live"))
		_exit(97);
	write_events(writer, EVENTS);
}

static void act_have_the_trace_truncated(void)
{
	write_events(writer, EVENTS);
	if (system("for f in *.trace; do : > $f; done"))
		_exit(97);
	write_events(writer, EVENTS);
}

static void act_be_lied_to_about_the_tail(void)
{
	static const uint64_t lies[] = { 0, 1, 65536, UINT64_MAX, 1ull << 62, 77777 };

	for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		write_events(writer, EVENTS);
		control_shared->tail = lies[i];
	}
}

static void act_share_the_file_with_an_outsider(void)
{
	for (unsigned i = 0; i < 10; i++) {
		write_events(writer, EVENTS);
		__atomic_fetch_add(&control_shared->tail, TRACE_UNIT_BYTES, __ATOMIC_RELAXED);
	}
}

static void act_fail_to_exec(void)
{
	write_events(writer, EVENTS);
	process_fold(TRACE_END_EXEC);
	if (system("ls .*.live > /dev/null 2>&1") == 0)
		_exit(97);
	process_exec_failed();
	write_events(writer, 1000);
	kill(getpid(), SIGKILL);
}

static void *write_in_thread(void *events)
{
	struct writer self = { .count = 0 };

	write_events(&self, (unsigned)(uintptr_t)events);
	return NULL;
}

static void act_run_threads(void)
{
	pthread_t threads[20];

	for (unsigned i = 0; i < 20; i++)
		pthread_create(&threads[i], NULL, write_in_thread, (void *)(uintptr_t)EVENTS);
	for (unsigned i = 0; i < 20; i++)
		pthread_join(threads[i], NULL);
}

static volatile bool is_done;

static void *write_until_done(void *unused)
{
	struct writer self = { .count = 0 };

	while (!is_done)
		write_events(&self, 100);
	return unused;
}

static void act_exit_while_threads_run(void)
{
	pthread_t threads[4];

	for (unsigned i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, write_until_done, NULL);
	write_events(writer, EVENTS);
	usleep(20000);
}

static void act_take_readings(void)
{
	for (unsigned i = 0; i < 10; i++) {
		uint8_t out[READING_RECORDS_MAX];
		size_t bytes = 0;

		usleep(10000);
		if (reading_due(clock_ticks()))
			bytes = reading_take(clock_ticks(), 0, out);
		if (!bytes)
			continue;
		write_event(writer);
		memcpy(writer->buffer.at, out, bytes);
		event_buffer_commit(&writer->buffer, writer->buffer.at + bytes);
	}
	kill(getpid(), SIGKILL);
}

static void act_do_nothing(void)
{
}

static const struct act {
	const char *name;
	void (*play)(void);
} acts[] = {
#define ACT(name) { #name, act_##name }
	ACT(return_from_main),
	ACT(kill_itself),
	ACT(fold_and_leave_by_system_call),
	ACT(go_on_after_the_end),
	ACT(write_in_exit_handlers),
	ACT(fork),
	ACT(clone_raw),
	ACT(fork_a_child_without_events),
	ACT(vfork),
	ACT(meet_the_file_size_limit),
	ACT(close_all_and_reuse),
	ACT(lose_the_file),
	ACT(have_the_trace_truncated),
	ACT(be_lied_to_about_the_tail),
	ACT(share_the_file_with_an_outsider),
	ACT(fail_to_exec),
	ACT(run_threads),
	ACT(exit_while_threads_run),
	ACT(take_readings),
	ACT(do_nothing),
};

static int act(const char *name)
{
	writer = os_map(sizeof(*writer));
	os_wipe_on_fork(writer, sizeof(*writer));
	if (!process_ready())
		return 96;
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(acts[i].name, name)) {
			acts[i].play();
			return 0;
		}
	return 95;
}

/* ---- the tests' side ---------------------------------------------------------- */

static char folder[512];
static struct trace_check check;
static glob_t found;

static int make_folder(void **state)
{
	const char *base = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/process.XXXXXX", base ? base : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[600];

	(void)state;
	globfree(&found);
	memset(&found, 0, sizeof(found));
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

/* Plays an act with these variables set; returns its wait status. */
static int play(const char *name, const char *variable)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (chdir(folder))
			_exit(94);
		if (variable)
			putenv((char *)variable);
		execl("/proc/self/exe", "test_process", name, (char *)NULL);
		_exit(93);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static unsigned files(const char *pattern)
{
	char path[600];

	globfree(&found);
	memset(&found, 0, sizeof(found));
	snprintf(path, sizeof(path), "%s/%s", folder, pattern);
	return glob(path, 0, NULL, &found) == 0 ? (unsigned)found.gl_pathc : 0;
}

/* The one trace that the act left. */
static void read_trace(void)
{
	assert_int_equal(files("*.trace"), 1);
	trace_check_read(&check, found.gl_pathv[0]);
	assert_int_equal(check.damaged, 0);
}

static void expect_whole(uint64_t events, unsigned end)
{
	read_trace();
	assert_true(check.is_in_order);
	assert_int_equal(check.events, events);
	assert_int_equal(check.lost, 0);
	assert_int_equal(check.end, end);
	assert_int_equal(files(".*.live"), end ? 0 : 1);
}

static void a_return_from_main_leaves_a_whole_trace(void **state)
{
	(void)state;
	assert_int_equal(play("return_from_main", NULL), 0);
	expect_whole(EVENTS, TRACE_END_EXIT);
	assert_true(check.modules >= 3);
	assert_int_equal(check.clocks, 1);
}

static void a_killed_process_leaves_all_events(void **state)
{
	(void)state;
	assert_int_equal(play("kill_itself", NULL), SIGKILL);
	expect_whole(EVENTS, 0);
	assert_int_equal(check.slots, 1);
}

static void a_fold_leaves_a_whole_trace(void **state)
{
	(void)state;
	assert_int_equal(play("fold_and_leave_by_system_call", NULL), 0);
	expect_whole(EVENTS, TRACE_END_EXIT);
}

static void events_after_the_end_are_written_through(void **state)
{
	(void)state;
	assert_int_equal(play("go_on_after_the_end", NULL), 0);
	expect_whole(EVENTS + 1000, TRACE_END_EXIT);
}

static void events_of_exit_handlers_are_kept(void **state)
{
	(void)state;
	assert_int_equal(play("write_in_exit_handlers", NULL), 0);
	expect_whole(510, TRACE_END_EXIT);
}

static void a_process_without_events_has_a_trace(void **state)
{
	(void)state;
	assert_int_equal(play("do_nothing", NULL), 0);
	expect_whole(0, TRACE_END_EXIT);
}

static void a_short_process_takes_little_of_the_disk(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(play("write_in_exit_handlers", NULL), 0);
	read_trace();
	assert_int_equal(stat(found.gl_pathv[0], &st), 0);
	assert_true(st.st_blocks * 512 <= 65536);
}

/* Parent and child have a trace each, and the parent's isn't touched. */
static void expect_parent_and_child(uint64_t child_events)
{
	unsigned parents = 0;

	assert_int_equal(files("*.trace"), 2);
	for (unsigned i = 0; i < 2; i++) {
		trace_check_read(&check, found.gl_pathv[i]);
		assert_int_equal(check.damaged, 0);
		assert_true(check.is_in_order);
		parents += !check.is_forked;
		assert_int_equal(check.events, check.is_forked ? child_events : EVENTS + 10);
		if (check.is_forked)
			assert_string_equal(strrchr(check.parent, '/'),
					    strrchr(found.gl_pathv[1 - i], '/'));
	}
	assert_int_equal(parents, 1);
	assert_int_equal(files(".*.live"), 0);
}

static void a_child_of_fork_writes_its_own_trace(void **state)
{
	(void)state;
	assert_int_equal(play("fork", NULL), 0);
	expect_parent_and_child(2000);
}

static void a_child_of_a_raw_clone_is_noticed(void **state)
{
	(void)state;
	assert_int_equal(play("clone_raw", NULL), 0);
	expect_parent_and_child(2000);
}

static void a_child_without_events_leaves_no_trace(void **state)
{
	(void)state;
	assert_int_equal(play("fork_a_child_without_events", NULL), 0);
	expect_whole(10, TRACE_END_EXIT);
}

static void children_are_left_out_when_asked(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(play("fork", "MEMPROF_CHILDREN=0")), 0);
	expect_whole(EVENTS + 10, TRACE_END_EXIT);
}

static void a_vfork_child_goes_on_in_its_parents_stream(void **state)
{
	(void)state;
	assert_int_equal(play("vfork", NULL), 0);
	expect_whole(2010, TRACE_END_EXIT);
}

static void the_file_size_limit_loses_events_and_counts_them(void **state)
{
	(void)state;
	assert_int_equal(play("meet_the_file_size_limit", NULL), 0);
	read_trace();
	assert_true(check.is_in_order);
	assert_true(check.lost > 0);
	assert_int_equal(check.events + check.lost, EVENTS * 4 + 1);
}

static void a_full_disk_loses_events_and_counts_them(void **state)
{
	int status;

	(void)state;
	if (mount("none", folder, "tmpfs", 0, "size=200k") != 0)
		skip();
	status = play("return_from_main", NULL);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		read_trace();
	umount2(folder, MNT_DETACH);
	assert_int_equal(status, 0);
	assert_true(check.is_in_order);
	assert_true(check.lost > 0);
	assert_int_equal(check.events + check.lost, EVENTS);
	assert_int_equal(check.slots, 1);
}

static void a_reused_descriptor_is_not_written_to(void **state)
{
	(void)state;
	assert_int_equal(play("close_all_and_reuse", NULL), 0);
	expect_whole(2 * EVENTS, TRACE_END_EXIT);
}

static void a_deleted_trace_harms_nobody(void **state)
{
	(void)state;
	assert_int_equal(play("lose_the_file", NULL), 0);
	assert_int_equal(files("*.trace"), 0);
}

static void a_truncated_trace_goes_on(void **state)
{
	(void)state;
	assert_int_equal(play("have_the_trace_truncated", NULL), 0);
	read_trace();
	assert_true(check.events > EVENTS / 2 && check.events <= 2 * EVENTS);
	assert_int_equal(check.end, TRACE_END_EXIT);
}

static void a_false_tail_overwrites_nothing(void **state)
{
	(void)state;
	assert_int_equal(play("be_lied_to_about_the_tail", NULL), 0);
	expect_whole(6 * EVENTS, TRACE_END_EXIT);
}

static void units_of_outsiders_are_left_free(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(play("share_the_file_with_an_outsider", NULL), 0);
	expect_whole(10 * EVENTS, TRACE_END_EXIT);
	assert_int_equal(files("*.trace"), 1);
	assert_int_equal(stat(found.gl_pathv[0], &st), 0);
	assert_true((st.st_size + TRACE_UNIT_BYTES - 1) / TRACE_UNIT_BYTES >= check.pieces + 10);
}

static void the_companion_is_back_after_an_exec_that_failed(void **state)
{
	(void)state;
	assert_int_equal(play("fail_to_exec", NULL), SIGKILL);
	read_trace();
	assert_true(check.is_in_order);
	assert_int_equal(check.events, EVENTS + 1000);
	assert_int_equal(check.end, TRACE_END_EXEC);
	assert_int_equal(files(".*.live"), 1);
}

static void every_thread_has_a_lane_without_gaps(void **state)
{
	(void)state;
	assert_int_equal(play("run_threads", NULL), 0);
	expect_whole(20 * EVENTS, TRACE_END_EXIT);
}

static void an_exit_among_running_threads_keeps_order(void **state)
{
	(void)state;
	assert_int_equal(play("exit_while_threads_run", NULL), 0);
	read_trace();
	assert_true(check.is_in_order);
	assert_true(check.events > EVENTS);
	assert_int_equal(check.end, TRACE_END_EXIT);
}

static void the_size_limit_of_the_trace_is_kept(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(play("return_from_main", "MEMPROF_MAX_TRACE=150000"), 0);
	read_trace();
	assert_int_equal(stat(found.gl_pathv[0], &st), 0);
	assert_true(st.st_size <= 3 * (long)TRACE_UNIT_BYTES);
	assert_int_equal(check.events + check.lost_told, EVENTS);
	assert_int_equal(check.end, TRACE_END_FULL);
}

static void a_folder_that_refuses_is_replaced_by_tmpdir(void **state)
{
	const char *before = getenv("TMPDIR");
	char *kept = before ? strdup(before) : NULL;

	(void)state;
	setenv("TMPDIR", folder, 1);
	assert_int_equal(play("return_from_main", "MEMPROF_OUTPUT=/no/such/x.trace"), 0);
	unsetenv("TMPDIR");
	if (kept)
		setenv("TMPDIR", kept, 1);
	free(kept);
	expect_whole(EVENTS, TRACE_END_EXIT);
	assert_int_equal(files("x.trace"), 1);
}

static void two_processes_with_one_name_get_two_files(void **state)
{
	(void)state;
	assert_int_equal(play("fork", "MEMPROF_OUTPUT=x.trace"), 0);
	expect_parent_and_child(2000);
	assert_int_equal(files("x.2.trace"), 1);
}

static void readings_come_with_clocks_in_a_killed_run(void **state)
{
	(void)state;
	assert_int_equal(play("take_readings", "MEMPROF_READINGS=20ms"), SIGKILL);
	read_trace();
	assert_true(check.readings >= 2); /* how many depends on how busy the machine is */
	assert_int_equal(check.clocks, check.readings);
}

int main(int argc, char **argv)
{
#define PROCESS_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(a_return_from_main_leaves_a_whole_trace),
		PROCESS_TEST(a_killed_process_leaves_all_events),
		PROCESS_TEST(a_fold_leaves_a_whole_trace),
		PROCESS_TEST(events_after_the_end_are_written_through),
		PROCESS_TEST(events_of_exit_handlers_are_kept),
		PROCESS_TEST(a_process_without_events_has_a_trace),
		PROCESS_TEST(a_short_process_takes_little_of_the_disk),
		PROCESS_TEST(a_child_of_fork_writes_its_own_trace),
		PROCESS_TEST(a_child_of_a_raw_clone_is_noticed),
		PROCESS_TEST(a_child_without_events_leaves_no_trace),
		PROCESS_TEST(children_are_left_out_when_asked),
		PROCESS_TEST(a_vfork_child_goes_on_in_its_parents_stream),
		PROCESS_TEST(the_file_size_limit_loses_events_and_counts_them),
		PROCESS_TEST(a_full_disk_loses_events_and_counts_them),
		PROCESS_TEST(a_reused_descriptor_is_not_written_to),
		PROCESS_TEST(a_deleted_trace_harms_nobody),
		PROCESS_TEST(a_truncated_trace_goes_on),
		PROCESS_TEST(a_false_tail_overwrites_nothing),
		PROCESS_TEST(units_of_outsiders_are_left_free),
		PROCESS_TEST(the_companion_is_back_after_an_exec_that_failed),
		PROCESS_TEST(every_thread_has_a_lane_without_gaps),
		PROCESS_TEST(an_exit_among_running_threads_keeps_order),
		PROCESS_TEST(the_size_limit_of_the_trace_is_kept),
		PROCESS_TEST(a_folder_that_refuses_is_replaced_by_tmpdir),
		PROCESS_TEST(two_processes_with_one_name_get_two_files),
		PROCESS_TEST(readings_come_with_clocks_in_a_killed_run),
	};

	if (argc > 1)
		return act(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
