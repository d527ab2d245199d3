/* FLAGS: -fno-builtin -fno-optimize-sibling-calls -Wno-unused-result */
/*
 * Signals in the worst moments, under an allocator that can bear them
 * (libbump.c is to be preloaded behind memprof): handlers that allocate, jump
 * out, fork or switch to another coroutine, at any instruction of the library.
 *
 *	interrupted WORD
 *
 * Facts as in cases.c; "may_lose" says that events can be cut by a jump.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ROUNDS 100000
#define STACK_BYTES 65536

#define SITE(name)                                                                                 \
	__attribute__((noinline, noclone)) void *name(size_t size);                                \
	void *name(size_t size)                                                                    \
	{                                                                                          \
		void *block = malloc(size);                                                        \
		__asm__ volatile("" : "+r"(block)::"memory");                                      \
		return block;                                                                      \
	}

SITE(site_main)
SITE(site_handler)

static volatile unsigned long in_handler;
static volatile int is_over;

static void start_timer(int microseconds)
{
	struct itimerval timer = { { 0, microseconds }, { 0, microseconds } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_alarm(void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags | SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
}

static void work(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds && !is_over; i++)
		free(site_main(1 + i % 500));
}

static void tell(unsigned long main_count)
{
	printf("count site_main %lu\n", main_count);
	printf("count site_handler %lu\n", in_handler);
}

/* ---- handlers that allocate ---- */

static void allocate_some(int number)
{
	int saved = errno;

	(void)number;
	for (int i = 0; i < 3; i++)
		free(site_handler(64));
	in_handler += 3;
	errno = saved;
}

static void on_same_stack(void)
{
	on_alarm(allocate_some, 0);
	start_timer(100);
	work(ROUNDS);
	start_timer(0);
	tell(ROUNDS);
}

/* The alternate stack lies above or below the thread's own, and is not to be
 * seen while the handler is on it. */
static void *alternate_thread(void *stack)
{
	stack_t alternate = { .ss_sp = stack, .ss_size = STACK_BYTES, .ss_flags = (int)(1u << 31) };
	sigset_t alarm_only;

	sigaltstack(&alternate, NULL);
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	work(ROUNDS);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	return NULL;
}

static void on_alternate_stack(bool is_above)
{
	char *all = mmap(NULL, 3 * STACK_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	sigset_t alarm_only;
	pthread_t thread;

	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, is_above ? all : all + 2 * STACK_BYTES, STACK_BYTES);
	on_alarm(allocate_some, SA_ONSTACK);
	start_timer(100);
	pthread_create(&thread, &attributes, alternate_thread,
		       is_above ? all + 2 * STACK_BYTES : all);
	pthread_join(thread, NULL);
	start_timer(0);
	tell(ROUNDS);
}

static void stack_above(void)
{
	on_alternate_stack(true);
}

static void stack_below(void)
{
	on_alternate_stack(false);
}

/* ---- handlers that never return ---- */

static sigjmp_buf again;

static void jump_out(int number)
{
	static unsigned turn;

	(void)number;
	free(site_handler(32));
	if (++turn % 3)
		siglongjmp(again, 1);
}

static void jump_with(int flags)
{
	static char stack[STACK_BYTES];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	static volatile unsigned long rounds;

	sigaltstack(&alternate, NULL);
	on_alarm(jump_out, flags);
	if (!sigsetjmp(again, 1))
		start_timer(150);
	for (; rounds < ROUNDS; rounds++)
		free(site_main(1 + rounds % 500));
	start_timer(0);
	puts("may_lose");
}

static void jump_from_same(void)
{
	jump_with(0);
}

static void jump_from_alternate(void)
{
	jump_with(SA_ONSTACK);
}

/* ---- handlers that fork ---- */

static volatile unsigned children;

static void fork_now(int number)
{
	pid_t child;

	(void)number;
	if (children >= 60)
		return;
	children++;
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child)
		return;
	free(site_handler(77));
	syscall(SYS_exit_group, 0);
}

static void forks_in_handler(void)
{
	on_alarm(fork_now, 0);
	start_timer(4000);
	while (children < 60)
		free(site_main(100));
	start_timer(0);
	while (waitpid(-1, NULL, 0) > 0)
		;
	puts("children site_handler 60 60 4620");
}

/* ---- preemptive coroutines ---- */

static ucontext_t contexts[3];
static volatile int current;

static void switch_over(int number)
{
	int from = current;

	(void)number;
	current = from == 1 ? 2 : 1;
	swapcontext(&contexts[from], &contexts[current]);
}

static void coroutine(void)
{
	static volatile unsigned long done;
	sigset_t nothing;

	sigemptyset(&nothing);

	/* Only coroutines may be switched: the timer runs while there are some. */
	start_timer(200);
	sigprocmask(SIG_SETMASK, &nothing, NULL);
	while (done < 2 * ROUNDS) {
		free(site_main(1 + done % 300));
		done++;
	}
	on_alarm(SIG_IGN, 0);
	start_timer(0);
	setcontext(&contexts[0]);
}

static void coroutines_by_signal(void)
{
	static char stacks[2][STACK_BYTES];
	sigset_t alarm_only;

	/* A switch sets the mask before it leaves the old stack: no switch in between. */
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	for (int i = 1; i < 3; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i - 1];
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		contexts[i].uc_sigmask = alarm_only;
		makecontext(&contexts[i], coroutine, 0);
	}
	on_alarm(switch_over, 0);
	current = 1;
	swapcontext(&contexts[0], &contexts[1]);
	puts("may_lose");
}

/* ---- threads that nobody knows ---- */

static int shares_everything(void *unused)
{
	(void)unused;
	work(ROUNDS);
	return 0;
}

/* Memory and thread-local storage of its maker, and all run at once. */
static void raw_clones(void)
{
	static char stacks[2][STACK_BYTES];

	for (int i = 0; i < 2; i++)
		clone(shares_everything, stacks[i] + STACK_BYTES,
		      CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
	work(ROUNDS);
	while (waitpid(-1, NULL, 0) > 0)
		;
	tell(3 * ROUNDS);
}

static const struct {
	const char *word;
	void (*run)(void);
} cases[] = {
	{ "same_stack", on_same_stack },
	{ "stack_above", stack_above },
	{ "stack_below", stack_below },
	{ "jump_from_same", jump_from_same },
	{ "jump_from_alternate", jump_from_alternate },
	{ "forks_in_handler", forks_in_handler },
	{ "coroutines_by_signal", coroutines_by_signal },
	{ "raw_clones", raw_clones },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(argv[1], cases[i].word)) {
			cases[i].run();
			return 0;
		}
	return 2;
}
