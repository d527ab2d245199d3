/*
 * One row per variable: its name, what its value looks like, its default, where
 * it goes. The environment is taken from libc where libc knows it by now, else
 * from /proc/self/environ: a program's pre-init constructors run before that.
 */
#define _GNU_SOURCE
#include "settings.h"

#include <string.h>

#include "log.h"
#include "os.h"
#include "owner_lock.h"

#define ENVIRON_BYTES_MAX (4u << 20)
#define VARIABLES_MAX 65536

extern char **environ;

/* ---- kinds of values --------------------------------------------------- */

static bool parse_suffix(const char *at, uint64_t *value)
{
	static const char letters[] = "KMGT";
	unsigned shift = 0;
	const char *letter;

	if (*at) {
		letter = text_find(letters, *at & ~0x20);
		if (!letter)
			return false;
		shift = 10 * (unsigned)(letter - letters + 1);
		at++;
		if (*at == 'i')
			at++;
		if (*at == 'B')
			at++;
	}
	if (*at || *value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}

static bool parse_bytes(const char *text, uint64_t *value)
{
	const char *end;

	return text_number(text, &end, value) && parse_suffix(end, value);
}

static bool parse_rate(const char *text, uint64_t *value)
{
	return parse_bytes(text, value) && *value >= 1 && *value <= SETTINGS_RATE_MAX;
}

static bool parse_max_trace(const char *text, uint64_t *value)
{
	if (text_equal(text, "none")) {
		*value = UINT64_MAX;
		return true;
	}
	return parse_bytes(text, value) && *value > 0;
}

static bool parse_number(const char *text, uint64_t *value)
{
	const char *end;

	return text_number(text, &end, value) && !*end;
}

static bool parse_depth(const char *text, uint64_t *value)
{
	return parse_number(text, value) && *value <= SETTINGS_DEPTH_MAX;
}

static bool parse_switch(const char *text, uint64_t *value)
{
	return parse_number(text, value) && *value <= 1;
}

static bool parse_time(const char *text, uint64_t *value)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	const char *end;

	if (!text_number(text, &end, value))
		return false;
	if (!*end)
		return *value == 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (text_equal(end, units[i].unit))
			return !__builtin_mul_overflow(*value, units[i].ns, value);
	return false;
}

static const char *const log_levels[] = { "quiet", "warn", "info" };

static bool parse_log(const char *text, uint64_t *value)
{
	for (size_t i = 0; i < sizeof(log_levels) / sizeof(log_levels[0]); i++)
		if (text_equal(text, log_levels[i])) {
			*value = i;
			return true;
		}
	return false;
}

/* A value as its parser takes it. */
static void print_value(bool (*parse)(const char *, uint64_t *), uint64_t value, char out[32])
{
	if (parse == parse_log)
		text_format(out, 32, "%s", log_levels[value]);
	else if (parse == parse_max_trace && value == UINT64_MAX)
		text_format(out, 32, "none");
	else
		text_format(out, 32, "%lu%s", value, parse == parse_time ? "ns" : "");
}

/* ---- the table --------------------------------------------------------- */

struct setting_row {
	const char *name;
	bool (*parse)(const char *text, uint64_t *value); /* NULL: a text */
	size_t at;                                        /* where in struct settings */
	const char *fallback;                             /* the default, as a user writes it */
	const char *wanted;
};

#define AT(field) __builtin_offsetof(struct settings, field)

