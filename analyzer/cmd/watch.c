/*
 * See watch.h. Kinds of rules are a table: how the number behind the name is
 * read, and when the rule asks for a snapshot. Each process has its own state
 * for each rule, so that one that grows doesn't hide behind another.
 */
#include "cmd/watch.h"

#include "trace/smaps.h"
#include "util/memory.h"
#include "util/option.h"
#include "view/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS 100               /* between looks at the processes that are known */
#define SEARCH_NS 500000000ull    /* between looks for new ones */
#define PROGRESS_NS 1000000000ull
#define FIRST_READING_NS 50000000ull
#define READING_NS 1000000000ull  /* shortest time between two readings of mappings ... */
#define READING_COST 1000         /* ... and in multiples of what one takes */

struct watched;
struct rule;

/* What a rule remembers of a process. */
struct rule_state {
	uint64_t since_ns;        /* every: the last snapshot */
	double resident;          /* growth: at the last snapshot */
	bool is_above;            /* rss, cgroup: snapshot taken, not below since */
};

struct rule_kind {
	const char *name;
	char sign;
	int (*parse)(const char *text, double *value);
	bool (*asks)(const struct rule *rule, const struct watched *watched,
		     struct rule_state *state, uint64_t now_ns);
};

struct rule {
	const struct rule_kind *kind;
	double value;
	unsigned taken;
};

struct watched {
	pid_t pid;
	struct live_process *process;
	struct rule_state *states; /* one for each rule */
	uint64_t next_reading_ns;
	double resident;
};

struct watch {
	struct rule *rules;
	size_t rule_count;
	struct watched *watched;
	size_t watched_count;
	uint64_t start_ns, next_search_ns, next_progress_ns;
	bool shows_progress, has_line;
};

const char watch_rules_words[] = "every=10s, growth=40%, rss>2G, cgroup>90%";

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- rules ------------------------------------------------------------------------ */

static int parse_seconds(const char *text, double *value)
{
	static const struct { const char *unit; double seconds; } units[] = {
		{ "", 1 }, { "s", 1 }, { "ms", 0.001 }, { "min", 60 }, { "m", 60 }, { "h", 3600 },
	};
	char *end;
	size_t i;

	*value = strtod(text, &end);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (end != text && !strcmp(end, units[i].unit)) {
			*value *= units[i].seconds;
			return *value >= STEP_MS / 1000.0 ? 0 : ERROR_USAGE;
		}
	}
	return ERROR_USAGE;
}

static int parse_percent(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !strcmp(end, "%") && *value > 0 ? 0 : ERROR_USAGE;
}

static int parse_bytes(const char *text, double *value)
{
	uint64_t bytes;

	if (option_size(text, &bytes))
		return ERROR_USAGE;
	*value = (double)bytes;
	return 0;
}

static bool asks_every(const struct rule *rule, const struct watched *watched,
		       struct rule_state *state, uint64_t now)
{
	(void)watched;
	if ((double)(now - state->since_ns) < rule->value * 1e9)
		return false;
	state->since_ns = now;
	return true;
}

static bool asks_growth(const struct rule *rule, const struct watched *watched,
			struct rule_state *state, uint64_t now)
{
	(void)now;
	if (state->resident == 0)
		state->resident = watched->resident;
	if (watched->resident < state->resident * (1 + rule->value / 100))
		return false;
	state->resident = watched->resident;
	return true;
}

/* Once when it goes above; again only after it was a tenth below. */
static bool crosses(double value, double limit, struct rule_state *state)
{
	bool was_above = state->is_above;

	if (value > limit)
		state->is_above = true;
	else if (value < 0.9 * limit)
		state->is_above = false;
	return state->is_above && !was_above;
}

static bool asks_rss(const struct rule *rule, const struct watched *watched,
		     struct rule_state *state, uint64_t now)
{
	(void)now;
	return crosses(watched->resident, rule->value, state);
}

