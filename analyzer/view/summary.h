/*
 * What the summary says of a program in words, for other views to say the same.
 */
#ifndef ANALYZER_VIEW_SUMMARY_H
#define ANALYZER_VIEW_SUMMARY_H

#include "model/judgement.h"
#include "view/view.h"

/* An empty line, then two sentences, a line each ("Growth: live bytes ..."). */
void summary_print_verdict(const struct view_request *request, const struct judgement *judgement);

#endif
