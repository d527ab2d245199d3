/*
 * memprof ctl: steers a process that is being recorded, from outside, through
 * its companion file. Each action is a row of the table; with --all it is done
 * for the process and all its descendants that are recorded.
 */
#include "cmd/command.h"

#include "trace/smaps.h"
#include "util/guess.h"
#include "util/option.h"
#include "view/units.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct ctl_request {
	const char *const *arguments; /* behind the action's name */
	size_t count;
	uint64_t rate_bytes;
};

struct ctl_action {
	const char *name;
	size_t least, most;           /* arguments */
	const char *usage;
	const char *words;
	int (*prepare)(struct ctl_request *request, struct error *err); /* may be NULL */
	int (*act)(struct live_process *process, pid_t pid, const struct ctl_request *request,
		   struct error *err);
};

static double seconds_since(uint64_t real_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)real_ns / 1e9;
}

static void print_trace_size(const char *path)
{
	struct stat status;
	char size[UNITS_BYTES];

	if (!stat(path, &status))
		printf("  trace size  %s on disk\n",
		       units_bytes(size, (double)status.st_blocks * 512, false));
}

static int act_status(struct live_process *process, pid_t pid, const struct ctl_request *request,
		      struct error *err)
{
	const struct control_page *control = live_process_control(process);
	char path[sizeof(control->trace_path)];

	(void)request;
	(void)err;
	memcpy(path, control->trace_path, sizeof(path));
	path[sizeof(path) - 1] = 0;
	printf("process %d\n", (int)pid);
	printf("  recording   %s\n", control->is_active ? "yes" : "no (stopped or not started)");
	if (control->rate_bytes == 1)
		printf("  rate        1: exact, every allocation\n");
	else
		printf("  rate        %" PRIu64 ": one sample in so many bytes on average\n",
		       control->rate_bytes);
	printf("  since       %.1f s\n", seconds_since(control->start_real_ns));
	printf("  lost events %" PRIu64 "\n", control->lost);
	printf("  trace       %s\n", path);
	print_trace_size(live_process_trace_path(process));
	return 0;
}

/* Longer than the clocks of mark and records can be apart. A mark of a start is
 * before all that is recorded after it, one of a stop behind most of what came
 * before; readers reckon with the rest. */
static void let_time_pass(void)
{
	usleep(2000);
}

static int act_start(struct live_process *process, pid_t pid, const struct ctl_request *request,
		     struct error *err)
{
	int code;

	(void)pid;
	(void)request;
	if (live_process_control(process)->is_active)
		return 0;
	code = live_process_mark(process, TRACE_MARK_START, NULL, NULL,
				 live_process_control(process)->rate_bytes, err);
	if (code)
		return code;
	let_time_pass();
	live_process_set_active(process, true);
	return 0;
}

static int act_stop(struct live_process *process, pid_t pid, const struct ctl_request *request,
		    struct error *err)
{
	(void)pid;
	(void)request;
	if (!live_process_control(process)->is_active)
		return 0;
	live_process_set_active(process, false);
	let_time_pass();
	return live_process_mark(process, TRACE_MARK_STOP, NULL, NULL, 0, err);
}

static int prepare_rate(struct ctl_request *request, struct error *err)
{
	if (option_size(request->arguments[0], &request->rate_bytes) || !request->rate_bytes ||
	    request->rate_bytes > CONTROL_RATE_MAX)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "%s is no rate: expected a number of bytes from 1 (exact) to 1T, "
				 "such as 512K", request->arguments[0]);
	return 0;
}

static int act_rate(struct live_process *process, pid_t pid, const struct ctl_request *request,
		    struct error *err)
{
	(void)pid;
	live_process_set_rate(process, request->rate_bytes);
	return live_process_mark(process, TRACE_MARK_RATE, NULL, NULL, request->rate_bytes, err);
}

static const char *argument(const struct ctl_request *request, size_t index)
{
	return index < request->count ? request->arguments[index] : NULL;
}

static int act_snapshot(struct live_process *process, pid_t pid, const struct ctl_request *request,
			struct error *err)
{
	int code = live_process_mark(process, TRACE_MARK_SNAPSHOT, argument(request, 0), NULL, 0,
				     err);

	/* Where the resident memory was then; without it the snapshot is one, too. */
	if (!code)
		smaps_record(process, pid, NULL);
	return code;
}

static int act_event(struct live_process *process, pid_t pid, const struct ctl_request *request,
		     struct error *err)
{
	(void)pid;
	return live_process_mark(process, TRACE_MARK_EVENT, argument(request, 0),
				 argument(request, 1), 0, err);
}

static int act_reset(struct live_process *process, pid_t pid, const struct ctl_request *request,
		     struct error *err)
{
	(void)pid;
	(void)request;
	return live_process_mark(process, TRACE_MARK_RESET, NULL, NULL, 0, err);
}

