/*
 * What kind of site, or program, a curve shows. The rules, in their order
 * (memprof-report(1) has them for users; shares are of the run):
 *
 *	unknown       too few samples to judge
 *	one-time      at least 95 % of its bytes were allocated in the first tenth,
 *	              and at least 95 % of them stayed to the end
 *	leak suspect  live bytes rise (as for growing), or blocks that stayed were born
 *	              all along: in [5/8, 3/4] at 3/10
 *	              or more of the pace of [1/4, 5/8], in the last quarter at 3/10
 *	              or more of the pace of [5/8, 3/4]; of the bytes that got old
 *	              (1/4 of the run) less than 5 % was freed; at least eight such
 *	              blocks; not given back at the end; and they are a twentieth of
 *	              the site's highest live bytes at least
 *	growing       live bytes still rise in the last third, see curve_rises
 *	churn         allocated ten times its highest live bytes or more, and most
 *	              blocks were freed before 1/20 of the run
 *	plateau       everything else
 *
 * Of a sampled trace, unknown too: where fewer than thirty samples stayed, but
 * some did (the site may lose blocks), or some were born in [1/4, 5/8] and fewer than
 * ten in [5/8, 3/4]; and in place of plateau where three standard errors are more
 * than 3/10 of the highest live bytes, or all that speaks against a rise. The program is
 * unknown where it doesn't rise, but suspects and growing sites do by a twentieth
 * of its highest live bytes.
 *
 * The program: retention when live bytes rise and leak suspects make up most of
 * the rise, growth when they rise otherwise, churn when it allocates a hundred
 * times its highest live bytes, else plateau.
 */
#ifndef ANALYZER_MODEL_VERDICT_H
#define ANALYZER_MODEL_VERDICT_H

#include "model/curves.h"

enum verdict {
	VERDICT_UNKNOWN,
	VERDICT_LEAK,
	VERDICT_GROWING,
	VERDICT_PLATEAU,
	VERDICT_CHURN,
	VERDICT_ONE_TIME,
};
extern const char *const verdict_names[]; /* "unknown", "leak suspect", ... */

enum program_verdict {
	PROGRAM_UNKNOWN,
	PROGRAM_RETENTION,
	PROGRAM_GROWTH,
	PROGRAM_PLATEAU,
	PROGRAM_CHURN,
};
extern const char *const program_verdict_names[]; /* "unknown", "retention", ... */

/* Do live bytes still rise in the last third? They do when their highest value
 * there is above everything before by 5 % of it, the mean of the last third above
 * that of the middle one by a fifth of this, and half of it is there at the end;
 * unless they have stood still at the end for a fifth of the run, or for a tenth
 * of it and twice as long as ever between two rises. A table that is reallocated by
 * a half and more each time may stand as long as it likes. */
bool curve_rises(const struct curve *curve);

/* How much the highest value of the last third is above that of the rest. */
double curve_rise_bytes(const struct curve *curve);
double curve_peak_bytes(const struct curve *curve);

enum verdict verdict_of_site(const struct curve *curve);

/* @whole: everything; @leaking, @growing: the sites judged so, together. */
enum program_verdict verdict_of_program(const struct curve *whole, const struct curve *leaking,
					const struct curve *growing);

#endif
