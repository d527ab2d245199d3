/*
 * One stack as a folded line, without its number.
 */
#ifndef ANALYZER_VIEW_FOLDED_H
#define ANALYZER_VIEW_FOLDED_H

#include "model/profile.h"

#include <stdio.h>

void folded_frame(FILE *out, const struct profile_frame *frame);
void folded_stack(FILE *out, struct profile *profile, const struct profile_stack *stack);

#endif
