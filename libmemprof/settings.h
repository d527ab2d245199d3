/*
 * The MEMPROF_* variables. Read once, at first use, which can come before libc
 * knows the environment; never changed afterwards. A value that can't be
 * understood is named in one line on stderr and its default is used.
 */
#ifndef LIBMEMPROF_SETTINGS_H
#define LIBMEMPROF_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <memprof/control.h>

#define SETTINGS_RATE_EXACT 1

struct settings {
	uint64_t rate_bytes;      /* MEMPROF_RATE; 1 = exact */
	uint64_t depth;           /* MEMPROF_DEPTH; frames, 0 = no stacks */
	uint64_t record_mmap;     /* MEMPROF_MMAP; 0 or 1 */
	uint64_t follow_children; /* MEMPROF_CHILDREN; 0 or 1 */
	uint64_t start_active;    /* MEMPROF_START; 0 or 1 */
	uint64_t reading_ns;      /* MEMPROF_READINGS; 0 = none */
	uint64_t free_stacks;     /* MEMPROF_FREE_STACKS; 0 or 1 */
	uint64_t seed;            /* MEMPROF_SEED, or a random number */
	uint64_t max_trace_bytes; /* MEMPROF_MAX_TRACE; UINT64_MAX = no limit */
	uint64_t log_level;       /* MEMPROF_LOG; enum log_level */
	char output[2048];        /* MEMPROF_OUTPUT as given, or the default */
};

#define SETTINGS_RATE_MAX CONTROL_RATE_MAX
#define SETTINGS_DEPTH_MAX 65535

/* Never NULL. Any thread; the first call reads the environment. */
const struct settings *settings_get(void);

/* For tests and for settings_get: the settings that @environment (NAME=VALUE
 * strings, NULL at the end) asks for. @complain is called for each bad value. */
void settings_read(struct settings *settings, char *const environment[],
		   void (*complain)(const char *name, const char *value, const char *wanted));

/* NAME=VALUE lines of all settings as they are in force; returns the length. */
size_t settings_text(const struct settings *settings, char *out, size_t room);

/* TMPDIR or MEMPROF_IMAGE as they were at the start; NULL: not set. */
const char *settings_variable(const char *name);

#endif
