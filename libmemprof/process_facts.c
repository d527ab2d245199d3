/*
 * Reading /proc about ourselves, once per trace: a handful of small files, some
 * 50 us. What can't be read stays empty; nothing depends on it but the comfort of
 * the reader and the choice of a file name.
 */
#define _GNU_SOURCE
#include "process_facts.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "os.h"

#define STAT_STARTTIME 22
#define STAT_STARTSTACK 28

/* Field @wanted (from 3) of /proc/PID/stat: they follow the last ')', since the
 * name in parentheses may hold anything. */
static uint64_t stat_field(const char *stat, unsigned wanted)
{
	const char *at = text_find_last(stat, ')');
	const char *end;
	uint64_t value;

	if (!at)
		return 0;
	for (unsigned field = 2; field < wanted; field++) {
		at = text_find(at + 1, ' ');
		if (!at)
			return 0;
	}
	return text_number(at + 1, &end, &value) ? value : 0;
}

static void read_boot_id(char out[40])
{
	if (os_read_file("/proc/sys/kernel/random/boot_id", out, 40) < 36)
		out[0] = '\0';
	out[36] = '\0';
}

uint64_t process_start_time(uint64_t pid)
{
	char path[40], stat[1024];

	text_format(path, sizeof(path), "/proc/%lu/stat", pid);
	if (os_read_file(path, stat, sizeof(stat)) <= 0)
		return 0;
	return stat_field(stat, STAT_STARTTIME);
}

bool process_is_alive(uint64_t pid, uint64_t proc_start, const char *boot_id)
{
	char booted[40];

	read_boot_id(booted);
	if (booted[0] && boot_id[0] && !text_equal(booted, boot_id))
		return false;
	if (!proc_start || !process_start_time((uint64_t)os_pid()))
		return os_call2(SYS_kill, pid, 0) != -ESRCH;
	return process_start_time(pid) == proc_start;
}

static void read_stat(struct process_facts *facts)
{
	char stat[1024];

	if (os_read_file("/proc/self/stat", stat, sizeof(stat)) <= 0)
		return;
	facts->proc_start = stat_field(stat, STAT_STARTTIME);
	facts->stack_hi = stat_field(stat, STAT_STARTSTACK);
}

static void read_exe(struct process_facts *facts)
{
	const char *slash, *name;
	char *deleted;

	if (os_is_error(os_readlink("/proc/self/exe", facts->exe, sizeof(facts->exe))))
		text_format(facts->exe, sizeof(facts->exe), "unknown");
	slash = text_find_last(facts->exe, '/');
	name = slash ? slash + 1 : facts->exe;
	text_format(facts->program, sizeof(facts->program), "%s", name);
	deleted = (char *)text_find(facts->program, ' ');
	if (deleted && text_equal(deleted, " (deleted)"))
		*deleted = '\0';
}

static void read_host(struct process_facts *facts)
{
	struct utsname name;

	if (os_call1(SYS_uname, &name) == 0)
		text_format(facts->host, sizeof(facts->host), "%s", name.nodename);
}

/* The line "NSpid:\t12\t1": kept where there is more than one number. */
static void read_nspids(struct process_facts *facts)
{
	char status[2048];
	const char *at = status;
	size_t length = 0;

	if (os_read_file("/proc/self/status", status, sizeof(status)) <= 0)
		return;
	while (at && !text_begins(at, "NSpid:\t")) {
		at = text_find(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return;
	for (at += 7; *at && *at != '\n' && length < sizeof(facts->nspids) - 1; at++)
		facts->nspids[length++] = *at == '\t' ? ' ' : *at;
	facts->nspids[length] = '\0';
	if (!text_find(facts->nspids, ' '))
		facts->nspids[0] = '\0';
}

/* MEMPROF_IMAGE is "COUNT PID START", left by the program that this pid was
 * before; for any other process it means nothing. */
static uint64_t count_images(const struct process_facts *facts, const char *previous)
{
	uint64_t count, pid, start;

	if (!previous || !text_number(previous, &previous, &count) || *previous != ' ' ||
	    !text_number(previous + 1, &previous, &pid) || *previous != ' ' ||
	    !text_number(previous + 1, &previous, &start))
		return 1;
	return pid == facts->pid && start == facts->proc_start ? count + 1 : 1;
}

void process_facts_read(struct process_facts *facts, const char *previous_image)
{
	struct timespec now = { 0, 0 };

	memset(facts, 0, sizeof(*facts));
	facts->pid = (uint64_t)os_pid();
	facts->ppid = (uint64_t)os_call0(SYS_getppid);
	facts->tid = (uint64_t)os_tid();
	os_call2(SYS_clock_gettime, CLOCK_REALTIME, &now);
	facts->start_unix_s = (uint64_t)now.tv_sec;
	read_boot_id(facts->boot_id);
	read_stat(facts);
	read_exe(facts);
	read_host(facts);
	read_nspids(facts);
	facts->image = count_images(facts, previous_image);
}
