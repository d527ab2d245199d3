/*
 * The kernel, spoken to directly. The traced program may define `write`,
 * `open`, `memcpy` or anything else: nothing here goes through a symbol that it
 * could own, nothing touches errno, nothing allocates. A call returns what the
 * kernel returns: a negative error number on failure.
 *
 * Any thread, any time, signal handlers included.
 */
#ifndef LIBMEMPROF_OS_H
#define LIBMEMPROF_OS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "arch_x86_64.h"

#define OS_PAGE_BYTES 4096u
#define OS_PATH_MAX 4096

/* The program has installed filters of system calls (sandbox.h). */
extern bool os_has_sandbox;
bool os_sandbox_lets_pass(long number, const long arguments[6]);

static inline long os_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (__builtin_expect(os_has_sandbox, 0) &&
	    !os_sandbox_lets_pass(number, (const long[]){ a, b, c, d, e, f }))
		return -EPERM;
	return arch_syscall(number, a, b, c, d, e, f);
}

#define os_call0(n) os_call(n, 0, 0, 0, 0, 0, 0)
#define os_call1(n, a) os_call(n, (long)(a), 0, 0, 0, 0, 0)
#define os_call2(n, a, b) os_call(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define os_call3(n, a, b, c) os_call(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define os_call4(n, a, b, c, d) os_call(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define os_call5(n, a, b, c, d, e)                                                                 \
	os_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define os_call6(n, a, b, c, d, e, f)                                                              \
	os_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#define os_is_error(result) ((unsigned long)(result) >= (unsigned long)-4095)

/* The program has forbidden itself all system calls (seccomp strict): none is made
 * any more. Looked at where work that needs them begins: after this nothing but
 * stores into slots is done, and what doesn't fit there is lost and counted. */
extern bool os_is_forbidden;

/* Zeroed private pages, NULL when there are none. Pages cost nothing before
 * they are touched (MAP_NORESERVE). @bytes is rounded up to whole pages. */
void *os_map(size_t bytes);
void os_unmap(void *at, size_t bytes);

/* Fork: the child finds these whole pages zeroed, or doesn't have them at all. */
bool os_wipe_on_fork(void *at, size_t bytes);
bool os_keep_from_fork(void *at, size_t bytes);

int os_pid(void);
int os_tid(void);

/* Is thread @tid of process @pid still there? */
bool os_thread_exists(int pid, int tid);

/* The same of any process: numbers are used again. */
bool os_tid_exists(int tid);

/* Opens with O_CLOEXEC. A descriptor that is kept is opened `high`: it lands far
 * above those that programs count on (3, 4, 5 ...), where the limit allows it. */
int os_open(const char *path, int flags, int mode);
int os_open_high(const char *path, int flags, int mode);
int os_close(int descriptor);

/* Writes or reads everything, going on after EINTR and short counts. 0 or a
 * negative error; os_read_file: bytes read, with a zero behind them; os_pwrite_two
 * writes once, as much as it can, and tells how much. */
long os_pwrite_two(int descriptor, const struct iovec parts[2], uint64_t offset);
int os_pwrite_all(int descriptor, const void *bytes, size_t count, uint64_t offset);
long os_read_file(const char *path, char *out, size_t room);
long os_pread(int descriptor, void *out, size_t count, uint64_t offset);

int os_stat(const char *path, struct stat *st);  /* follows links */
int os_lstat(const char *path, struct stat *st); /* doesn't */
int os_fstat(int descriptor, struct stat *st);
long os_readlink(const char *path, char *out, size_t room); /* adds the zero */

/* Is the descriptor still this file? Programs close and reuse numbers. */
bool os_is_file(int descriptor, uint64_t device, uint64_t inode);

/* May a file grow to @bytes? Beyond RLIMIT_FSIZE lies SIGXFSZ: ask first. */
bool os_file_may_grow_to(uint64_t bytes);

/*
 * Between these no handler runs in the calling thread, save those of faults and of
 * SIGSYS, which can't wait. They nest. os_block_signals gives what is to be handed
 * to os_restore_signals.
 */
uint64_t os_block_signals(void);
void os_restore_signals(uint64_t mask);

void os_yield(void);
void os_sleep_ns(uint64_t ns);

/* String functions of our own. memcpy, memmove, memset, memcmp and strlen are
 * defined too (hidden), since compilers make calls to them on their own. */
bool text_equal(const char *a, const char *b);
bool text_begins(const char *text, const char *prefix);
const char *text_find(const char *text, char wanted);      /* NULL: not there */
const char *text_find_last(const char *text, char wanted); /* NULL: not there */
bool text_number(const char *text, const char **end, uint64_t *value);

/* A small snprintf: %s %d %u %lu %lx %zu %c %%. Always terminates the text and
 * returns the length that it has (cut when there is no room). */
size_t text_format(char *out, size_t room, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
size_t text_format_list(char *out, size_t room, const char *format, __builtin_va_list args)
	__attribute__((format(printf, 3, 0)));

#endif
