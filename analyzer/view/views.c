/*
 * The table of views.
 */
#include "view/view.h"

#include "view/view_options.h"

#include <string.h>

#define TRACES "[TRACE[@WHEN]]..."
#define TABLE (VIEW_OPENS_TRACES | VIEW_HAS_JSON | VIEW_HAS_CSV)

const struct view views[] = {
	{ "summary", "the headline figures, the verdict, where to look next", TRACES, TABLE, NULL,
	  NULL, view_summary },
	{ "top-sites", "which call sites allocate most", TRACES, TABLE, NULL, NULL,
	  view_top_sites },
	{ "peak", "what the heap held when it was largest", TRACES, TABLE, NULL, NULL, view_peak },
	{ "leaks", "what was not freed, with its stacks", TRACES, TABLE, view_leaks_options,
	  NULL, view_leaks },
	{ "churn", "short-lived and temporary allocations", TRACES, TABLE, view_churn_options,
	  NULL, view_churn },
	{ "callers", "the call tree from the allocation up", TRACES, TABLE, view_tree_options,
	  NULL, view_callers },
	{ "tree", "the call tree from main down", TRACES, TABLE, view_tree_options, NULL,
	  view_tree },
	{ "timeline", "live bytes, rate and RSS over time", TRACES, TABLE, view_timeline_options,
	  NULL, view_timeline },
	{ "sizes", "which block sizes are asked for", TRACES, TABLE, NULL, NULL, view_sizes },
	{ "lifetimes", "how long blocks live", TRACES, TABLE, NULL, NULL, view_lifetimes },
	{ "threads", "which threads allocate, which free", TRACES, TABLE, NULL, NULL,
	  view_threads },
	{ "modules", "which programs and libraries allocate", TRACES, TABLE, NULL, NULL,
	  view_modules },
	{ "snapshots", "the moments with a name, and what was live then", TRACES, TABLE, NULL, NULL,
	  view_snapshots },
	{ "events", "marks, snapshots, threads, modules in time order", TRACES, TABLE, NULL, NULL,
	  view_events },
	{ "memory", "where the resident memory went", TRACES, TABLE, view_memory_options, NULL,
	  view_memory },
	{ "blocks", "the live blocks themselves; whose block is this address", "[0xADDRESS]... "
	  TRACES, VIEW_HAS_JSON | VIEW_HAS_CSV, NULL, NULL, view_blocks },
	{ "info", "what the trace itself is like", TRACES, VIEW_OPENS_TRACES | VIEW_HAS_JSON,
	  view_info_options, view_info_instead, view_info },
	{ "dump", "every record, in words", "TRACE...", VIEW_OPENS_TRACES | VIEW_HAS_JSON,
	  view_dump_options, NULL, view_dump },
	{ "html", "all of it as one page to look at", TRACES " -o PAGE.html",
	  VIEW_OPENS_TRACES | VIEW_NEEDS_OUTPUT, NULL, NULL, view_html },
	{ "cut", "a snapshot as a small trace of its own", "TRACE@WHEN -o SMALL.trace",
	  VIEW_OPENS_TRACES | VIEW_PLAIN_OUTPUT, NULL, NULL, view_cut },
	{ "pack", "a trace made small for keeping", "TRACE -o SMALL.trace",
	  VIEW_OPENS_TRACES | VIEW_PLAIN_OUTPUT,
	  NULL, NULL, view_pack },
	{ "symbolize", "names put into the trace, for another machine", "TRACE", VIEW_PLAIN_OUTPUT,
	  NULL, NULL, view_symbolize },
	{ "export", "for other people's viewers", "--to FORMAT " TRACES,
	  VIEW_OPENS_TRACES, view_export_options, NULL, view_export },
	{ 0 },
};

const struct view *view_find(const char *name)
{
	for (const struct view *view = views; view->name; view++)
		if (view->show && !strcmp(view->name, name))
			return view;
	return NULL;
}