static double read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	double number = 0;

	if (file && fscanf(file, "%lf", &number) != 1)
		number = 0; /* "max" */
	if (file)
		fclose(file);
	return number;
}

/* The share of its memory limit that the process's control group uses, in
 * percent; 0 where there is no limit. */
static double cgroup_share(pid_t pid)
{
	char path[64], line[4096], folder[4096] = "", *file;
	double used, most;
	FILE *list;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	list = fopen(path, "re");
	while (list && fgets(line, sizeof(line), list))
		if (!strncmp(line, "0::", 3))
			snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(line + 3, "\n"),
				 line + 3);
	if (list)
		fclose(list);
	file = memory_format("/sys/fs/cgroup%s/memory.max", folder);
	most = read_number(file);
	free(file);
	file = memory_format("/sys/fs/cgroup%s/memory.current", folder);
	used = read_number(file);
	free(file);
	return most > 0 ? 100 * used / most : 0;
}

static bool asks_cgroup(const struct rule *rule, const struct watched *watched,
			struct rule_state *state, uint64_t now)
{
	(void)now;
	return crosses(cgroup_share(watched->pid), rule->value, state);
}

static const struct rule_kind kinds[] = {
	{ "every", '=', parse_seconds, asks_every },
	{ "growth", '=', parse_percent, asks_growth },
	{ "rss", '>', parse_bytes, asks_rss },
	{ "cgroup", '>', parse_percent, asks_cgroup },
};

int watch_add_rule(struct watch *watch, const char *text, struct error *err)
{
	struct rule rule = { 0 };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t length = strlen(kinds[i].name);

		if (strncmp(text, kinds[i].name, length) || text[length] != kinds[i].sign)
			continue;
		rule.kind = &kinds[i];
		if (kinds[i].parse(text + length + 1, &rule.value))
			break;
		MEMORY_ROOM(watch->rules, watch->rule_count);
		watch->rules[watch->rule_count++] = rule;
		return 0;
	}
	return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
			 "%s is no rule for snapshots: expected %s", text, watch_rules_words);
}

/* ---- processes ---------------------------------------------------------------------- */

