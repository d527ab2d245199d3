/*
 * The companion file (include/memprof/control.h): the control page, and slots
 * in which the newest records of each lane survive the process. Every page is
 * allocated on the disk before it is mapped, so that no store can raise SIGBUS.
 * Slots are not inherited by a child of fork; the control page can still be
 * read there until the child has a companion of its own.
 *
 * Where no file can do this, slots are plain memory: the trace then is complete
 * after an orderly end only, and META says so ("companion" is empty).
 */
#ifndef LIBMEMPROF_COMPANION_H
#define LIBMEMPROF_COMPANION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <memprof/control.h>
#include <memprof/trace_format.h>

/* Lanes that one process can have: threads alive at one time. */
#define COMPANION_SLOTS_MAX 65536

/*
 * The control page: at a fixed place in the library, so that a look at a word
 * is one load. Private before the companion exists, shared afterwards. Others
 * write it: check and clamp whatever is read.
 */
union companion_page {
	struct control_page control;
	uint8_t bytes[CONTROL_PAGE_BYTES];
};
extern union companion_page companion_page __attribute__((visibility("hidden")));
#define control_shared (&companion_page.control)

/* The control words, clamped: is_active 0 or 1, rate 1 .. SETTINGS_RATE_MAX. */
bool control_is_active(void);
uint64_t control_rate_bytes(void);
static inline uint64_t control_generation(void)
{
	return __atomic_load_n(&control_shared->generation, __ATOMIC_RELAXED);
}

/* From inside the process (memprof_start, _stop, _set_rate): sets the word and
 * changes the generation. */
void control_set_active(bool is_active);
void control_set_rate(uint64_t rate_bytes);

/*
 * For process.c: makes the companion of the trace @trace_path with its control
 * page as @identity (slots and paths filled in here), and takes leave of the
 * parent's in a child of fork. Where its folder can't hold it, it goes to
 * /dev/shm or @temporary ($TMPDIR, may be NULL). Returns false when slots will
 * be plain memory.
 */
bool companion_open(const char *trace_path, const struct control_page *identity,
		    const char *temporary);
void companion_unlink(void);
/* After an exec that failed: there again, where one thread writes; else the trace
 * goes on without (complete after an orderly end). */
void companion_restore(void);
const char *companion_path(void); /* "" when there is none */
bool companion_is_elsewhere(void); /* not beside the trace */

/* A slot for a new lane: *lane is its lane (from 1). NULL: none to be had. Takes
 * a lock only when a new batch has to be made. */
struct trace_piece *companion_take_slot(uint32_t *lane);

/* Slots that have been taken; the slot of a lane (1 .. companion_lanes()), NULL
 * for a lane that is being born. */
uint32_t companion_lanes(void);
struct trace_piece *companion_slot(uint32_t lane);

#endif
