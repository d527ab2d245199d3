/*
 * What the library says on stderr: "memprof: ..." lines, at `warn` only when
 * something was lost or refused. A line goes out whole, only while descriptor 2
 * is still the file that it was at the start, and only if that can't block.
 */
#ifndef LIBMEMPROF_LOG_H
#define LIBMEMPROF_LOG_H

#include <stdbool.h>

enum log_level {
	LOG_QUIET = 0,
	LOG_WARN = 1,
	LOG_INFO = 2,
};

/* Remembers which file descriptor 2 is; once per process image, at the start. */
void log_start(void);
void log_set_level(enum log_level level);

/* Without "memprof: " and the newline; formats of text_format (os.h). A SIGPIPE
 * that the write would raise is taken back. Any thread, signal handlers too. */
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
