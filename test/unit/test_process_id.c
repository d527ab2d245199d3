/* LINK: analyzer */
/*
 * Telling processes apart: this one, one that has ended, and one in a pid
 * namespace, whose own pid is another than the one it has here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/process_id.h"

static void a_living_process_is_told_by_pid_and_start(void **state)
{
	uint64_t start = process_id_start_time(getpid());

	(void)state;
	assert_true(start > 0);
	assert_true(process_id_lives((uint64_t)getpid(), start));
	assert_false(process_id_lives((uint64_t)getpid(), start + 1));
	assert_false(process_id_lives(0, start));
	assert_false(process_id_lives(UINT64_MAX, start));
}

static void one_that_has_ended_does_not_live(void **state)
{
	pid_t pid = fork();
	uint64_t start;

	(void)state;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	start = process_id_start_time(pid);
	assert_true(process_id_lives((uint64_t)pid, start));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(process_id_lives((uint64_t)pid, start));
}

static void one_in_a_namespace_is_found_by_its_own_pid(void **state)
{
	pid_t maker = fork();
	int status;

	(void)state;
	if (maker == 0) {
		pid_t inner;
		int holds;

		if (unshare(CLONE_NEWPID))
			_exit(77); /* not allowed here */
		inner = fork();
		if (inner == 0) {
			pause();
			_exit(0);
		}
		holds = process_id_own(inner) == 1 &&
			process_id_lives(1, process_id_start_time(inner));
		kill(inner, SIGKILL);
		waitpid(inner, NULL, 0);
		_exit(holds ? 0 : 1);
	}
	waitpid(maker, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_living_process_is_told_by_pid_and_start),
		cmocka_unit_test(one_that_has_ended_does_not_live),
		cmocka_unit_test(one_in_a_namespace_is_found_by_its_own_pid),
	};
	return cmocka_run_group_tests_name("process_id", tests, NULL, NULL);
}
