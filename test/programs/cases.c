/* FLAGS: -ldl -fno-builtin -fno-optimize-sibling-calls -Wno-unused-result -Wno-alloc-size-larger-than -Wno-infinite-recursion */
/*
 * Small programs of the kinds that break heap profilers, one per word:
 *
 *	cases NAME
 *
 * Allocations are made in noinline functions with a name of their own, the
 * sites. Each case ends by printing what a report must say, to the byte:
 *
 *	site NAME ALLOCATIONS BYTES LIVE LIVE_BYTES      over all stacks with that function
 *	mapped LIVE_BYTES                                  of the program's own mmap and brk
 *	peak BYTES                                         at least
 *	children SITE PROCESSES ALLOCATIONS BYTES          over the traces of other processes
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;
static const char *self;

/* A site: a function that allocates and can't be inlined or merged. */
#define SITE(name)                                                                                 \
	__attribute__((noinline, noclone)) void *name(size_t size);                                \
	void *name(size_t size)                                                                    \
	{                                                                                          \
		void *block = malloc(size);                                                        \
		__asm__ volatile("" : "+r"(block)::"memory");                                      \
		return block;                                                                      \
	}

static void expect(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* ---- start ------------------------------------------------------------------------- */

SITE(site_preinit)
SITE(site_constructor)
static void *early_block, *constructor_block;

static void preinit(void)
{
	early_block = site_preinit(40);
}
__attribute__((section(".preinit_array"), used)) static void (*preinit_entry)(void) = preinit;

static void __attribute__((constructor(101))) constructor(void)
{
	constructor_block = site_constructor(41);
}

static void early(void)
{
	free(constructor_block);
	expect("site site_preinit 1 40 1 40");
	expect("site site_constructor 1 41 0 0");
}

/* ---- the calls ----------------------------------------------------------------------- */

__attribute__((noinline)) static void site_family(void)
{
	void *block = NULL;

	free(memalign(64, 100));
	if (!posix_memalign(&block, 4096, 101))
		free(block);
	free(aligned_alloc(32, 96));
	free(valloc(103));
	free(pvalloc(104));
	free(calloc(3, 35));
	free(reallocarray(NULL, 4, 26));
	__asm__ volatile("");
}

static void family(void)
{
	site_family();
	expect("site site_family 7 713 0 0");
}

__attribute__((noinline)) static void site_realloc(void)
{
	char *block = malloc(100), *same;
	volatile size_t huge = SIZE_MAX / 2;

	same = realloc(block, huge); /* fails: the block stays */
	if (same)
		abort();
	block = realloc(block, 300);
	block = realloc(block, 50);
	same = realloc(block, 0); /* one free, no allocation */
	__asm__ volatile("" : : "r"(same));
}

static void realloc_fails(void)
{
	site_realloc();
	expect("site site_realloc 3 450 0 0");
}

__attribute__((noinline)) static void site_zero(void)
{
	free(malloc(0));
	free(calloc(0, 8));
	free(NULL);
	__asm__ volatile("");
}

static void zero_sizes(void)
{
	site_zero();
	expect("site site_zero 2 0 0 0");
}

__attribute__((noinline)) static void site_huge(void)
{
	volatile size_t huge = SIZE_MAX - 16, half = SIZE_MAX / 2 + 2;
	void *block = &block;
	int bad = malloc(huge) || calloc(half, 2) || reallocarray(NULL, half, 2) ||
		  aligned_alloc(64, huge) || posix_memalign(&block, 64, huge) != ENOMEM ||
		  posix_memalign(&block, 3, 8) != EINVAL || block != &block;

	if (bad)
		abort();
	free(malloc((size_t)1 << 30)); /* never touched */
}

static void huge_sizes(void)
{
	errno = 0;
	site_huge();
	if (errno != ENOMEM)
		abort();
	expect("site site_huge 1 1073741824 0 0");
}

__attribute__((noinline)) static void site_copies(void)
{
	free(strdup("sixteen letters"));
	free(strndup("sixteen letters", 7));
	__asm__ volatile("");
}

__attribute__((noinline)) static void site_strings(void)
{
	char *line = NULL, *printed = NULL;
	size_t room = 0;
	FILE *file = fmemopen((char[]){ "one line\n" }, 9, "r");

	if (asprintf(&printed, "%d", 42) == 2)
		free(printed);
	if (file && getline(&line, &room, file) > 0)
		free(line);
	if (file)
		fclose(file);
}

static void strings(void)
{
	site_copies();
	site_strings();
	expect("site site_copies 2 24 0 0");
}

SITE(site_little)

static void out_of_memory(void)
{
	struct rlimit limit = { 512u << 20, 512u << 20 };
	int failed = 0;

	setrlimit(RLIMIT_AS, &limit);
	for (int i = 0; i < 100; i++) {
		volatile size_t size = 300u << 20;
		void *one = malloc(size), *other = malloc(size);

		failed += !one || !other;
		free(other);
		free(one);
		free(site_little(10));
	}
	printf("%s\n", failed ? "some failed" : "none failed");
	expect("site site_little 100 1000 0 0");
}

/* ---- threads ------------------------------------------------------------------------- */

SITE(site_late)
static pthread_key_t late_key;

static void late_destructor(void *block)
{
	static __thread int turns;

	free(block);
	if (turns++ < 2) /* and once more, when other destructors have run */
		pthread_setspecific(late_key, site_late(20));
}

static void *late_thread(void *unused)
{
	pthread_setspecific(late_key, site_late(20));
	return unused;
}

static void late_free(void)
{
	pthread_t thread;

	pthread_key_create(&late_key, late_destructor);
	for (int i = 0; i < 50; i++) {
		pthread_create(&thread, NULL, late_thread, NULL);
		pthread_join(thread, NULL);
	}
	expect("site site_late 150 3000 0 0");
}

SITE(site_short)

static void *short_thread(void *unused)
{
	free(site_short(33));
	return unused;
}

static void many_threads(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 250; i++) {
		for (int k = 0; k < 8; k++)
			pthread_create(&threads[k], NULL, short_thread, NULL);
		for (int k = 0; k < 8; k++)
			pthread_join(threads[k], NULL);
	}
	expect("site site_short 2000 66000 0 0");
}

