/*
 * What is known of a trace's modules: whether their files were found and are the
 * right ones, what could be named, and the one thing to do when names are
 * missing. Part of `info`.
 */
#ifndef ANALYZER_VIEW_VIEW_SYMBOLS_H
#define ANALYZER_VIEW_VIEW_SYMBOLS_H

#include "view/json.h"
#include "view/view.h"

/* The table of modules. */
int view_symbols_text(struct view_request *request, const struct trace *trace, struct error *err);
/* The array "modules". */
int view_symbols_json(struct view_request *request, struct json *json, const struct trace *trace,
		      struct error *err);

/* --check-symbols: compares the two readers of debug information on the trace's
 * places. 0: they agree; 1: they do not. */
int view_symbols_check(struct view_request *request, const struct trace *trace, struct error *err);

#endif
