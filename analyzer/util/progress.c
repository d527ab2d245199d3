/*
 * See progress.h.
 */
#include "util/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 1000000000ull
#define REDRAW_NS 200000000ull

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void progress_begin(struct progress *progress, const char *words)
{
	*progress = (struct progress){ .words = words, .is_wanted = isatty(STDERR_FILENO) };
	progress->started_ns = now_ns();
}

void progress_add(struct progress *progress, uint64_t amount)
{
	uint64_t now;

	progress->done += amount;
	if (!progress->is_wanted)
		return;
	now = now_ns();
	if (now - progress->started_ns < PATIENCE_NS || now - progress->shown_ns < REDRAW_NS)
		return;
	progress->shown_ns = now;
	progress->is_shown = true;
	fprintf(stderr, "\r%.1f million %s, %.0f s \033[K", (double)progress->done / 1e6,
		progress->words, (double)(now - progress->started_ns) / 1e9);
}

void progress_end(struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
}
