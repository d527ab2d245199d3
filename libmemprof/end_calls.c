/*
 * An orderly end folds the slots into the trace (process.h). `return` from main
 * and exit() are seen by the library's destructor; here are the ends that pass
 * destructors by. In a vfork child process_fold does nothing.
 */
#define _GNU_SOURCE
#include "end_calls.h"

#include <alloca.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "clock.h"
#include "next.h"
#include "process.h"
#include "thread_state.h"

/* Folding while this thread is inside would cut its record in two; it isn't:
 * hooks leave before they return. A handler that ends the process from within
 * keeps what was committed. */
void end_by_exit(int status)
{
	process_fold(TRACE_END_EXIT);
	next._exit(status);
}

/* Its handlers run before the end: they are recorded in late mode. */
void end_by_quick_exit(int status)
{
	process_fold(TRACE_END_EXIT);
	next.quick_exit(status);
}

/* The environment for the next program, in room on the stack of who calls this. */
#define ENVIRONMENT_FOR_EXEC(environment, envp)                                                    \
	do {                                                                                       \
		size_t bytes_ = process_environment_room(envp, true);                              \
                                                                                                   \
		environment = envp;                                                                \
		if (bytes_)                                                                        \
			environment =                                                              \
				process_environment_copy(envp, true, alloca(bytes_), bytes_);      \
	} while (0)

int end_by_execve(const char *path, char *const argv[], char *const envp[])
{
	char *const *environment;
	int result;

	ENVIRONMENT_FOR_EXEC(environment, envp);
	process_fold(TRACE_END_EXEC);
	result = next.execve(path, argv, environment);
	process_exec_failed();
	return result;
}

int end_by_execvpe(const char *file, char *const argv[], char *const envp[])
{
	char *const *environment;
	int result;

	ENVIRONMENT_FOR_EXEC(environment, envp);
	process_fold(TRACE_END_EXEC);
	result = next.execvpe(file, argv, environment);
	process_exec_failed();
	return result;
}

int end_by_fexecve(int fd, char *const argv[], char *const envp[])
{
	char *const *environment;
	int result;

	ENVIRONMENT_FOR_EXEC(environment, envp);
	process_fold(TRACE_END_EXEC);
	result = next.fexecve(fd, argv, environment);
	process_exec_failed();
	return result;
}

int watch_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	if ((option == PR_SET_TSC && a == PR_TSC_SIGSEGV) ||
	    (option == PR_SET_SECCOMP && a == SECCOMP_MODE_STRICT))
		clock_forbid();
	if (option == PR_SET_SECCOMP && a == SECCOMP_MODE_STRICT)
		process_forbid_calls();
	return next.prctl(option, a, b, c, d);
}