static const struct setting_row rows[] = {
	{ "MEMPROF_RATE", parse_rate, AT(rate_bytes), "512K",
	  "bytes from 1 to 1T, as in 512K; 1 = every allocation" },
	{ "MEMPROF_OUTPUT", NULL, AT(output), "memprof.%e.%p.trace", "a path below 2000 bytes" },
	{ "MEMPROF_DEPTH", parse_depth, AT(depth), "256", "frames from 0 to 65535" },
	{ "MEMPROF_MMAP", parse_switch, AT(record_mmap), "1", "0 or 1" },
	{ "MEMPROF_CHILDREN", parse_switch, AT(follow_children), "1", "0 or 1" },
	{ "MEMPROF_START", parse_switch, AT(start_active), "1", "0 or 1" },
	{ "MEMPROF_READINGS", parse_time, AT(reading_ns), "100ms", "a time as in 100ms, or 0" },
	{ "MEMPROF_FREE_STACKS", parse_switch, AT(free_stacks), "0", "0 or 1" },
	{ "MEMPROF_SEED", parse_number, AT(seed), NULL, "a number" },
	{ "MEMPROF_MAX_TRACE", parse_max_trace, AT(max_trace_bytes), "none",
	  "bytes, as in 500M, or none" },
	{ "MEMPROF_LOG", parse_log, AT(log_level), "warn", "quiet, warn or info" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static bool row_take(const struct setting_row *row, struct settings *settings, const char *text)
{
	char *target = (char *)settings + row->at;
	uint64_t value;

	if (!row->parse) {
		if (!*text || strlen(text) >= 2000)
			return false;
		text_format(target, sizeof(settings->output), "%s", text);
		return true;
	}
	if (!row->parse(text, &value))
		return false;
	memcpy(target, &value, sizeof(value));
	return true;
}

static const char *find_variable(char *const environment[], const char *name)
{
	size_t length = strlen(name);

	for (; environment && *environment; environment++)
		if (text_begins(*environment, name) && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

static uint64_t random_seed(void)
{
	uint64_t seed = 0;

	if (os_call3(SYS_getrandom, &seed, sizeof(seed), 1 /* GRND_NONBLOCK */) != sizeof(seed))
		seed = arch_ticks() * 0x9e3779b97f4a7c15u;
	return seed;
}

void settings_read(struct settings *settings, char *const environment[],
		   void (*complain)(const char *name, const char *value, const char *wanted))
{
	settings->seed = random_seed();
	for (size_t i = 0; i < ROWS; i++) {
		const char *text = find_variable(environment, rows[i].name);

		if (rows[i].fallback)
			row_take(&rows[i], settings, rows[i].fallback);
		if (text && *text && !row_take(&rows[i], settings, text) && complain)
			complain(rows[i].name, text, rows[i].wanted);
	}
}

size_t settings_text(const struct settings *settings, char *out, size_t room)
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ROWS && length + 1 < room; i++) {
		const char *field = (const char *)settings + rows[i].at;
		char number[32];
		uint64_t value;

		if (rows[i].parse) {
			memcpy(&value, field, sizeof(value));
			print_value(rows[i].parse, value, number);
			field = number;
		}
		length += text_format(out + length, room - length, "%s=%s\n", rows[i].name, field);
	}
	return length;
}

/* ---- the environment ---------------------------------------------------- */

static struct {
	struct owner_lock lock;
	uint32_t is_read;
	struct settings settings;
} settings_state;

/* Other variables that matter to us, copied: the program may change its own. */
static struct {
	const char *name;
	bool is_set;
	char value[2048];
} kept[] = { { .name = "TMPDIR" }, { .name = "MEMPROF_IMAGE" } };

#define KEPT (sizeof(kept) / sizeof(kept[0]))

static void keep_variables(char *const environment[])
{
	for (size_t i = 0; i < KEPT; i++) {
		const char *value = find_variable(environment, kept[i].name);

		if (value && strlen(value) < sizeof(kept[i].value)) {
			text_format(kept[i].value, sizeof(kept[i].value), "%s", value);
			kept[i].is_set = true;
		}
	}
}

/* Splits the zero-terminated strings of /proc/self/environ into a list. */
static char **list_strings(char *text, size_t length)
{
	char **list = os_map(VARIABLES_MAX * sizeof(*list));
	size_t count = 0;

	for (size_t at = 0; list && at < length && count < VARIABLES_MAX - 1;) {
		list[count++] = text + at;
		at += strlen(text + at) + 1;
	}
	return list;
}

static char **environment_from_proc(void)
{
	char *text = os_map(ENVIRON_BYTES_MAX);
	long length;

	if (!text)
		return NULL;
	length = os_read_file("/proc/self/environ", text, ENVIRON_BYTES_MAX);
	return length > 0 ? list_strings(text, (size_t)length) : NULL;
}

static void say_bad_value(const char *name, const char *value, const char *wanted)
{
	log_warn("%s=%s: not understood, the default is used (wanted: %s)", name, value, wanted);
}

static void read_once(void)
{
	char *const *environment = environ ? environ : environment_from_proc();
	struct settings *settings = &settings_state.settings;
	const char *level = find_variable(environment, "MEMPROF_LOG");

	/* First of all how much may be said, then the rest may complain. */
	log_start();
	settings->log_level = LOG_WARN;
	if (level)
		parse_log(level, &settings->log_level);
	log_set_level((enum log_level)settings->log_level);
	keep_variables(environment);
	settings_read(settings, environment, say_bad_value);
}

const struct settings *settings_get(void)
{
	if (__builtin_expect(__atomic_load_n(&settings_state.is_read, __ATOMIC_ACQUIRE), 1))
		return &settings_state.settings;
	if (!owner_lock_take(&settings_state.lock))
		return &settings_state.settings;
	if (!settings_state.is_read)
		read_once();
	__atomic_store_n(&settings_state.is_read, 1, __ATOMIC_RELEASE);
	owner_lock_release(&settings_state.lock);
	return &settings_state.settings;
}

const char *settings_variable(const char *name)
{
	settings_get();
	for (size_t i = 0; i < KEPT; i++)
		if (text_equal(kept[i].name, name))
			return kept[i].is_set ? kept[i].value : NULL;
	return NULL;
}
