/*
 * System calls behind names. See os.h for why none of them goes through libc.
 */
#define _GNU_SOURCE
#include "os.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <errno.h>
#include <time.h>

/* Descriptors of ours are put up here: high enough to be in nobody's way, low
 * enough that the kernel's table, which fork copies, stays small. */
#define HIGH_DESCRIPTOR 900

/* A call that comes back with EINTR this often is not interrupted but broken. */
#define INTERRUPTIONS_MAX 1000

bool os_is_forbidden;
bool os_has_sandbox;

static size_t whole_pages(size_t bytes)
{
	return (bytes + OS_PAGE_BYTES - 1) & ~(size_t)(OS_PAGE_BYTES - 1);
}

void *os_map(size_t bytes)
{
	long at = os_call6(SYS_mmap, 0, whole_pages(bytes), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return os_is_error(at) ? NULL : (void *)at;
}

void os_unmap(void *at, size_t bytes)
{
	os_call2(SYS_munmap, at, whole_pages(bytes));
}

bool os_wipe_on_fork(void *at, size_t bytes)
{
	return os_call3(SYS_madvise, at, whole_pages(bytes), MADV_WIPEONFORK) == 0;
}

bool os_keep_from_fork(void *at, size_t bytes)
{
	return os_call3(SYS_madvise, at, whole_pages(bytes), MADV_DONTFORK) == 0;
}

int os_pid(void)
{
	return (int)os_call0(SYS_getpid);
}

int os_tid(void)
{
	return (int)os_call0(SYS_gettid);
}

bool os_thread_exists(int pid, int tid)
{
	return os_call3(SYS_tgkill, pid, tid, 0) != -ESRCH;
}

bool os_tid_exists(int tid)
{
	return os_call2(SYS_tkill, tid, 0) != -ESRCH;
}

int os_open(const char *path, int flags, int mode)
{
	unsigned interruptions = 0;
	long fd;

	do
		fd = os_call4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
	while (fd == -EINTR && interruptions++ < INTERRUPTIONS_MAX);
	return (int)fd;
}

static int high_descriptor(void)
{
	struct rlimit limit;

	if (os_call2(SYS_getrlimit, RLIMIT_NOFILE, &limit) != 0)
		return HIGH_DESCRIPTOR;
	if (limit.rlim_cur > HIGH_DESCRIPTOR + 64)
		return HIGH_DESCRIPTOR;
	return limit.rlim_cur > 16 ? (int)limit.rlim_cur - 8 : 3;
}

int os_open_high(const char *path, int flags, int mode)
{
	int low = os_open(path, flags, mode);
	long high;

	if (low < 0)
		return low;
	high = os_call3(SYS_fcntl, low, F_DUPFD_CLOEXEC, high_descriptor());
	if (os_is_error(high))
		return low;
	os_close(low);
	return (int)high;
}

int os_close(int descriptor)
{
	return (int)os_call1(SYS_close, descriptor);
}

int os_pwrite_all(int descriptor, const void *bytes, size_t count, uint64_t offset)
{
	unsigned interruptions = 0;
	const char *at = bytes;

	while (count) {
		long done = os_call4(SYS_pwrite64, descriptor, at, count, offset);

		if (done == -EINTR && interruptions++ < INTERRUPTIONS_MAX)
			continue;
		if (done <= 0)
			return done ? (int)done : -EIO;
		at += done;
		count -= (size_t)done;
		offset += (uint64_t)done;
	}
	return 0;
}

long os_pwrite_two(int descriptor, const struct iovec parts[2], uint64_t offset)
{
	unsigned interruptions = 0;
	long done;

	do
		done = os_call5(SYS_pwritev, descriptor, parts, 2, offset, 0);
	while (done == -EINTR && interruptions++ < INTERRUPTIONS_MAX);
	return done;
}

long os_pread(int descriptor, void *out, size_t count, uint64_t offset)
{
	unsigned interruptions = 0;
	size_t have = 0;

	while (have < count) {
		long done = os_call4(SYS_pread64, descriptor, (char *)out + have, count - have,
				     offset + have);

		if (done == -EINTR && interruptions++ < INTERRUPTIONS_MAX)
			continue;
		if (done < 0)
			return have ? (long)have : done;
		if (done == 0)
			break;
		have += (size_t)done;
	}
	return (long)have;
}

long os_read_file(const char *path, char *out, size_t room)
{
	int fd = os_open(path, O_RDONLY | O_NOCTTY, 0);
	unsigned interruptions = 0;
	size_t have = 0;
	long done = 0;

	out[0] = '\0';
	if (fd < 0)
		return fd;
	while (have < room - 1) {
		done = os_call3(SYS_read, fd, out + have, room - 1 - have);
		if (done == -EINTR && interruptions++ < INTERRUPTIONS_MAX)
			continue;
		if (done <= 0)
			break;
		have += (size_t)done;
	}
	os_close(fd);
	out[have] = '\0';
	return done < 0 ? done : (long)have;
}

int os_stat(const char *path, struct stat *st)
{
	return (int)os_call4(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int os_lstat(const char *path, struct stat *st)
{
	return (int)os_call4(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int os_fstat(int descriptor, struct stat *st)
{
	return (int)os_call2(SYS_fstat, descriptor, st);
}

long os_readlink(const char *path, char *out, size_t room)
{
	long length = os_call4(SYS_readlinkat, AT_FDCWD, path, out, room - 1);

	out[length > 0 ? length : 0] = '\0';
	return length;
}

bool os_is_file(int descriptor, uint64_t device, uint64_t inode)
{
	struct stat st;

	return descriptor >= 0 && os_fstat(descriptor, &st) == 0 && st.st_dev == device &&
	       st.st_ino == inode;
}

bool os_file_may_grow_to(uint64_t bytes)
{
	struct rlimit limit;

	return os_call2(SYS_getrlimit, RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

#define SIGNAL(number) (1ull << ((number) - 1))

/* The kernel would kill who blocks these and then causes one. */
#define SIGNALS_LEFT                                                                               \
	(SIGNAL(SIGSEGV) | SIGNAL(SIGBUS) | SIGNAL(SIGILL) | SIGNAL(SIGFPE) | SIGNAL(SIGTRAP) |    \
	 SIGNAL(SIGSYS))

/* No mask can hold SIGKILL: nothing was blocked. */
#define MASK_UNKNOWN SIGNAL(SIGKILL)

uint64_t os_block_signals(void)
{
	const uint64_t wanted = ~SIGNALS_LEFT;
	uint64_t before = 0;

	if (os_is_forbidden ||
	    os_call4(SYS_rt_sigprocmask, SIG_BLOCK, &wanted, &before, sizeof(before)) != 0)
		return MASK_UNKNOWN;
	return before;
}

void os_restore_signals(uint64_t mask)
{
	if (mask != MASK_UNKNOWN && !os_is_forbidden)
		os_call4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}

void os_yield(void)
{
	os_call0(SYS_sched_yield);
}

void os_sleep_ns(uint64_t ns)
{
	struct timespec wait = {
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u),
	};

	os_call2(SYS_nanosleep, &wait, 0);
}
