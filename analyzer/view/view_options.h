/*
 * The options that views have of their own; each table lies in its view's file.
 */
#ifndef ANALYZER_VIEW_VIEW_OPTIONS_H
#define ANALYZER_VIEW_VIEW_OPTIONS_H

#include "util/option.h"

extern const struct option view_leaks_options[];
extern const struct option view_tree_options[];    /* callers, too */
extern const struct option view_churn_options[];
extern const struct option view_timeline_options[];
extern const struct option view_export_options[];
extern const struct option view_memory_options[];
extern const struct option view_info_options[];
extern const struct option view_dump_options[];

struct view_request;

/* Answers what of `info` needs no trace; false: it does. */
bool view_info_instead(struct view_request *request);

#endif
