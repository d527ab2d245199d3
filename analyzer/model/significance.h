/*
 * Which of many differences are more than noise. A difference with its standard
 * error gives a p-value by the normal approximation; of all sites together,
 * those are marked that keep the false discovery rate at the level asked for
 * (Benjamini and Hochberg, J. R. Statist. Soc. B 57, 1995): of what is marked,
 * no more than that share is noise on average, and when nothing has changed, the
 * chance that anything is marked is no more than the level.
 */
#ifndef ANALYZER_MODEL_SIGNIFICANCE_H
#define ANALYZER_MODEL_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Two-sided. An exact difference (no error) has p = 0 when it is one, else 1.
 * @step: what one sample stands for, taken off the difference (0 = nothing): a
 * correction for continuity. A difference of two counts a and b moves in steps of
 * two samples while a + b is given, so that half of a step is one sample (Yates,
 * J. R. Statist. Soc. Suppl. 1, 1934). Without it four samples against none
 * would have p = 0.046, where the binomial distribution says 0.125.
 */
double significance_p(double difference, double error, double step);

/* Sets marks[i] for what is significant among @count p-values at @level (0.05).
 * Returns how many. On lack of memory nothing is marked. */
size_t significance_mark(const double *p, size_t count, double level, bool *marks);

#endif
