/* LINK: library */
/* SANITIZE: no */
/*
 * Every capture below is decoded from its bytes as a reader would do it, and held
 * against two full walks: libunwind's, and one by an empty state of our own.
 */
#include "unwind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "memprof/trace_format.h"
#include "os.h"
#include "unwind_decoder.h"
#include "unwind_libunwind.h"

#define DEPTH DECODER_DEPTH
#define SITE __attribute__((noinline, noipa))

#define NO_TAIL_CALL() __asm__ volatile("" : : : "memory")

/* ---- one capture, checked ----------------------------------------------------- */

struct checked {
	struct unwind_state *state;
	struct unwind_state *fresh; /* emptied before each capture: a full walk */
	struct decoder decoder;
	struct decoder fresh_decoder;
	volatile sig_atomic_t busy;
	bool without_libunwind;     /* where it is known to give up */
	unsigned long captures, same, cached, pushed, skipped, signals;
	uint64_t last[DEPTH + 1];
	int last_count;
	unsigned last_mark;
	char trouble[400];          /* the first difference, in words */
};

static struct unwind_state *state_new(void)
{
	struct unwind_state *state = mmap(NULL, unwind_state_bytes(), PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(state != MAP_FAILED);
	unwind_thread_begin(state);
	return state;
}

static void checked_begin(struct checked *checked)
{
	memset(checked, 0, sizeof(*checked));
	checked->state = state_new();
	checked->fresh = state_new();
}

static void checked_end(struct checked *checked)
{
	munmap(checked->state, unwind_state_bytes());
	munmap(checked->fresh, unwind_state_bytes());
	decoder_release(&checked->decoder);
	decoder_release(&checked->fresh_decoder);
	if (checked->trouble[0])
		fail_msg("%s", checked->trouble);
}

static void say_difference(struct checked *checked, const char *who, const uint64_t *ours,
			   int count, const uint64_t *theirs, int their_count)
{
	int i = 0;

	if (checked->trouble[0])
		return;
	while (i < count && i < their_count && ours[i] == theirs[i])
		i++;
	snprintf(checked->trouble, sizeof(checked->trouble),
		 "capture %lu: %d frames, %s has %d; frame %d: %llx and %llx", checked->captures,
		 count, who, their_count, i, i < count ? (unsigned long long)ours[i] : 0,
		 i < their_count ? (unsigned long long)theirs[i] : 0);
}

static bool take(struct unwind_state *state, struct decoder *decoder, struct unwind_point point,
		 struct checked *checked, uint64_t *pcs, int *count, unsigned *mark)
{
	struct stack_delta delta;

