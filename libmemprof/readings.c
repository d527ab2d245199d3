/*
 * Readings of memory and clocks: see readings.h. The first clock reading comes
 * soon after the start, so that a run of a tenth of a second that is killed has
 * two of them; later ones come with the readings of memory.
 */
#include "readings.h"

#include "clock.h"
#include "os.h"
#include "record_store.h"
#include "settings.h"

#define FIRST_NS 5000000u

uint64_t reading_next_ticks = UINT64_MAX;

static uint64_t ticks_of(uint64_t ns)
{
	bool is_known;
	uint64_t rate = clock_ticks_per_second(&is_known);

	return (uint64_t)((unsigned __int128)ns * rate / 1000000000u);
}

void readings_restart(void)
{
	uint64_t next = settings_get()->reading_ns ? clock_ticks() + ticks_of(FIRST_NS) :
						      UINT64_MAX;

	__atomic_store_n(&reading_next_ticks, next, __ATOMIC_RELAXED);
}

/* One thread gets each reading: the one that moves the time of the next. */
static bool claim(uint64_t now_ticks)
{
	uint64_t due = __atomic_load_n(&reading_next_ticks, __ATOMIC_RELAXED);
	uint64_t next = now_ticks + ticks_of(settings_get()->reading_ns);

	return now_ticks >= due &&
	       __atomic_compare_exchange_n(&reading_next_ticks, &due, next, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* statm: pages of size, resident, shared, ... */
static bool read_statm(uint64_t pages[3])
{
	char text[128];
	const char *at = text;

	if (os_read_file("/proc/self/statm", text, sizeof(text)) <= 0)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		if (!text_number(at, &at, &pages[i]))
			return false;
		at += *at == ' ';
	}
	return true;
}

static void store_reading(struct record_cursor *cursor, uint64_t mapped_bytes)
{
	uint64_t pages[3];

	if (!read_statm(pages))
		return;
	record_begin(cursor, TRACE_KIND_READING);
	record_number(cursor, pages[1] * OS_PAGE_BYTES);
	record_number(cursor, pages[2] * OS_PAGE_BYTES);
	record_number(cursor, pages[0] * OS_PAGE_BYTES);
	record_number(cursor, mapped_bytes);
	record_end(cursor);
}

void record_clock(struct record_cursor *cursor)
{
	struct clock_reading now;

	clock_read(&now);
	record_begin(cursor, TRACE_KIND_CLOCK);
	record_number(cursor, now.ticks);
	record_number(cursor, now.mono_ns);
	record_number(cursor, now.real_ns);
	record_end(cursor);
}

size_t reading_take(uint64_t now_ticks, uint64_t mapped_bytes, uint8_t *out)
{
	struct record_cursor cursor = { .at = out, .end = out + READING_RECORDS_MAX };

	if (os_is_forbidden || !claim(now_ticks))
		return 0;
	store_reading(&cursor, mapped_bytes);
	record_clock(&cursor);
	return (size_t)(cursor.at - out);
}
