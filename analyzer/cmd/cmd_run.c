/*
 * memprof run: starts a program with the library preloaded, lets the traces of
 * its whole process tree go into one folder, waits, and ends what processes
 * could not end by themselves. The program's terminal, signals and exit status
 * stay its own.
 */
#include "cmd/command.h"

#include "cmd/harvest.h"
#include "cmd/preload_check.h"
#include "cmd/watch.h"
#include "model/profile.h"
#include "util/guess.h"
#include "util/memory.h"
#include "util/option.h"
#include "view/units.h"

#include <memprof/variables.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

#define RATE_NOT_GIVEN UINT64_MAX
#define RATE_MOST (1ull << 40) /* as the library has it */

static struct run_request {
	bool exact, portable, quiet, wants_help, wants_version;
	uint64_t rate_bytes;
	bool wants_summary;
	const char *folder, *limits;
	struct option_list snapshots;
} request = { .rate_bytes = RATE_NOT_GIVEN };

static const struct option run_options[] = {
	{ "exact", 0, OPTION_FLAG, NULL, "record every allocation (the default)", &request.exact,
	  NULL, NULL },
	{ "rate", 0, OPTION_SIZE, "SIZE", "sample: one allocation in so many bytes on average",
	  &request.rate_bytes, NULL, NULL },
	{ "output", 'o', OPTION_STRING, "FOLDER", "where the traces go (memprof.NAME.PID)",
	  &request.folder, NULL, NULL },
	{ "portable", 0, OPTION_FLAG, NULL, "put names into the traces, for another machine",
	  &request.portable, NULL, NULL },
	{ "gate", 0, OPTION_STRING, "'LIMITS'", "then judge the traces, as memprof-gate does",
	  &request.limits, NULL, NULL },
	{ "snapshot", 0, OPTION_LIST, "RULE",
	  "snapshots from outside: every=10s, growth=40%, rss>2G, cgroup>90%", &request.snapshots,
	  NULL, NULL },
	{ "summary", 0, OPTION_FLAG, NULL, "then print the summary (the default on a terminal)",
	  &request.wants_summary, NULL, NULL },
	{ "quiet", 'q', OPTION_FLAG, NULL, "don't say where the traces are", &request.quiet, NULL,
	  NULL },
	{ "help", 'h', OPTION_FLAG, NULL, "this text", &request.wants_help, NULL, NULL },
	{ "version", 0, OPTION_FLAG, NULL, "print the version", &request.wants_version, NULL,
	  NULL },
	{ 0 },
};

static int print_help(void)
{
	fputs("memprof run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n\n"
	      "  Runs PROGRAM and records its allocations, and those of its children.\n"
	      "  Other settings (MEMPROF_DEPTH, ...) are taken from the environment.\n"
	      "  Exit status: PROGRAM's; if that is 0, the gate's; 126, 127 as env(1).\n",
	      stdout);
	option_help(stdout, "Options", run_options);
	return EXIT_DONE;
}

/* ---- what is needed before ---- */

/* Beside this program, or where `make install` puts it. */
static char *find_library(void)
{
	static const char *const places[] = { "libmemprof.so", "../lib/memprof/libmemprof.so",
					      "../lib/libmemprof.so" };
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length < 0)
		return NULL;
	self[length] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char *path = memory_format("%s/%s", self, places[i]);
		char *real = access(path, R_OK) ? NULL : realpath(path, NULL);

		free(path);
		if (real)
			return real;
	}
	return NULL;
}

static int check_library(const char *library, struct error *err)
{
	if (!library)
		return error_set(err, ERROR_NOT_FOUND, NULL, ERROR_NO_OFFSET,
				 "libmemprof.so is neither beside this program nor in "
				 "../lib/memprof");
	if (strpbrk(library, " :"))
		return error_set(err, ERROR_USAGE, library, ERROR_NO_OFFSET,
				 "LD_PRELOAD can't hold a path with a blank or a colon: put a "
				 "symbolic link to it elsewhere");
	return 0;
}

/* A mistyped setting would be as if it were not there. */
static void check_variable(const char *variable)
{
	static const size_t head = sizeof("MEMPROF_") - 1;
	size_t length = strcspn(variable, "=");
	struct guess guess;
	char hint[GUESS_HINT];

	if (strncmp(variable, "MEMPROF_", head) ||
	    !strncmp(variable, MEMPROF_IMAGE "=", length + 1))
		return;
	guess = guess_of(variable + head, length - head);
	for (size_t i = 0; i < MEMPROF_VARIABLES; i++) {
		if (strlen(memprof_variables[i]) == length &&
		    !memcmp(memprof_variables[i], variable, length))
			return;
		guess_offer(&guess, memprof_variables[i] + head);
	}
	guess_hint(&guess, "MEMPROF_", hint);
	fprintf(stderr, "memprof run: no setting is called %.*s%s\n", (int)length, variable,
		*hint ? hint : ": libmemprof(7) lists them");
}

static void check_variables(void)
{
	for (char **variable = environ; *variable; variable++)
		check_variable(*variable);
}