	stack_capture(state, point, &delta);
	if (unwind_take_restarted(state))
		decoder_reset(decoder);
	decoder_take_fresh_places();
	*count = decoder_take(decoder, &delta, pcs, mark);
	if (checked) {
		checked->same += delta.mode == TRACE_STACK_SAME;
		checked->cached += delta.mode == TRACE_STACK_CACHED;
		checked->pushed += delta.mode == TRACE_STACK_DELTA ? delta.pushed : 0;
	}
	return *count >= 0;
}

static bool differs(const uint64_t *a, int a_count, const uint64_t *b, int b_count)
{
	return a_count != b_count || memcmp(a, b, (size_t)a_count * sizeof(*a)) != 0;
}

/* Libunwind may have fewer or more frames where ours were cut, or at the end where
 * we know more; @mark says which. */
static void check_libunwind(struct checked *checked, const uintptr_t *pcs, unsigned theirs_count)
{
	int count = checked->last_count;

	if (checked->last_mark == TRACE_FRAME_CUT && theirs_count > (unsigned)count)
		theirs_count = (unsigned)count;
	if (checked->last_mark == TRACE_FRAME_LOST)
		return;
	if (differs(checked->last, count, (const uint64_t *)pcs, (int)theirs_count))
		say_difference(checked, "libunwind", checked->last, count,
			       (const uint64_t *)pcs, (int)theirs_count);
}

/* The stack of our caller: ours, decoded, against the full walks. */
SITE static void check_here(struct checked *checked)
{
	struct unwind_point point = UNWIND_CALLER();
	uintptr_t theirs[DEPTH + 64];
	uint64_t full[DEPTH + 1];
	unsigned mark;
	int count;

	if (checked->busy) {
		checked->skipped++;
		return;
	}
	checked->busy = 1;
	checked->captures++;
	if (!take(checked->state, &checked->decoder, point, checked, checked->last,
		  &checked->last_count, &checked->last_mark) && !checked->trouble[0])
		snprintf(checked->trouble, sizeof(checked->trouble), "capture %lu: not decoded",
			 checked->captures);
	unwind_restart(checked->fresh);
	decoder_reset(&checked->fresh_decoder);
	take(checked->fresh, &checked->fresh_decoder, point, NULL, full, &count, &mark);
	if (mark != checked->last_mark ||
	    differs(checked->last, checked->last_count, full, count))
		say_difference(checked, "a full walk", checked->last, checked->last_count, full,
			       count);
	if (!checked->without_libunwind)
		check_libunwind(checked, theirs, libunwind_frames(theirs, DEPTH + 64));
	checked->busy = 0;
}

/* ---- many ways through functions ------------------------------------------------ */

struct ways {
	struct checked *checked;
	uint64_t seed;
	unsigned captures_left;
	unsigned depth_max;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

typedef int way_function(struct ways *ways, unsigned depth);
static way_function way_small, way_large, way_variable, way_pointers, way_aligned, way_two_sites;
static way_function *const way_functions[] = { way_small,    way_large,	  way_variable,
					       way_pointers, way_aligned, way_two_sites };

/* Some steps at random: capture, deeper, or back. */
SITE static int way_step(struct ways *ways, unsigned depth)
{
	int sum = 0;

	for (unsigned turns = (unsigned)next_random(&ways->seed) % 3 + 1; turns; turns--) {
		unsigned choice = (unsigned)next_random(&ways->seed) % 12;

		if (!ways->captures_left)
			return sum;
		if (choice < 4 || depth >= ways->depth_max) {
			ways->captures_left--;
			check_here(ways->checked);
		} else {
			sum += way_functions[choice % 6](ways, depth + 1);
		}
	}
	return sum + 1;
}

SITE static int way_small(struct ways *ways, unsigned depth)
{
	return way_step(ways, depth) + 1;
}

SITE static int way_large(struct ways *ways, unsigned depth)
{
	volatile char room[3000];

	room[depth] = 1;
	return way_step(ways, depth) + room[depth];
}

SITE static int way_variable(struct ways *ways, unsigned depth)
{
	volatile char *room = __builtin_alloca(16 + depth * 8 % 200);

	room[1] = 3;
	return way_step(ways, depth) + room[1];
}

/* Keeps values in all registers that calls keep, the frame pointer's too. */
SITE static int way_pointers(struct ways *ways, unsigned depth)
{
	unsigned a = depth, b = depth * 3, c = depth * 5, d = depth * 7, e = depth * 11;

	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
	int sum = way_step(ways, depth);

	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
	return sum + (int)(a + b + c + d + e);
}

SITE static int way_aligned(struct ways *ways, unsigned depth)
{
	_Alignas(64) volatile char room[64];

	room[0] = 1;
	return way_step(ways, depth) + room[0];
}

/* The same state within, another return address here. */
SITE static int way_two_sites(struct ways *ways, unsigned depth)
{
	if (next_random(&ways->seed) & 1)
		return way_step(ways, depth) + 1;
	return way_step(ways, depth) + 2;
}

static void random_ways(struct checked *checked, uint64_t seed, unsigned captures, unsigned depth)
{
	struct ways ways = { checked, seed, captures, depth };

	while (ways.captures_left)
		way_step(&ways, 0);
}

static void random_ways_decode_to_full_walks(void **unused)
{
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	random_ways(&checked, 1, 400000, 60);
	random_ways(&checked, 2, 400000, 12);
	print_message("%lu captures: same %.1f %%, cached %.1f %%, %.2f frames pushed each\n",
		      checked.captures, 100.0 * checked.same / checked.captures,
		      100.0 * checked.cached / checked.captures,
		      (double)checked.pushed / checked.captures);
	checked_end(&checked);
}

SITE static int recurse(struct checked *checked, int left, int every)
{
	int sum = 0;

	if (left % every == 0)
		check_here(checked);
	if (left)
		sum = recurse(checked, left - 1, every) + 1;
	if (left % (every * 2) == 0)
		check_here(checked);
	return sum;
}

SITE static void innermost(struct checked *checked)
{
	check_here(checked);
	NO_TAIL_CALL();
}

SITE static int chain(struct checked *checked, int left, bool both)
{
	if (left)
		return chain(checked, left - 1, both) + 1;
	if (both)
		check_here(checked);
	innermost(checked);
	return 0;
}

SITE static int from_two_sites(struct checked *checked, bool first)
{
	if (first)
		return chain(checked, 30, true) + 1;
	return chain(checked, 30, false) + 2;
}

/* The same states within, far beyond what a cached stack copies. */
static void a_change_far_out_is_seen(void **unused)
{
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	for (int i = 0; i < 20; i++) {
		from_two_sites(&checked, true);
		from_two_sites(&checked, false);
		from_two_sites(&checked, false);
	}
	checked_end(&checked);
}

static void deep_recursion_is_cut_at_the_outer_end(void **unused)
{
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	for (int depth = DEPTH - 20; depth < DEPTH + 20; depth++)
		recurse(&checked, depth, 1);
	assert_string_equal(checked.trouble, "");
	recurse(&checked, 100000, 1000);
	assert_int_equal(checked.last_count < DEPTH, 1); /* it came back */
	checked_end(&checked);
}

/* Far deeper than what is kept, each level tells a few frames, not all. */
static void deep_recursion_tells_few_frames_with_each_stack(void **unused)
{
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	recurse(&checked, 20 * DEPTH, 1);
	print_message("%.2f frames pushed with each of %lu stacks\n",
		      (double)checked.pushed / checked.captures, checked.captures);
	assert_int_equal(checked.pushed < 5 * checked.captures, 1);
	checked_end(&checked);
}

/* ---- coroutines ------------------------------------------------------------------- */

#define COROUTINES 4
static ucontext_t coroutine_back, coroutine_context[COROUTINES];
static struct checked *coroutine_checked;

static void coroutine_body(int number)
{
	uint64_t seed = (uint64_t)number * 77 + 5;

	for (;;) {
		random_ways(coroutine_checked, next_random(&seed), 3, 5);
		swapcontext(&coroutine_context[number], &coroutine_back);
	}
}

static void run_coroutines(struct checked *checked, bool on_heap, unsigned turns)
{
	size_t bytes = 128 << 10;
	void *stacks[COROUTINES];

	coroutine_checked = checked;
	for (int i = 0; i < COROUTINES; i++) {
		stacks[i] = on_heap ? malloc(bytes)
				    : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		getcontext(&coroutine_context[i]);
		coroutine_context[i].uc_stack.ss_sp = stacks[i];
		coroutine_context[i].uc_stack.ss_size = bytes;
		coroutine_context[i].uc_link = &coroutine_back;
		makecontext(&coroutine_context[i], (void (*)(void))coroutine_body, 1, i);
	}
	for (unsigned i = 0; i < turns; i++) {
		swapcontext(&coroutine_back, &coroutine_context[i % COROUTINES]);
		random_ways(checked, i + 1, 2, 8);
	}
	for (int i = 0; i < COROUTINES; i++)
		on_heap ? free(stacks[i]) : (void)munmap(stacks[i], bytes);
}

static void coroutines_decode_to_full_walks(void **unused)
{
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	run_coroutines(&checked, true, 20000);
	run_coroutines(&checked, false, 20000);
	for (int i = 0; i < 200; i++)
		run_coroutines(&checked, false, 8); /* stacks come and go at the same places */
	checked_end(&checked);
}

/* ---- longjmp ---------------------------------------------------------------------- */

static jmp_buf jump_to[8];

SITE static int jump_deep(struct checked *checked, uint64_t *seed, unsigned level)
{
	volatile unsigned here = level;

	if (setjmp(jump_to[level]) == 0) {
		if (level + 1 < 8)
			jump_deep(checked, seed, level + 1);
	}
	random_ways(checked, next_random(seed), 2, 4);
	if (here && next_random(seed) % 3)
		longjmp(jump_to[next_random(seed) % here], 1);
	return 0;
}

static void longjmp_decodes_to_full_walks(void **unused)
{
	struct checked checked;
	uint64_t seed = 99;

	(void)unused;
	checked_begin(&checked);
	while (checked.captures < 100000)
		jump_deep(&checked, &seed, 0);
	checked_end(&checked);
}

/* ---- signals ------------------------------------------------------------------------ */

static struct checked *signal_checked;
static uint64_t signal_seed = 7;

static void on_signal(int number)
{
	(void)number;
	if (signal_checked->busy)
		return;
	signal_checked->signals++;
	check_here(signal_checked);
	random_ways(signal_checked, next_random(&signal_seed) | 1, 2, 4);
}

/* One shot, wound up again when the handler is done: on a busy machine a periodic
 * timer would leave no time between two handlers. */
static void on_timer(int number)
{
	struct itimerval timer = {.it_value.tv_usec = 1 + (long)(next_random(&signal_seed) % 150)};

	on_signal(number);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void set_handler(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	assert_int_equal(sigaction(number, &action, NULL), 0);
}

SITE static int raise_within(struct checked *checked, unsigned depth, int number)
{
	int sum = depth;

	check_here(checked);
	if (depth)
		sum += raise_within(checked, depth - 1, number);
	else
		raise(number);
	check_here(checked);
	return sum + 1;
}

static void raised_signals_decode_to_full_walks(void **unused)
{
	stack_t alternate = { .ss_sp = malloc(64 << 10), .ss_size = 64 << 10 };
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	signal_checked = &checked;
	assert_int_equal(sigaltstack(&alternate, NULL), 0);
	for (int turn = 0; turn < 20000; turn++) {
		set_handler(SIGUSR1, on_signal, turn & 1 ? SA_ONSTACK : 0);
		raise_within(&checked, (unsigned)turn / 2 % 10, SIGUSR1);
	}
	assert_true(checked.signals == 20000);
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
	free(alternate.ss_sp);
	checked_end(&checked);
}

/* A timer interrupts at any instruction: also in prologues, where frames are half
 * made. */
static void asynchronous_signals_decode_to_full_walks(void **unused)
{
	struct itimerval timer = { .it_value.tv_usec = 150 }, off = { 0 };
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	signal_checked = &checked;
	set_handler(SIGALRM, on_timer, 0);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < 2000 && checked.signals < 20000; i++) {
		volatile uint64_t sum = 0;

		random_ways(&checked, (uint64_t)i + 3, 20, 20);
		for (int j = 0; j < 200; j++) {
			char text[40];

			snprintf(text, sizeof(text), "%d %g", j, j / 3.0);
			sum += strlen(text);
		}
	}
	signal(SIGALRM, SIG_IGN);
	setitimer(ITIMER_REAL, &off, NULL);
	print_message("%lu signals\n", checked.signals);
	assert_true(checked.signals > 100);
	checked_end(&checked);
}

/* ---- threads ------------------------------------------------------------------------- */

struct thread_job {
	struct checked checked;
	uint64_t seed;
};

static void *thread_body(void *argument)
{
	struct thread_job *job = argument;

	unwind_thread_begin(job->checked.state);
	unwind_thread_begin(job->checked.fresh);
	decoder_reset(&job->checked.decoder);
	random_ways(&job->checked, job->seed, 2000, 20);
	return NULL;
}

static void threads_that_reuse_stacks_decode_to_full_walks(void **unused)
{
	static struct thread_job jobs[8];
	pthread_t threads[8];

	(void)unused;
	for (int i = 0; i < 8; i++)
		checked_begin(&jobs[i].checked);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 8; i++) {
			jobs[i].seed = (uint64_t)(round * 8 + i + 1);
			assert_int_equal(pthread_create(&threads[i], NULL, thread_body, &jobs[i]),
					 0);
		}
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < 8; i++)
		checked_end(&jobs[i].checked);
}

