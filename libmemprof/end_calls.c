/*
 * An orderly end folds the slots into the trace (process.h). `return` from main
 * and exit() are seen by the library's destructor; here are the ends that pass
 * destructors by. In a vfork child process_fold does nothing.
 */
#define _GNU_SOURCE
#include "end_calls.h"

#include <alloca.h>
#include <link.h>
#include <linux/sched.h>
#include <sys/syscall.h>

#include "next.h"
#include "process.h"
#include "sandbox.h"
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

/* The environment for the other program, in room on the stack of who calls this:
 * a vfork child has no other memory that is its own. */
#define ENVIRONMENT(envp, is_exec)                                                                 \
	({                                                                                         \
		size_t bytes_ = process_environment_room(envp, is_exec);                           \
		bytes_ ? process_environment_copy(envp, is_exec, alloca(bytes_), bytes_) :         \
			 (char **)(envp);                                                          \
	})

int end_by_execve(const char *path, char *const argv[], char *const envp[])
{
	char **environment = ENVIRONMENT(envp, true);
	int result;

	process_fold(TRACE_END_EXEC);
	result = next.execve(path, argv, environment);
	process_exec_failed();
	return result;
}

int end_by_execvpe(const char *file, char *const argv[], char *const envp[])
{
	char **environment = ENVIRONMENT(envp, true);
	int result;

	process_fold(TRACE_END_EXEC);
	result = next.execvpe(file, argv, environment);
	process_exec_failed();
	return result;
}

int end_by_fexecve(int fd, char *const argv[], char *const envp[])
{
	char **environment = ENVIRONMENT(envp, true);
	int result;

	process_fold(TRACE_END_EXEC);
	result = next.fexecve(fd, argv, environment);
	process_exec_failed();
	return result;
}

int end_by_execveat(int folder, const char *path, char *const argv[], char *const envp[],
		    int flags)
{
	char **environment = ENVIRONMENT(envp, true);
	int result;

	process_fold(TRACE_END_EXEC);
	result = next.execveat(folder, path, argv, environment, flags);
	process_exec_failed();
	return result;
}

int start_by_spawn(pid_t *pid, const char *path, const void *actions, const void *attributes,
		   char *const argv[], char *const envp[])
{
	return next.posix_spawn(pid, path, actions, attributes, argv, ENVIRONMENT(envp, false));
}

int start_by_spawnp(pid_t *pid, const char *file, const void *actions, const void *attributes,
		    char *const argv[], char *const envp[])
{
	return next.posix_spawnp(pid, file, actions, attributes, argv, ENVIRONMENT(envp, false));
}

int watch_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	int result;

	sandbox_before_prctl(option, a);
	result = next.prctl(option, a, b, c, d);
	sandbox_after_prctl(option, a, b, result);
	return result;
}

long watch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long result;

	if (number == SYS_prctl)
		sandbox_before_prctl(a, b);
	else if (number == SYS_seccomp)
		sandbox_before_seccomp(a);
	result = next.syscall(number, a, b, c, d, e, f);
	if (number == SYS_prctl)
		sandbox_after_prctl(a, b, c, result);
	else if (number == SYS_seccomp)
		sandbox_after_seccomp(a, (const void *)c, result);
	return result;
}

/* Both run at once, with one storage: a vfork child has its maker wait. */
int watch_clone(int (*run)(void *), void *stack, int flags, void *argument, void *parent_tid,
		void *tls, void *child_tid)
{
	if ((flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS)) == CLONE_VM)
		thread_share();
	return next.clone(run, stack, flags, argument, parent_tid, tls, child_tid);
}

/* The caller's hold on it keeps the module there while its names are read. A
 * handle is the loader's link map; NULL and RTLD_NEXT are none. */
int watch_dlclose(void *handle)
{
	const struct link_map *map = handle;

	if (handle && handle != (void *)-1)
		process_keep_names((uintptr_t)map->l_ld);
	return next.dlclose(handle);
}
