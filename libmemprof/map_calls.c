/*
 * Mappings are few and cost a system call each, so all of them are recorded
 * with their stacks in every mode while recording is on. A release is stamped
 * before the real call and written after it, when it is known to have worked.
 */
#define _GNU_SOURCE
#include "map_calls.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "heap_calls.h"
#include "next.h"
#include "settings.h"
#include "thread_state.h"
#include "unwind.h"

/* The allocator's own business, or the user doesn't want to see maps. */
static bool is_the_programs(const struct unwind_point *point)
{
	if (!settings_get()->record_mmap)
		return false;
	return !next_module_has(&next_facts.allocator, point->pc);
}

static void record(const struct map_event *event, const struct unwind_point *point)
{
	struct thread_state *state;

	if (!is_the_programs(point))
		return;
	state = thread_enter(unwind_frame_of(point));
	if (!state)
		return;
	if (heap_is_recording(state))
		recorder_map(&state->recorder, event, point);
	thread_leave(state);
}

static void count_mapped(int64_t bytes)
{
	__atomic_fetch_add(&recorder_mapped_bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
}

void *record_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	struct unwind_point point = UNWIND_CALLER();
	struct map_event event = {
		.op = TRACE_MAP_MMAP, .bytes = bytes, .prot = prot, .flags = flags,
		.fd = flags & MAP_ANONYMOUS ? -1 : fd, .offset = (uint64_t)offset,
	};
	void *result = next.mmap(at, bytes, prot, flags, fd, offset);

	if (result == MAP_FAILED)
		return result;
	event.address = (uintptr_t)result;
	count_mapped((int64_t)bytes);
	record(&event, &point);
	return result;
}

int record_munmap(void *at, size_t bytes)
{
	struct unwind_point point = UNWIND_CALLER();
	struct map_event event = {
		.op = TRACE_MAP_MUNMAP, .address = (uintptr_t)at, .bytes = bytes, .fd = -1,
		.when = recorder_now(),
	};
	int result = next.munmap(at, bytes);

	if (result)
		return result;
	count_mapped(-(int64_t)bytes);
	record(&event, &point);
	return result;
}

void *record_mremap(void *at, size_t bytes, size_t new_bytes, int flags, void *to)
{
	struct unwind_point point = UNWIND_CALLER();
	struct map_event event = {
		.op = TRACE_MAP_MREMAP, .bytes = new_bytes, .flags = flags, .fd = -1,
		.old_address = (uintptr_t)at, .old_bytes = bytes,
	};
	void *result = next.mremap(at, bytes, new_bytes, flags, to);

	if (result == MAP_FAILED)
		return result;
	event.address = (uintptr_t)result;
	count_mapped((int64_t)new_bytes - (int64_t)bytes);
	record(&event, &point);
	return result;
}

static void record_break(uintptr_t from, uintptr_t to, const struct unwind_point *point)
{
	struct map_event event = {
		.op = TRACE_MAP_BRK, .address = to, .old_address = from, .fd = -1,
	};

	count_mapped((int64_t)(to - from));
	record(&event, point);
}

int record_brk(void *end)
{
	struct unwind_point point = UNWIND_CALLER();
	uintptr_t before = (uintptr_t)next.sbrk(0);
	int result = next.brk(end);

	if (!result)
		record_break(before, (uintptr_t)end, &point);
	return result;
}

void *record_sbrk(intptr_t increment)
{
	struct unwind_point point = UNWIND_CALLER();
	void *before = next.sbrk(increment);

	if (before != (void *)-1 && increment)
		record_break((uintptr_t)before, (uintptr_t)before + (uintptr_t)increment, &point);
	return before;
}