static void small_stacks(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16384);
	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, &attributes, short_thread, NULL);
		pthread_join(thread, NULL);
	}
	expect("site site_short 20 660 0 0");
}

static void *endless_thread(void *unused)
{
	for (;;)
		free(malloc(17));
	return unused;
}

SITE(site_kept)

static void exit_while_running(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, endless_thread, NULL);
	site_kept(77);
	usleep(20000);
	expect("site site_kept 1 77 1 77");
	fflush(stdout);
	exit(0);
}

static void *cancelled_thread(void *unused)
{
	site_short(33);
	for (;;) {
		free(malloc(9));
		pthread_testcancel();
	}
	return unused;
}

static void cancelled(void)
{
	pthread_t thread;

	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, cancelled_thread, NULL);
		usleep(500);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	/* Cancelled before it began, a thread allocates nothing: only the end is sure. */
	printf("20 joined\n");
}

/* ---- processes --------------------------------------------------------------------------- */

SITE(site_child)
SITE(site_parent)

static void wait_for(pid_t pid, int expected)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != expected)
		abort();
}

static void forks(void)
{
	void *parents = site_parent(64);
	pthread_t thread;

	pthread_create(&thread, NULL, endless_thread, NULL);
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			site_child(30);
			free(parents);
			_exit(4);
		}
		wait_for(pid, 4);
	}
	expect("site site_parent 1 64 1 64");
	expect("site site_child 0 0 0 0");
	expect("children site_child 20 20 600");
}

