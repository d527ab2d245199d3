/*
 * Lines on stderr that can do no harm: not into a file that took over the
 * descriptor's number, not blocking on a full pipe, not killing by SIGPIPE.
 */
#define _GNU_SOURCE
#include "log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>

#include "os.h"

#define LINE_BYTES 640
#define STDERR 2

static struct {
	uint32_t level;
	uint32_t is_started;
	uint64_t device, inode; /* what descriptor 2 was at the start */
} log_state = { .level = LOG_WARN };

void log_start(void)
{
	struct stat st;

	if (log_state.is_started)
		return;
	log_state.is_started = 1;
	if (os_fstat(STDERR, &st) != 0)
		return;
	log_state.device = st.st_dev;
	log_state.inode = st.st_ino;
}

void log_set_level(enum log_level level)
{
	log_state.level = level;
}

static bool stderr_is_ours_to_use(void)
{
	struct pollfd ask = { .fd = STDERR, .events = POLLOUT };
	struct timespec at_once = { 0, 0 };
	struct stat st;

	log_start();
	if (os_fstat(STDERR, &st) != 0 || !log_state.inode)
		return false;
	if (st.st_dev != log_state.device || st.st_ino != log_state.inode)
		return false;
	return os_call5(SYS_ppoll, &ask, 1, &at_once, 0, 8) == 1 && (ask.revents & POLLOUT);
}

/* One write with SIGPIPE held back; one that we raised is taken off again. */
static void write_line(const char *line, size_t length)
{
	const uint64_t pipe_bit = 1ull << (SIGPIPE - 1);
	struct timespec at_once = { 0, 0 };
	uint64_t before = 0, pending = 0;

	os_call4(SYS_rt_sigprocmask, SIG_BLOCK, &pipe_bit, &before, 8);
	os_call2(SYS_rt_sigpending, &pending, 8);
	if (os_call3(SYS_write, STDERR, line, length) == -EPIPE && !(pending & pipe_bit))
		os_call4(SYS_rt_sigtimedwait, &pipe_bit, 0, &at_once, 8);
	os_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, 8);
}

static void log_line(const char *format, va_list args)
{
	char line[LINE_BYTES];
	size_t length;

	if (!stderr_is_ours_to_use())
		return;
	length = text_format(line, sizeof(line) - 1, "memprof: ");
	length += text_format_list(line + length, sizeof(line) - 1 - length, format, args);
	line[length++] = '\n';
	write_line(line, length);
}

void log_warn(const char *format, ...)
{
	va_list args;

	if (log_state.level < LOG_WARN)
		return;
	va_start(args, format);
	log_line(format, args);
	va_end(args);
}

void log_info(const char *format, ...)
{
	va_list args;

	if (log_state.level < LOG_INFO)
		return;
	va_start(args, format);
	log_line(format, args);
	va_end(args);
}