/* ---- code without tables ---------------------------------------------------------- */

/* Keeps rubbish in the frame pointer and has no call frame information. */
void call_without_cfi(void (*function)(void *), void *argument);
__asm__(".text\n.type call_without_cfi,@function\ncall_without_cfi:\n"
	"  push %rbp\n  push %rbx\n  sub $24, %rsp\n  mov $0x10, %rbp\n"
	"  mov %rdi, %rax\n  mov %rsi, %rdi\n  call *%rax\n"
	"  add $24, %rsp\n  pop %rbx\n  pop %rbp\n  ret\n"
	".size call_without_cfi, .-call_without_cfi\n");

/* Its frame hangs on rbx, which no packed row can say. */
void call_by_rbx(void (*function)(void *), void *argument);
__asm__(".text\n.type call_by_rbx,@function\ncall_by_rbx:\n"
	"  .cfi_startproc\n  push %rbx\n  .cfi_adjust_cfa_offset 8\n  .cfi_offset rbx, -16\n"
	"  mov %rsp, %rbx\n  .cfi_def_cfa rbx, 16\n  and $-256, %rsp\n"
	"  mov %rdi, %rax\n  mov %rsi, %rdi\n  call *%rax\n"
	"  mov %rbx, %rsp\n  pop %rbx\n  .cfi_def_cfa rsp, 8\n  ret\n  .cfi_endproc\n"
	".size call_by_rbx, .-call_by_rbx\n");