static void spawns(void)
{
	char *arguments[] = { (char *)self, "spawned", NULL };
	pid_t pid;

	for (volatile int i = 0; i < 5; i = i + 1) {
		if (posix_spawn(&pid, self, NULL, NULL, arguments, environ))
			abort();
		wait_for(pid, 0);
		pid = vfork();
		if (pid == 0) {
			execve(self, arguments, environ);
			_exit(9);
		}
		wait_for(pid, 0);
	}
	free(site_parent(65));
	expect("site site_parent 1 65 0 0");
	expect("children site_child 10 10 310");
}

static void spawned(void)
{
	site_child(31);
}

static void exec_self(void)
{
	char *arguments[] = { (char *)self, "spawned", NULL };

	site_parent(66);
	expect("children site_child 1 1 31");
	expect("children site_parent 1 1 66");
	fflush(stdout);
	execv(self, arguments);
}

static void daemonized(void)
{
	int ready[2];
	char done = 0;

	if (pipe(ready))
		abort();
	if (fork() == 0) {
		setsid();
		if (fork())
			_exit(0);
		for (int fd = 0; fd < 1024; fd++)
			if (fd != ready[1])
				close(fd);
		open("/dev/null", O_RDWR);
		chdir("/");
		umask(0);
		for (int i = 0; i < 10000; i++)
			free(site_child(12));
		(void)!write(ready[1], "x", 1);
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &done, 1) != 1)
		abort();
	wait(NULL);
	expect("children site_child 1 10000 120000");
	usleep(20000);
}

/* ---- signals -------------------------------------------------------------------------------- */

SITE(site_handler)
static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static void interrupted(void)
{
	struct sigaction action = { .sa_handler = count_signal };
	struct itimerval often = { { 0, 200 }, { 0, 200 } };
	int eintr = 0, ends[2];
	char byte;

	sigaction(SIGALRM, &action, NULL);
	if (pipe(ends))
		abort();
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 20000; i++)
		free(site_little(10));
	while (eintr < 5)
		eintr += read(ends[0], &byte, 1) < 0 && errno == EINTR;
	expect("site site_little 20000 200000 0 0");
}

static void allocate_in_handler(int number)
{
	(void)number;
	free(site_handler(18));
}

static void small_alternate_stack(void)
{
	static char room[8192] __attribute__((aligned(16)));
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction action = { .sa_handler = allocate_in_handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 300; i++)
		raise(SIGUSR1);
	expect("site site_handler 300 5400 0 0");
}

static sigjmp_buf out_of_handler;

static void jump_out(int number)
{
	(void)number;
	siglongjmp(out_of_handler, 1);
}

/* The timer's signal is raised where nothing of libc is interrupted. */
static void jump_from_handler(void)
{
	signal(SIGUSR2, jump_out);
	for (volatile int i = 0; i < 500; i = i + 1) {
		if (!sigsetjmp(out_of_handler, 1)) {
			free(site_handler(19));
			raise(SIGUSR2);
			abort();
		}
		free(site_little(11));
	}
	expect("site site_handler 500 9500 0 0");
	expect("site site_little 500 5500 0 0");
}

/* ---- stacks ------------------------------------------------------- */

SITE(site_coroutine)
static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
	for (;;) {
		free(site_coroutine(21));
		swapcontext(&coroutine_context, &main_context);
	}
}

static void coroutines(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = stack;
	coroutine_context.uc_stack.ss_size = sizeof(stack);
	makecontext(&coroutine_context, coroutine, 0);
	for (int i = 0; i < 1000; i++) {
		swapcontext(&main_context, &coroutine_context);
		free(site_little(12));
	}
	expect("site site_coroutine 1000 21000 0 0");
	expect("site site_little 1000 12000 0 0");
}

SITE(site_deep)

__attribute__((noinline)) static void *go_down(int levels)
{
	void *block = levels ? go_down(levels - 1) : site_deep(22);

	__asm__ volatile("" : "+r"(block));
	return block;
}