static double resident_bytes(pid_t pid)
{
	unsigned long size, resident = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static bool is_watched(const struct watch *watch, pid_t pid)
{
	size_t i;

	for (i = 0; i < watch->watched_count; i++)
		if (watch->watched[i].pid == pid)
			return true;
	return false;
}

static void watch_process(struct watch *watch, pid_t pid, uint64_t now)
{
	struct watched watched = { .pid = pid };
	struct error err;
	size_t i;

	/* Not recorded, not yet, or gone already: looked at again next time. */
	if (live_process_open(pid, &watched.process, &err))
		return;
	watched.states = memory_zeroed(watch->rule_count + 1, sizeof(*watched.states));
	for (i = 0; i < watch->rule_count; i++)
		watched.states[i].since_ns = now;
	MEMORY_ROOM(watch->watched, watch->watched_count);
	watch->watched[watch->watched_count++] = watched;
}

static void search(struct watch *watch, pid_t root, uint64_t now)
{
	pid_t *pids;
	ssize_t count = live_process_tree(root, &pids), i;

	for (i = 0; i < count; i++)
		if (!is_watched(watch, pids[i]))
			watch_process(watch, pids[i], now);
	if (count >= 0)
		free(pids);
	watch->next_search_ns = now + SEARCH_NS;
}

static void watched_release(struct watched *watched)
{
	live_process_close(watched->process);
	free(watched->states);
}

/* An exec ends a recording as an exit does: the companion's owner is another. */
static bool is_over(const struct watched *watched)
{
	return watched->resident == 0 || live_process_control(watched->process)->ended;
}

static void read_mappings(struct watched *watched, uint64_t now)
{
	uint64_t cost_ns;
	struct error err;

	smaps_record(watched->process, watched->pid, &err);
	cost_ns = now_ns() - now;
	watched->next_reading_ns =
		now + (cost_ns * READING_COST > READING_NS ? cost_ns * READING_COST : READING_NS);
}

static void take_snapshots(struct watch *watch, struct watched *watched, uint64_t now)
{
	size_t i;

	for (i = 0; i < watch->rule_count; i++) {
		struct rule *rule = &watch->rules[i];
		struct error err;
		char name[64];

		if (!rule->kind->asks(rule, watched, &watched->states[i], now))
			continue;
		snprintf(name, sizeof(name), "%s-%u", rule->kind->name, ++rule->taken);
		live_process_mark(watched->process, TRACE_MARK_SNAPSHOT, name, NULL, 0, &err);
		smaps_record(watched->process, watched->pid, &err);
	}
}

static void look(struct watch *watch, uint64_t now)
{
	size_t kept = 0, i;

	for (i = 0; i < watch->watched_count; i++) {
		struct watched *watched = &watch->watched[i];

		watched->resident = resident_bytes(watched->pid);
		if (is_over(watched)) {
			watched_release(watched);
			continue;
		}
		if (now >= watched->next_reading_ns)
			read_mappings(watched, now);
		take_snapshots(watch, watched, now);
		watch->watched[kept++] = *watched;
	}
	watch->watched_count = kept;
}

/* ---- the line ------------------------------------------------------------------------ */

static void show_progress(struct watch *watch, uint64_t now)
{
	char time[UNITS_BYTES], bytes[UNITS_BYTES];
	double resident = 0;
	size_t i;

	watch->next_progress_ns = now + PROGRESS_NS;
	if (!watch->shows_progress)
		return;
	for (i = 0; i < watch->watched_count; i++)
		resident += watch->watched[i].resident;
	fprintf(stderr, "\r\033[Kmemprof run: %s, %zu process%s recorded, %s resident",
		units_duration(time, now - watch->start_ns), watch->watched_count,
		watch->watched_count == 1 ? "" : "es", units_bytes(bytes, resident, false));
	watch->has_line = true;
}

static void clear_line(struct watch *watch)
{
	if (watch->has_line)
		fputs("\r\033[K", stderr);
	watch->has_line = false;
}

/* ---- waiting -------------------------------------------------------------------------- */

struct watch *watch_new(bool shows_progress)
{
	struct watch *watch = memory_zeroed(1, sizeof(*watch));

	watch->shows_progress = shows_progress;
	return watch;
}

void watch_free(struct watch *watch)
{
	while (watch->watched_count)
		watched_release(&watch->watched[--watch->watched_count]);
	free(watch->watched);
	free(watch->rules);
	free(watch);
}

static void step(struct watch *watch, pid_t pid)
{
	uint64_t now = now_ns();

	if (now < watch->start_ns + FIRST_READING_NS)
		return;
	if (now >= watch->next_search_ns)
		search(watch, pid, now);
	look(watch, now);
	if (now >= watch->next_progress_ns)
		show_progress(watch, now);
}

/* For kernels without pidfd_open, where poll can only pass the time. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

pid_t watch_wait(struct watch *watch, pid_t pid, int *status)
{
	int handle = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd ready = { .fd = handle, .events = POLLIN };
	pid_t ended;

	watch->start_ns = now_ns();
	watch->next_progress_ns = watch->start_ns + PROGRESS_NS;
	/* The first look is early: short programs have mappings, too. */
	if (poll(&ready, 1, (int)(FIRST_READING_NS / 1000000 + 5)) == 0) {
		do {
			step(watch, pid);
		} while (poll(&ready, 1, STEP_MS) <= 0 && !has_ended(pid));
	}
	clear_line(watch);
	if (handle >= 0)
		close(handle);
	do {
		ended = waitpid(pid, status, 0);
	} while (ended < 0 && errno == EINTR);
	return ended;
}