SITE static void check_of(void *checked)
{
	check_here(checked);
	NO_TAIL_CALL();
}

SITE static void check_ways_of(void *checked)
{
	random_ways(checked, 3, 20, 6);
	NO_TAIL_CALL();
}

static void code_without_tables_ends_a_stack(void **unused)
{
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	for (int i = 0; i < 200; i++) {
		call_without_cfi(i & 1 ? check_of : check_ways_of, &checked);
		if (i & 1) {
			/* check_of, its caller, and no frame made of rubbish */
			assert_int_equal(checked.last_count, 2);
			assert_int_equal(checked.last_mark, TRACE_FRAME_LOST);
			assert_true(checked.last[1] - (uint64_t)call_without_cfi < 64);
		}
		check_here(&checked);
		assert_int_equal(checked.last_mark, 0);
	}
	checked_end(&checked);
}

SITE static void check_through_rbx(void *checked)
{
	call_by_rbx(check_ways_of, checked);
	NO_TAIL_CALL();
}

static void frames_that_hang_on_other_registers_are_followed(void **unused)
{
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	for (int i = 0; i < 100; i++) {
		call_by_rbx(check_of, &checked);
		assert_int_equal(checked.last_mark, 0);
		call_by_rbx(check_through_rbx, &checked);
		random_ways(&checked, (uint64_t)i + 1, 20, 10);
	}
	checked_end(&checked);
}