static void deep_recursion(void)
{
	free(go_down(20000));
	free(go_down(100));
	expect("site site_deep 2 44 0 0");
}

static jmp_buf back;

__attribute__((noinline)) static void throw_from(int levels)
{
	char room[64];

	memset(room, levels, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
	if (levels > 0)
		throw_from(levels - 1);
	else
		(void)site_kept(5), longjmp(back, 1);
}

static void long_jumps(void)
{
	for (volatile int i = 0; i < 200; i = i + 1)
		if (!setjmp(back))
			throw_from(i % 20);
	expect("site site_kept 200 1000 200 1000");
}

/* ---- modules ------------------------------------------------------ */

static int count_names(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)size;
	(void)info;
	free(site_little(13));
	*(int *)count += 1;
	return *(int *)count == 3;
}

static void in_phdr_callback(void)
{
	int count = 0;

	dl_iterate_phdr(count_names, &count);
	expect("site site_little 3 39 0 0");
}

/* libplugin.so is loaded, used and dropped; its addresses are used again. */
static void plugins(void)
{
	char path[4096];
	void *kept = NULL;

	snprintf(path, sizeof(path), "%s", self);
	snprintf(strrchr(path, '/'), 32, "/libplugin.so");
	for (int i = 0; i < 30; i++) {
		void *plugin = dlopen(path, RTLD_NOW);
		void *(*work)(size_t) =
		    plugin ? (void *(*)(size_t))dlsym(plugin, "plugin_work") : NULL;

		if (!work)
			abort();
		free(kept);
		kept = work(100 + (size_t)i);
		dlclose(plugin);
	}
	expect("site plugin_work 30 3435 1 129");
}

/* ---- mappings ----------------------------------------------------- */

__attribute__((noinline)) static char *site_map(size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	__asm__ volatile("" : "+r"(at));
	return at;
}

static void mappings(void)
{
	char *at = site_map(1 << 20);

	munmap(at + (256 << 10), 128 << 10); /* a hole: 896 KiB are left */
	at = site_map(64 << 10);
	at = mremap(at, 64 << 10, 192 << 10, MREMAP_MAYMOVE);
	if (mmap(at + 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	    MAP_FAILED)
		abort();
	at = site_map(300 << 10);
	munmap(at, 300 << 10);
	expect("mapped %d", (896 + 192) << 10);
}

static void known_peak(void)
{
	void *blocks[100];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++)
			blocks[i] = site_kept(10000);
		for (int i = 0; i < 100; i++)
			free(blocks[i]);
	}
	expect("site site_kept 300 3000000 0 0");
	expect("peak 1000000");
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "early", early },
	{ "family", family },
	{ "realloc_fails", realloc_fails },
	{ "zero_sizes", zero_sizes },
	{ "huge_sizes", huge_sizes },
	{ "strings", strings },
	{ "out_of_memory", out_of_memory },
	{ "late_free", late_free },
	{ "many_threads", many_threads },
	{ "small_stacks", small_stacks },
	{ "exit_while_running", exit_while_running },
	{ "cancelled", cancelled },
	{ "forks", forks },
	{ "spawns", spawns },
	{ "spawned", spawned },
	{ "exec_self", exec_self },
	{ "daemonized", daemonized },
	{ "interrupted", interrupted },
	{ "small_alternate_stack", small_alternate_stack },
	{ "jump_from_handler", jump_from_handler },
	{ "coroutines", coroutines },
	{ "deep_recursion", deep_recursion },
	{ "long_jumps", long_jumps },
	{ "in_phdr_callback", in_phdr_callback },
	{ "plugins", plugins },
	{ "mappings", mappings },
	{ "known_peak", known_peak },
};

int main(int argc, char **argv)
{
	self = argv[0];
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			return 0;
		}
	return 2;
}
