/* Filters of system calls, asked in advance: see sandbox.h. */
#include "sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "clock.h"
#include "os.h"

/* Kept here, since the filter may forbid to get memory. Who installs more is
 * treated as strict. */
#define FILTERS_MAX 16
#define CODE_MAX 8192

struct filter {
	const struct sock_filter *code;
	uint32_t count;
};

static struct filter filters[FILTERS_MAX];
static struct sock_filter code[CODE_MAX];
static uint32_t filter_count, code_used; /* under `learning`, but read by any thread */
static uint32_t learning;

/* ---- running a filter ---- */

struct machine {
	uint32_t a, x;
	uint32_t memory[BPF_MEMWORDS];
};

static uint32_t arithmetic(uint32_t operation, uint32_t a, uint32_t b)
{
	switch (operation) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return b < 32 ? a << b : 0;
	case BPF_RSH:
		return b < 32 ? a >> b : 0;
	default:
		return -a;
	}
}

static bool compare(uint32_t operation, uint32_t a, uint32_t b)
{
	switch (operation) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default: /* BPF_JSET */
		return (a & b) != 0;
	}
}

static uint32_t load(const struct machine *machine, const struct sock_filter *line,
		     const struct seccomp_data *data)
{
	switch (BPF_MODE(line->code)) {
	case BPF_ABS:
		return line->k / 4 < sizeof(*data) / 4 ? ((const uint32_t *)data)[line->k / 4] : 0;
	case BPF_MEM:
		return machine->memory[line->k % BPF_MEMWORDS];
	case BPF_LEN:
		return sizeof(*data);
	default: /* BPF_IMM */
		return line->k;
	}
}

/* A line that neither jumps nor returns. */
static void step(struct machine *machine, const struct sock_filter *line,
		 const struct seccomp_data *data)
{
	switch (BPF_CLASS(line->code)) {
	case BPF_LD:
		machine->a = load(machine, line, data);
		break;
	case BPF_LDX:
		machine->x = load(machine, line, data);
		break;
	case BPF_ST:
		machine->memory[line->k % BPF_MEMWORDS] = machine->a;
		break;
	case BPF_STX:
		machine->memory[line->k % BPF_MEMWORDS] = machine->x;
		break;
	case BPF_ALU:
		machine->a = arithmetic(BPF_OP(line->code), machine->a,
					BPF_SRC(line->code) == BPF_X ? machine->x : line->k);
		break;
	default: /* BPF_MISC */
		if (BPF_MISCOP(line->code) == BPF_TAX)
			machine->x = machine->a;
		else
			machine->a = machine->x;
	}
}

/* What the filter answers. The kernel has checked it: it ends, within its lines. */
static uint32_t run(const struct filter *filter, const struct seccomp_data *data)
{
	struct machine machine = { 0 };
	uint32_t at = 0;

	while (at < filter->count) {
		const struct sock_filter *line = &filter->code[at++];
		bool is_x = BPF_SRC(line->code) == BPF_X;

		switch (BPF_CLASS(line->code)) {
		case BPF_RET:
			return BPF_RVAL(line->code) == BPF_A ? machine.a : line->k;
		case BPF_JMP:
			if (BPF_OP(line->code) == BPF_JA)
				at += line->k;
			else
				at += compare(BPF_OP(line->code), machine.a,
					      is_x ? machine.x : line->k) ?
					      line->jt :
					      line->jf;
			break;
		default:
			step(&machine, line, data);
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* Would nobody but the kernel hear of the call? */
static bool is_harmless(uint32_t answer)
{
	switch (answer & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_ERRNO:
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_TRACE:
		return true;
	default: /* killed, a signal, or somebody else is asked */
		return false;
	}
}

bool os_sandbox_lets_pass(long number, const long arguments[6])
{
	uint32_t count = __atomic_load_n(&filter_count, __ATOMIC_ACQUIRE);
	struct seccomp_data data = { .nr = (int)number, .arch = AUDIT_ARCH_X86_64 };

	if (os_is_forbidden)
		return false;
	for (unsigned i = 0; i < 6; i++)
		data.args[i] = (uint64_t)arguments[i];
	for (uint32_t i = 0; i < count; i++)
		if (!is_harmless(run(&filters[i], &data)))
			return false;
	return true;
}

/* ---- learning them ---- */

static void forbid_calls(void)
{
	os_is_forbidden = true;
	os_has_sandbox = true;
}

/* In force already; a call of ours could be the end. */
static bool keep(const struct sock_fprog *program)
{
	if (filter_count == FILTERS_MAX || program->len > CODE_MAX - code_used)
		return false;
	for (uint32_t i = 0; i < program->len; i++)
		code[code_used + i] = program->filter[i];
	filters[filter_count] = (struct filter){ &code[code_used], program->len };
	code_used += program->len;
	__atomic_store_n(&filter_count, filter_count + 1, __ATOMIC_RELEASE);
	os_has_sandbox = true;
	return true;
}

static void learn(const struct sock_fprog *program)
{
	if (__atomic_exchange_n(&learning, 1, __ATOMIC_ACQUIRE) || !keep(program))
		forbid_calls();
	__atomic_store_n(&learning, 0, __ATOMIC_RELEASE);
}

static void forbid_all(void)
{
	clock_forbid();
	forbid_calls();
}

void sandbox_before_prctl(unsigned long option, unsigned long a)
{
	if (option == PR_SET_TSC && a == PR_TSC_SIGSEGV)
		clock_forbid();
	if (option == PR_SET_SECCOMP && a == SECCOMP_MODE_STRICT)
		forbid_all();
}

void sandbox_after_prctl(unsigned long option, unsigned long a, unsigned long b, long result)
{
	if (option == PR_SET_SECCOMP && a == SECCOMP_MODE_FILTER && result == 0)
		learn((const struct sock_fprog *)b);
}

void sandbox_before_seccomp(unsigned long operation)
{
	if (operation == SECCOMP_SET_MODE_STRICT)
		forbid_all();
}

/* The result can be a descriptor. */
void sandbox_after_seccomp(unsigned long operation, const void *argument, long result)
{
	if (operation == SECCOMP_SET_MODE_FILTER && result >= 0)
		learn(argument);
}
