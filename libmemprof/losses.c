/* Counts of lost events by cause: see losses.h. */
#include "losses.h"

#include "companion.h"
#include "log.h"
#include "record_store.h"

#define CAUSES (TRACE_LOSS_LATE + 1)

static struct {
	uint64_t events[CAUSES]; /* added to by any thread */
	uint64_t told[CAUSES];   /* of them in LOST records already; under process.c's lock */
} losses;

/* What a user is told once, at the first event of a cause; NULL: no trouble. */
static const char *const complaint[CAUSES] = {
	[TRACE_LOSS_NO_SPACE] = "the trace can't grow (disk full or file size limit): events are "
				"being lost; they are counted",
	[TRACE_LOSS_NO_MEMORY] = "no memory for a thread's state: its events are being lost",
	[TRACE_LOSS_CLOSED] = "the trace was closed by the program and can't be opened again: "
			      "events are being lost",
	[TRACE_LOSS_MAX_TRACE] = "MEMPROF_MAX_TRACE is reached: the trace ends here",
};

void loss_count(enum trace_loss cause, uint64_t events)
{
	if (cause >= CAUSES)
		return;
	if (!__atomic_fetch_add(&losses.events[cause], events, __ATOMIC_RELAXED) &&
	    complaint[cause])
		log_warn("%s", complaint[cause]);
	if (cause != TRACE_LOSS_STOPPED)
		__atomic_fetch_add(&control_shared->lost, events, __ATOMIC_RELAXED);
}

void losses_store(struct record_cursor *cursor)
{
	for (unsigned cause = 0; cause < CAUSES; cause++) {
		uint64_t events = __atomic_load_n(&losses.events[cause], __ATOMIC_RELAXED);

		if (events == losses.told[cause])
			continue;
		record_begin(cursor, TRACE_KIND_LOST);
		record_number(cursor, cause);
		record_number(cursor, events - losses.told[cause]);
		if (record_end(cursor))
			losses.told[cause] = events;
	}
}

void losses_restart(void)
{
	for (unsigned cause = 0; cause < CAUSES; cause++)
		losses.events[cause] = losses.told[cause] = 0;
}