static void explain(const struct preload_check *check)
{
	fprintf(stderr, "memprof run: %s %s. It runs unrecorded.\n", check->path, check->why_not);
}

/* ---- the child ---- */

static char *folder_name(const char *program, pid_t pid)
{
	return request.folder ? memory_string(request.folder) :
				memory_format("memprof.%s.%d", path_base(program), (int)pid);
}

/* %-signs in the folder's name would be taken for MEMPROF_OUTPUT's own. */
static char *output_pattern(const char *folder)
{
	char *real = realpath(folder, NULL);
	char *pattern = memory_zeroed(strlen(real ? real : folder) * 2 + 32, 1), *to = pattern;

	for (const char *at = real ? real : folder; *at; at++) {
		if (*at == '%')
			*to++ = '%';
		*to++ = *at;
	}
	strcpy(to, "/%e.%p.trace");
	free(real);
	return pattern;
}

static bool rate_given(void)
{
	return request.rate_bytes != RATE_NOT_GIVEN;
}

static void set_environment(const char *library, const char *folder)
{
	const char *others = getenv("LD_PRELOAD");
	char *preload = others && *others ? memory_format("%s:%s", library, others) :
					    memory_string(library);
	char *pattern = output_pattern(folder);
	char rate[32];

	setenv("LD_PRELOAD", preload, 1);
	setenv("MEMPROF_OUTPUT", pattern, 1);
	snprintf(rate, sizeof(rate), "%llu",
		 rate_given() ? (unsigned long long)request.rate_bytes : 1ull);
	/* A rate in the environment counts as told, when no option says otherwise. */
	setenv("MEMPROF_RATE", rate, request.exact || rate_given());
	free(preload);
	free(pattern);
}

static bool is_folder(const char *path)
{
	struct stat status;
	bool is = !stat(path, &status) && S_ISDIR(status.st_mode);

	errno = EEXIST;
	return is;
}