static const struct ctl_action actions[] = {
	{ "status", 0, 0, "", "says what is recorded, and where", NULL, act_status },
	{ "start", 0, 0, "", "records from now on", NULL, act_start },
	{ "stop", 0, 0, "", "stops: blocks live now become unknown", NULL, act_stop },
	{ "rate", 1, 1, "N", "one sample in N bytes (1 = every allocation)", prepare_rate,
	  act_rate },
	{ "snapshot", 0, 1, "[NAME]", "marks this moment: TRACE@NAME is what is live now", NULL,
	  act_snapshot },
	{ "event", 1, 2, "NAME [DETAIL]", "marks that something happened", NULL, act_event },
	{ "reset", 0, 0, "", "marks where to count from: TRACE@reset", NULL, act_reset },
};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

static bool all_processes, want_help, want_version;

static const struct option options[] = {
	{ "all", 'a', OPTION_FLAG, NULL, "also all descendants of PID that are recorded",
	  &all_processes, NULL, NULL },
	{ "help", 'h', OPTION_FLAG, NULL, "print this help", &want_help, NULL, NULL },
	{ "version", 0, OPTION_FLAG, NULL, "print the version", &want_version, NULL, NULL },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, NULL, NULL },
};

static int print_help(const char *program)
{
	size_t i;

	printf("Usage: %s [--all] PID ACTION\n\n"
	       "Steers a process that memprof records, from outside. PID as this shell sees it.\n\n"
	       "Actions:\n", program);
	for (i = 0; i < ACTIONS; i++)
		printf("  %-9s %-15s %s\n", actions[i].name, actions[i].usage, actions[i].words);
	printf("\n");
	option_help(stdout, "Options:", options);
	return EXIT_DONE;
}

static const struct ctl_action *find_action(const char *name)
{
	size_t i;

	for (i = 0; i < ACTIONS; i++)
		if (!strcmp(actions[i].name, name))
			return &actions[i];
	return NULL;
}

static int no_such_action(const char *name, struct error *err)
{
	struct guess guess = guess_of(name, strlen(name));
	char hint[GUESS_HINT];
	size_t i;

	for (i = 0; i < ACTIONS; i++)
		guess_offer(&guess, actions[i].name);
	return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET, "%s is no action%s", name,
			 guess_hint(&guess, "", hint));
}

static int parse_pid(const char *word, pid_t *pid)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(word, &end, 10);
	if (errno || *end || end == word || number <= 0 || number > INT_MAX)
		return ERROR_USAGE;
	*pid = (pid_t)number;
	return 0;
}

static int parse_request(const struct option_list *words, pid_t *pid,
			 const struct ctl_action **action, struct ctl_request *request,
			 struct error *err)
{
	if (words->count < 2)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
				 "expected PID ACTION");
	if (parse_pid(words->items[0], pid))
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET, "%s is no process id",
				 words->items[0]);
	*action = find_action(words->items[1]);
	if (!*action)
		return no_such_action(words->items[1], err);
	request->arguments = words->items + 2;
	request->count = words->count - 2;
	if (request->count < (*action)->least || request->count > (*action)->most)
		return error_set(err, ERROR_USAGE, NULL, ERROR_NO_OFFSET, "usage: PID %s %s",
				 (*action)->name, (*action)->usage);
	return (*action)->prepare ? (*action)->prepare(request, err) : 0;
}

static int act_on(pid_t pid, const struct ctl_action *action, const struct ctl_request *request,
		  struct error *err)
{
	struct live_process *process;
	int code = live_process_open(pid, &process, err);

	if (code)
		return code;
	code = action->act(process, pid, request, err);
	live_process_close(process);
	return code;
}

/* Descendants that are not recorded are passed over; it is an error only when
 * none is. */
static int act_on_tree(const char *program, pid_t root, const struct ctl_action *action,
		       const struct ctl_request *request, struct error *err)
{
	pid_t *pids;
	ssize_t count = live_process_tree(root, &pids), i;
	int done = 0, failed = 0, code;

	if (count < 0)
		return error_set(err, (enum error_code)count, NULL, ERROR_NO_OFFSET,
				 "out of memory");
	for (i = 0; i < count; i++) {
		code = act_on(pids[i], action, request, err);
		done += !code;
		if (code && code != ERROR_NOT_FOUND) {
			error_print(err, program);
			failed = code;
		}
	}
	free(pids);
	if (failed)
		return error_set(err, failed, NULL, ERROR_NO_OFFSET, "not done for all processes");
	return done ? 0 : ERROR_NOT_FOUND;
}

int cmd_ctl(const char *program, int argc, char **argv)
{
	const struct option *const tables[] = { options, NULL };
	struct option_list words = { 0 };
	const struct ctl_action *action = NULL;
	struct ctl_request request = { 0 };
	struct error err = { 0 };
	pid_t pid = 0;
	int code;

	if (option_parse(argc, argv, tables, &words, &err) < 0)
		return command_misused(program, &err);
	if (want_help)
		return print_help(program);
	if (want_version) {
		command_print_version(program);
		return EXIT_DONE;
	}
	if (parse_request(&words, &pid, &action, &request, &err))
		return command_misused(program, &err);
	code = all_processes ? act_on_tree(program, pid, action, &request, &err)
			     : act_on(pid, action, &request, &err);
	free(words.items);
	return code ? command_fails(program, &err) : EXIT_DONE;
}
