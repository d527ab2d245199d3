/*
 * Choosing and reading the clock: see clock.h. The kernel's own opinion is
 * asked first: a machine on whose counter it doesn't rely uses a timer chip as
 * its clock source.
 */
#define _GNU_SOURCE
#include "clock.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "os.h"

#define CPUID_POWER 0x80000007u
#define CPUID_INVARIANT_TSC (1u << 8)
#define GUESSED_TICKS_PER_SECOND 3000000000u
#define MEASURE_NS 2000000u /* two readings this far apart give the rate to 1 in 10000 */

uint32_t clock_source = CLOCK_SOURCE_MONOTONIC;

static struct {
	struct clock_reading first;     /* at the start of the image */
	struct clock_reading frozen;    /* the last one before the counter was forbidden */
	uint64_t ticks_per_second;      /* 0: not known yet. Written by any thread, whole */
} clock_state;

/* 0: the program's sandbox forbids it. */
static uint64_t kernel_ns(int id)
{
	struct timespec now = { 0, 0 };

	os_call2(SYS_clock_gettime, id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_slow_ticks(void)
{
	if (clock_source == CLOCK_SOURCE_NONE)
		return __atomic_add_fetch(&clock_state.frozen.ticks, 1, __ATOMIC_RELAXED);
	return kernel_ns(CLOCK_MONOTONIC_RAW);
}

static bool counter_is_invariant(void)
{
	uint32_t regs[4];

	arch_cpuid(0x80000000u, regs);
	if (regs[0] < CPUID_POWER)
		return false;
	arch_cpuid(CPUID_POWER, regs);
	return regs[3] & CPUID_INVARIANT_TSC;
}

/*
 * Where the kernel's own clock is the counter there is nothing to ask. (cpuid is
 * dear in a virtual machine: it leaves it.) Where it is a timer chip the kernel has
 * found the counter wanting. In between (a clock of the hypervisor, made from the
 * counter) the processor is asked.
 */
static bool counter_is_even(void)
{
	static const char *const chips[] = { "hpet", "acpi_pm", "refined-jiffies", "jiffies",
					     "pit" };
	char source[32];

	if (os_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			 source, sizeof(source)) <= 0)
		return counter_is_invariant();
	if (text_begins(source, "tsc"))
		return true;
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
		if (text_begins(source, chips[i]))
			return false;
	return counter_is_invariant();
}

static bool counter_is_allowed(void)
{
	int mode = PR_TSC_ENABLE;

	return os_call2(SYS_prctl, PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
}

static void set_rate(uint64_t ticks_per_second)
{
	__atomic_store_n(&clock_state.ticks_per_second, ticks_per_second, __ATOMIC_RELAXED);
}

void clock_start(void)
{
	if (clock_state.first.mono_ns)
		return;
	if (counter_is_allowed() && counter_is_even())
		clock_source = CLOCK_SOURCE_TSC;
	else
		set_rate(1000000000u);
	clock_read(&clock_state.first);
}

void clock_forbid(void)
{
	struct clock_reading now;

	clock_read(&now);
	clock_state.frozen = now;
	clock_source = CLOCK_SOURCE_NONE;
}

static void measure(const struct clock_reading *now)
{
	uint64_t ns = now->mono_ns - clock_state.first.mono_ns;
	uint64_t ticks = now->ticks - clock_state.first.ticks;

	if (clock_source != CLOCK_SOURCE_TSC || !clock_state.first.mono_ns || ns < MEASURE_NS)
		return;
	set_rate((uint64_t)((unsigned __int128)ticks * 1000000000u / ns));
}

/* The time by the counter alone. */
static void reckon(struct clock_reading *reading)
{
	bool is_known;
	uint64_t ahead = reading->ticks - clock_state.first.ticks;
	uint64_t ns = (uint64_t)((unsigned __int128)ahead * 1000000000u /
				 clock_ticks_per_second(&is_known));

	reading->mono_ns = clock_state.first.mono_ns + ns;
	reading->real_ns = clock_state.first.real_ns + ns;
}

void clock_read(struct clock_reading *reading)
{
	if (clock_source == CLOCK_SOURCE_NONE) {
		*reading = clock_state.frozen;
		return;
	}
	reading->real_ns = kernel_ns(CLOCK_REALTIME);
	reading->mono_ns = kernel_ns(CLOCK_MONOTONIC_RAW);
	reading->ticks = clock_source == CLOCK_SOURCE_TSC ? arch_ticks() : reading->mono_ns;
	if (reading->mono_ns)
		measure(reading);
	else if (clock_source == CLOCK_SOURCE_TSC)
		reckon(reading);
	else
		*reading = clock_state.first;
}

const char *clock_source_name(void)
{
	return clock_source == CLOCK_SOURCE_MONOTONIC ? "monotonic_raw" : "tsc";
}

uint64_t clock_ticks_per_second(bool *is_known)
{
	uint64_t known = __atomic_load_n(&clock_state.ticks_per_second, __ATOMIC_RELAXED);

	*is_known = known != 0;
	return known ? known : GUESSED_TICKS_PER_SECOND;
}