static void start_program(char **argv, const char *library, const struct preload_check *check)
{
	bool wants_library = !check->why_not[0] || check->keep_in_environment;
	char *folder = folder_name(argv[0], getpid());
	int error;

	if (wants_library && mkdir(folder, 0777) && !(errno == EEXIST && is_folder(folder))) {
		fprintf(stderr, "memprof run: %s: can't be made a folder: %s\n", folder,
			strerror(errno));
		_exit(EXIT_UNUSABLE);
	}
	if (wants_library)
		set_environment(library, folder);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	execvp(argv[0], argv);
	error = errno;
	fprintf(stderr, "memprof run: %s: %s\n", argv[0], strerror(error));
	if (wants_library && !request.folder)
		rmdir(folder);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

/* ---- the parent ---- */

static volatile sig_atomic_t child_pid;

static void pass_on(int number)
{
	if (child_pid > 0)
		kill(child_pid, number);
}

/* The terminal sends SIGINT to the program as well: it is the program's to obey. */
static void take_signals(void)
{
	struct sigaction forward = { .sa_handler = pass_on };

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	sigaction(SIGTERM, &forward, NULL);
	sigaction(SIGHUP, &forward, NULL);
	sigaction(SIGUSR1, &forward, NULL);
	sigaction(SIGUSR2, &forward, NULL);
}

static int wait_for(struct watch *watch, pid_t pid)
{
	int status;

	if (watch_wait(watch, pid, &status) < 0)
		return EXIT_CANNOT_RUN;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Descendants that have ended are waited for; those that live on are theirs. */
static void reap_orphans(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* ---- the traces ---- */

static void say_where(const char *folder, const struct harvest *harvest)
{
	char bytes[UNITS_BYTES], older[64] = "";

	if (request.quiet)
		return;
	if (harvest->older)
		snprintf(older, sizeof(older), ", beside %zu of earlier runs", harvest->older);
	fprintf(stderr, "memprof run: %zu trace%s (%s) in %s%s\n", harvest->traces,
		harvest->traces == 1 ? "" : "s", units_bytes(bytes, harvest->bytes, false), folder,
		older);
	if (harvest->running)
		fprintf(stderr, "memprof run: %zu process%s still running, recorded on\n",
			harvest->running, harvest->running == 1 ? " is" : "es are");
	fprintf(stderr, "memprof run: look at it with: memprof-report %s\n",
		harvest->older && harvest->traces == 1 ? harvest->paths[0] : folder);
}

/* The words of a command line that is made here. */
struct words {
	char **items;
	size_t count;
};

static void words_add(struct words *words, const char *word)
{
	MEMORY_ROOM(words->items, words->count);
	words->items[words->count++] = (char *)word;
}

/* The traces of this run: the folder, when it holds no others. */
static void words_add_traces(struct words *words, const char *folder,
			     const struct harvest *harvest)
{
	if (!harvest->older)
		words_add(words, folder);
	for (size_t i = 0; harvest->older && i < harvest->traces; i++)
		words_add(words, harvest->paths[i]);
}

static int words_run(struct words *words, int (*command)(const char *, int, char **),
		     const char *program)
{
	int count = (int)words->count, status;

	words_add(words, NULL);
	status = command(program, count, words->items);
	free(words->items);
	return status;
}

/* Splits 'LIMITS' at blanks and lets the gate judge what was recorded; NULL: asks
 * whether it will be able to. */
static int ask_gate(const char *folder, const struct harvest *harvest)
{
	char *text = memory_string(request.limits), *rest = text, *word;
	struct words words = { 0 };
	int status;

	words_add(&words, "gate");
	while ((word = strtok_r(rest, " \t", &rest)))
		words_add(&words, word);
	if (harvest)
		words_add_traces(&words, folder, harvest);
	status = words_run(&words, harvest ? cmd_gate : cmd_gate_check, "memprof-gate");
	free(text);
	return status;
}

static void make_portable(const char *folder, const struct harvest *harvest)
{
	struct words words = { 0 };

	words_add(&words, "report");
	words_add(&words, "symbolize");
	words_add_traces(&words, folder, harvest);
	words_run(&words, cmd_report, "memprof run");
}

/* On stderr, since standard output is the program's. */
static void print_summary(const char *folder, const struct harvest *harvest)
{
	struct words words = { 0 };
	int out = dup(STDOUT_FILENO);

	words_add(&words, "report");
	words_add(&words, "summary");
	words_add_traces(&words, folder, harvest);
	fflush(stdout);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	words_run(&words, cmd_report, "memprof run");
	fflush(stdout);
	if (out >= 0) {
		dup2(out, STDOUT_FILENO);
		close(out);
	}
}

static int say_nothing_recorded(const char *folder, int status)
{
	if (status != EXIT_CANNOT_RUN && status != EXIT_NOT_FOUND)
		fputs("memprof run: nothing was recorded\n", stderr);
	if (!request.folder)
		rmdir(folder);
	if (status || !request.limits)
		return status;
	fputs("memprof run: so the gate can't judge it\n", stderr);
	return EXIT_UNUSABLE;
}

static int finish(const char *folder, const struct harvest_older *older, int status)
{
	struct harvest harvest = harvest_take(folder, older);

	if (!harvest.traces)
		return say_nothing_recorded(folder, status);
	if (request.portable)
		make_portable(folder, &harvest);
	say_where(folder, &harvest);
	if (request.wants_summary || (isatty(STDERR_FILENO) && !request.quiet))
		print_summary(folder, &harvest);
	if (status == 0 && request.limits)
		status = ask_gate(folder, &harvest);
	harvest_release(&harvest);
	return status;
}

static int run_program(char **argv, const char *library, const struct preload_check *check,
		       struct watch *watch)
{
	struct harvest_older older = { 0 };
	char *folder;
	int status;
	pid_t pid;

	if (request.folder)
		harvest_find_older(request.folder, &older);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	take_signals();
	pid = fork();
	if (pid == 0)
		start_program(argv, library, check);
	if (pid < 0) {
		fprintf(stderr, "memprof run: no new process: %s\n", strerror(errno));
		return EXIT_CANNOT_RUN;
	}
	child_pid = pid;
	status = wait_for(watch, pid);
	reap_orphans();
	folder = folder_name(argv[0], pid);
	status = finish(folder, &older, status);
	free(older.files);
	free(folder);
	return status;
}

static int add_rules(struct watch *watch, struct error *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < request.snapshots.count; i++)
		code = watch_add_rule(watch, request.snapshots.items[i], err);
	return code;
}

int cmd_run(const char *program, int argc, char **argv)
{
	const struct option *tables[] = { run_options, NULL };
	struct error err = { .offset = ERROR_NO_OFFSET };
	struct preload_check check;
	struct watch *watch;
	char *library;
	int first = option_parse(argc, argv, tables, NULL, &err), status;

	if (first < 0)
		return command_misused(program, &err);
	if (request.wants_help)
		return print_help();
	if (request.wants_version) {
		command_print_version(program);
		return EXIT_DONE;
	}
	if (first >= argc) {
		error_set(&err, ERROR_USAGE, NULL, ERROR_NO_OFFSET, "which program?");
		return command_misused(program, &err);
	}
	if (rate_given() && (!request.rate_bytes || request.rate_bytes > RATE_MOST)) {
		error_set(&err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
			  "--rate goes from 1 (every allocation) to 1T");
		return command_misused(program, &err);
	}
	if (request.exact && rate_given() && request.rate_bytes > 1) {
		error_set(&err, ERROR_USAGE, NULL, ERROR_NO_OFFSET,
			  "--exact and --rate exclude each other");
		return command_misused(program, &err);
	}
	watch = watch_new(isatty(STDERR_FILENO) && !request.quiet);
	if (add_rules(watch, &err))
		return command_misused(program, &err);
	/* What can't be judged is refused now, not when hours have been recorded. */
	if (request.limits && ask_gate(NULL, NULL))
		return EXIT_UNUSABLE;
	library = find_library();
	if (check_library(library, &err))
		return command_fails(program, &err);
	check_variables();
	preload_check(argv[first], &check);
	if (check.why_not[0])
		explain(&check);
	status = run_program(argv + first, library, &check, watch);
	watch_free(watch);
	free(library);
	return status;
}