/* push rbp; mov rsp,rbp; mov FUNCTION,rax; call rax; pop rbp; ret, or without the
 * frame pointer and with rubbish in it. */
static void *generate(bool with_frame_pointer)
{
	static const uint8_t with[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0,
					0,    0,    0,	  0,	0xff, 0xd0, 0x5d, 0xc3 };
	static const uint8_t without[] = { 0x55, 0x48, 0x31, 0xed, 0x48, 0xb8, 0, 0, 0, 0,
					   0,	 0,    0,    0,	   0xff, 0xd0, 0x5d, 0xc3 };
	uint64_t target = (uint64_t)(uintptr_t)check_of;
	uint8_t *code =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(code != MAP_FAILED);
	memcpy(code + 64, with_frame_pointer ? with : without, sizeof(with));
	memcpy(code + 64 + 6, &target, 8);
	assert_int_equal(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
	return code + 64;
}

static void generated_code_is_followed_by_its_frame_pointer(void **unused)
{
	void (*with)(void *), (*without)(void *);
	struct checked checked;
	int direct;

	(void)unused;
	checked_begin(&checked);
	checked.without_libunwind = true;
	*(void **)&with = generate(true);
	*(void **)&without = generate(false);
	usleep(20000); /* maps are not read again at once */
	check_of(&checked);
	direct = checked.last_count;
	for (int i = 0; i < 100; i++) {
		with(&checked);
		assert_int_equal(checked.last_mark, 0);
		assert_int_equal(checked.last_count, direct + 1);
		assert_true(checked.last[1] - (uint64_t)*(void **)&with < 32);
		assert_int_equal(decoder_place_flags(checked.last[1]),
				 TRACE_PC_FRAME_POINTER | TRACE_PC_NO_MODULE);
		without(&checked);
		assert_int_equal(checked.last_mark, TRACE_FRAME_LOST);
		assert_int_equal(checked.last_count, 2);
	}
	checked_end(&checked);
}

/* ---- stacks with an edge ----------------------------------------------------------- */

/* Goes onto the stack that ends at @end, by a jump: there is no return address, and
 * where the first function's would be nothing is mapped. */
void jump_onto(void *end, void (*function)(void), void **back);
void first_on_stack(void);
__asm__(".text\n.type jump_onto,@function\njump_onto:\n"
	"  .cfi_startproc\n  push %rbx\n  .cfi_adjust_cfa_offset 8\n  .cfi_offset rbx, -16\n"
	"  push %rbp\n  .cfi_adjust_cfa_offset 8\n  push %r12\n  .cfi_adjust_cfa_offset 8\n"
	"  push %r13\n  .cfi_adjust_cfa_offset 8\n  push %r14\n  .cfi_adjust_cfa_offset 8\n"
	"  push %r15\n  .cfi_adjust_cfa_offset 8\n"
	"  mov %rsp, (%rdx)\n  mov %rdi, %rsp\n  jmp *%rsi\n  .cfi_endproc\n"
	".size jump_onto, .-jump_onto\n"
	".type first_on_stack,@function\nfirst_on_stack:\n"
	"  .cfi_startproc\n  sub $16, %rsp\n  .cfi_adjust_cfa_offset 16\n"
	"  call on_the_edge\n  nop\n  .cfi_endproc\n"
	".size first_on_stack, .-first_on_stack\n"
	".type jump_back,@function\njump_back:\n  mov %rdi, %rsp\n"
	"  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbp\n  pop %rbx\n  ret\n"
	".size jump_back, .-jump_back\n");
void jump_back(void *to);

static void *edge_back;
static struct checked *edge_checked;

void on_the_edge(void);

SITE void on_the_edge(void)
{
	check_here(edge_checked);
	assert_int_equal(edge_checked->last_count, 2);
	random_ways(edge_checked, 11, 30, 5);
	jump_back(edge_back);
}

static void memory_behind_a_stack_is_never_read(void **unused)
{
	size_t bytes = 64 << 10;
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	checked.without_libunwind = true; /* it would crash */
	edge_checked = &checked;
	for (int i = 0; i < 50; i++) {
		char *memory =
		    mmap(NULL, bytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		assert_int_equal(mprotect(memory + 4096, bytes, PROT_READ | PROT_WRITE), 0);
		jump_onto(memory + 4096 + bytes, first_on_stack, &edge_back);
		check_here(&checked);
		munmap(memory, bytes + 8192);
	}
	checked_end(&checked);
}

/* ---- modules that come and go --------------------------------------------------------- */

static void *build_plugin(const char *name, const char *body)
{
	const char *folder = getenv("TMPDIR"), *compiler = getenv("CC");
	char source[300], library[300], command[1000];
	FILE *file;

	snprintf(source, sizeof(source), "%s/%s.c", folder ? folder : "/tmp", name);
	snprintf(library, sizeof(library), "%s/%s.so", folder ? folder : "/tmp", name);
	file = fopen(source, "w");
	assert_non_null(file);
	fputs(body, file);
	fclose(file);
	snprintf(command, sizeof(command), "%s -O2 -fPIC -shared -o %s %s",
		 compiler ? compiler : "cc", library, source);
	assert_int_equal(system(command), 0);
	unlink(source);
	return strdup(library);
}

static uint64_t plugin_place; /* of the plugin's frame in the last capture */

static void run_plugin(struct checked *checked, const char *path)
{
	uint64_t direct[DEPTH];
	int count;

	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*enter)(void (*)(void *), void *);

	assert_non_null(plugin);
	unwind_modules_changed();
	*(void **)&enter = dlsym(plugin, "enter");
	check_of(checked);
	count = checked->last_count;
	memcpy(direct, checked->last, sizeof(direct));
	enter(check_of, checked);
	plugin_place = checked->last[1];
	/* check_of, the plugin, and this function at another line; then as before */
	assert_int_equal(checked->last_count, count + 1);
	assert_memory_equal(checked->last + 3, direct + 2, (size_t)(count - 2) * sizeof(*direct));
	enter(check_ways_of, checked);
	dlclose(plugin);
	unwind_modules_changed(); /* as the hook of the loader's own free does */
}

/* Both have their call at the same distance, but frames of another size. */
static void places_of_modules_that_are_gone_are_forgotten(void **unused)
{
	char *one = build_plugin("plugin_one",
				 "int enter(void (*f)(void *), void *a) { volatile char room[900];"
				 "room[0] = 0; f(a); return room[0]; }\n");
	char *two = build_plugin("plugin_two",
				 "int enter(void (*f)(void *), void *a) { volatile char room[2900];"
				 "room[0] = 0; f(a); return room[0]; }\n");
	unsigned reused = 0;
	uint64_t place;
	struct checked checked;

	(void)unused;
	checked_begin(&checked);
	checked.without_libunwind = true; /* it keeps rows of modules that are gone */
	for (int i = 0; i < 300; i++) {
		run_plugin(&checked, one);
		place = plugin_place;
		run_plugin(&checked, two);
		reused += place == plugin_place;
		assert_string_equal(checked.trouble, "");
		/* main is reached: frames beyond the plugin are right */
		assert_int_equal(checked.last_mark, 0);
	}
	print_message("addresses used again: %u of 300\n", reused);
	assert_true(reused > 100);
	unlink(one);
	unlink(two);
	free(one);
	free(two);
	checked_end(&checked);
}

/* ---- fork ------------------------------------------------------------------------------ */

static void a_child_of_fork_hears_of_all_places_again(void **unused)
{
	struct pc_entry entry;
	unsigned places = 0;

	(void)unused;
	decoder_take_fresh_places();
	assert_false(pc_table_take_fresh(&entry));
	unwind_forked();
	while (pc_table_take_fresh(&entry))
		places++;
	assert_true(places > 20);
}

static int start(void **unused)
{
	(void)unused;
	unwind_start(DEPTH);
	return libunwind_open() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_ways_decode_to_full_walks),
		cmocka_unit_test(a_change_far_out_is_seen),
		cmocka_unit_test(deep_recursion_is_cut_at_the_outer_end),
		cmocka_unit_test(deep_recursion_tells_few_frames_with_each_stack),
		cmocka_unit_test(coroutines_decode_to_full_walks),
		cmocka_unit_test(longjmp_decodes_to_full_walks),
		cmocka_unit_test(raised_signals_decode_to_full_walks),
		cmocka_unit_test(asynchronous_signals_decode_to_full_walks),
		cmocka_unit_test(threads_that_reuse_stacks_decode_to_full_walks),
		cmocka_unit_test(code_without_tables_ends_a_stack),
		cmocka_unit_test(frames_that_hang_on_other_registers_are_followed),
		cmocka_unit_test(generated_code_is_followed_by_its_frame_pointer),
		cmocka_unit_test(memory_behind_a_stack_is_never_read),
		cmocka_unit_test(places_of_modules_that_are_gone_are_forgotten),
		cmocka_unit_test(a_child_of_fork_hears_of_all_places_again),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
