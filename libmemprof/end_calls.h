/*
 * The hooks around the end of the program, the start of others, and of what it
 * lets us do.
 */
#ifndef LIBMEMPROF_END_CALLS_H
#define LIBMEMPROF_END_CALLS_H

#include <sys/types.h>

void end_by_exit(int status);
void end_by_quick_exit(int status);
int end_by_execve(const char *path, char *const argv[], char *const envp[]);
int end_by_execvpe(const char *file, char *const argv[], char *const envp[]);
int end_by_fexecve(int fd, char *const argv[], char *const envp[]);

int end_by_execveat(int folder, const char *path, char *const argv[], char *const envp[],
		    int flags);

/* Another process is made: this one doesn't end. */
int start_by_spawn(pid_t *pid, const char *path, const void *actions, const void *attributes,
		   char *const argv[], char *const envp[]);
int start_by_spawnp(pid_t *pid, const char *file, const void *actions, const void *attributes,
		    char *const argv[], char *const envp[]);

/* prctl and seccomp can forbid the process its clock, and system calls. */
int watch_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
long watch_syscall(long number, long a, long b, long c, long d, long e, long f);

/* A thread may be made that has its maker's thread-local storage. */
int watch_clone(int (*run)(void *), void *stack, int flags, void *argument, void *parent_tid,
		void *tls, void *child_tid);

/* A plug-in may go, and its file after it: names of its functions are kept first. */
int watch_dlclose(void *handle);

#endif
