/*
 * How a diff is shown: text, JSON (memprof.diff/1), CSV.
 */
#ifndef ANALYZER_VIEW_DIFF_VIEW_H
#define ANALYZER_VIEW_DIFF_VIEW_H

#include "model/diff.h"
#include "view/view.h"

struct diff_view {
	const struct view_request *request;
	const struct trace_set *baseline, *later;
	struct diff *diff;
	bool only_significant;
};

void diff_view_print(const struct diff_view *view);

#endif
