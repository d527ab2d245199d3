/*
 * Allocates a known amount, with something going wrong in the middle:
 *
 *	mishap ROUNDS WHAT
 *
 * Every round is one malloc and one free of 32 bytes in first() or, after the
 * mishap, second(); every 100th block stays. Prints its own numbers.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;
static const char *trace_path;
static int mine = -1;

static void rounds(int from, int to)
{
	for (int i = from; i < to; i++) {
		void *block = malloc(32);

		if (!block)
			abort();
		memset(block, i, 32);
		if (i % 100 == 0)
			kept = block;
		else
			free(block);
	}
}

static void __attribute__((noinline)) first(int count)
{
	rounds(0, count);
	__asm__ volatile("");
}

static void __attribute__((noinline)) second(int count)
{
	rounds(0, count);
	__asm__ volatile("");
}

/* ---- what can happen, a row each ------------------------------------------------- */

static void nothing(void)
{
}

static void close_each(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

static void close_by_range(void)
{
	if (syscall(SYS_close_range, 3, ~0u, 0) && errno != ENOSYS)
		abort();
}

/* Every descriptor that there was is a file of ours now. */
static void take_over(void)
{
	close_each();
	mine = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int fd = 3; fd < 1024; fd++)
		if (fd != mine)
			dup2(mine, fd);
}

static void delete_trace(void)
{
	if (unlink(trace_path))
		abort();
}

static void truncate_trace(void)
{
	if (truncate(trace_path, 0))
		abort();
}

static void truncate_by_half(void)
{
	struct stat st;

	if (stat(trace_path, &st) || truncate(trace_path, st.st_size / 2))
		abort();
}

static void limit_size(void)
{
	struct rlimit limit = { 256 << 10, RLIM_INFINITY };

	if (setrlimit(RLIMIT_FSIZE, &limit))
		abort();
}

static void limit_descriptors(void)
{
	struct rlimit limit = { 3, 3 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		abort();
}

static void end_child(int pid)
{
	int status;

	if (pid < 0)
		abort();
	if (pid == 0) {
		second(5000);
		_exit(7);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		abort();
}

static void by_fork(void)
{
	end_child(fork());
}

static void by_raw_clone(void)
{
	end_child((int)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
}

static void leave_folder(void)
{
	if (chdir("/"))
		abort();
}

static void by_kill(void)
{
	kill(getpid(), SIGKILL);
}

static void by_abort(void)
{
	abort();
}

static void by_segv(void)
{
	int *volatile nowhere = NULL;

	*nowhere = 1;
}

static void by_exit_now(void)
{
	_exit(3);
}

static void by_exec(void)
{
	execl("/bin/true", "true", NULL);
}

/* ---- sandboxes: the rest of the program runs in them, and needs little ---- */

static volatile int trapped;
static int rounds_to_go;

static void count_trap(int number)
{
	(void)number;
	trapped++;
}

static void end_in_sandbox(void)
{
	static char words[] = "trapped 0\n";

	second(rounds_to_go);
	words[8] += trapped < 9 ? trapped : 9;
	if (write(1, words, sizeof(words) - 1) != sizeof(words) - 1)
		abort();
}

static void strict(bool by_syscall)
{
	free(malloc(100000)); /* so much of the heap is there */
	if (by_syscall ? syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) :
			 prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		abort();
	end_in_sandbox();
	syscall(SYS_exit, 5);
}

static void strict_by_prctl(void)
{
	strict(false);
}

static void strict_by_syscall(void)
{
	strict(true);
}

#define ALLOW(number)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                       \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What a worker that only computes is left with. */
static void filter(uint32_t otherwise, bool by_syscall)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read),
		ALLOW(SYS_write),
		ALLOW(SYS_brk),
		ALLOW(SYS_mmap),
		ALLOW(SYS_munmap),
		ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, otherwise),
	};
	struct sock_fprog program = { sizeof(lines) / sizeof(lines[0]), lines };

	signal(SIGSYS, count_trap);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    (by_syscall ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) :
			  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)))
		abort();
	memset(lines, 0, sizeof(lines)); /* the kernel has them */
	end_in_sandbox();
	_exit(5);
}

static void filter_that_kills(void)
{
	filter(SECCOMP_RET_KILL_PROCESS, false);
}

static void filter_that_traps(void)
{
	filter(SECCOMP_RET_TRAP, true);
}

static void filter_that_refuses(void)
{
	filter(SECCOMP_RET_ERRNO | EPERM, true);
}

static const struct {
	const char *name;
	void (*happen)(void);
} mishaps[] = {
	{ "strict", strict_by_prctl },
	{ "strict_syscall", strict_by_syscall },
	{ "filter_kills", filter_that_kills },
	{ "filter_traps", filter_that_traps },
	{ "filter_refuses", filter_that_refuses },
	{ "nothing", nothing },
	{ "close", close_each },
	{ "close_range", close_by_range },
	{ "takeover", take_over },
	{ "delete", delete_trace },
	{ "truncate", truncate_trace },
	{ "halve", truncate_by_half },
	{ "fsize", limit_size },
	{ "nofile", limit_descriptors },
	{ "fork", by_fork },
	{ "clone", by_raw_clone },
	{ "chdir", leave_folder },
	{ "kill", by_kill },
	{ "abort", by_abort },
	{ "segv", by_segv },
	{ "_exit", by_exit_now },
	{ "exec", by_exec },
};

static void happen(const char *name)
{
	for (size_t i = 0; i < sizeof(mishaps) / sizeof(mishaps[0]); i++)
		if (!strcmp(mishaps[i].name, name)) {
			mishaps[i].happen();
			return;
		}
	exit(99);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1000;
	struct stat st;

	rounds_to_go = count;
	trace_path = getenv("MISHAP_TRACE");
	first(count);
	happen(argc > 2 ? argv[2] : "nothing");
	second(count);
	if (mine >= 0) /* nobody has written into it */
		printf("mine has %lld bytes\n", fstat(mine, &st) ? -1ll : (long long)st.st_size);
	printf("%d rounds\n", 2 * count);
	return 5;
}
