/*
 * See verdict.h. Each rule is a function on the curve; the order of the rules is
 * the table at the end.
 */
#include "model/verdict.h"

#include <math.h>

const char *const verdict_names[] = {
	"unknown", "leak suspect", "growing", "plateau", "churn", "one-time", NULL,
};
const char *const program_verdict_names[] = {
	"unknown", "retention", "growth", "plateau", "churn", NULL,
};

/* Below so many samples a sampled site's curve says nothing. */
#define SAMPLES_MIN 30
#define STAYED_SAMPLES_MIN 30
#define PACE_SAMPLES_MIN 10
#define HIDDEN_RISE_MAX 0.3
#define LAST_THIRD (CURVE_BUCKETS * 2 / 3)
#define RISE_SHARE 0.05
#define RISE_CARRIED 0.2 /* of the rise: by how much the mean must rise with it */
#define OLD_BLOCKS_MIN 8
#define TABLES_MAX 4

static double highest(const struct curve *curve, unsigned from, unsigned to)
{
	double high = 0;
	unsigned i;

	for (i = from; i < to; i++)
		if (curve->live[i] > high)
			high = curve->live[i];
	return high;
}

double curve_peak_bytes(const struct curve *curve)
{
	return highest(curve, 0, CURVE_BUCKETS);
}

double curve_rise_bytes(const struct curve *curve)
{
	double rise = highest(curve, LAST_THIRD, CURVE_BUCKETS) - highest(curve, 0, LAST_THIRD);

	return rise > 0 ? rise : 0;
}

/* One standard error of a live value near the peak: so many samples of the mean
 * weight are behind it, and the variance of their number is that number. */
static double noise_bytes(const struct curve *curve)
{
	if (!curve->sampled || curve->samples <= 0)
		return 0;
	return sqrt(curve_peak_bytes(curve) * curve->allocated_bytes / curve->samples);
}

static double stayed_bytes(const struct curve *curve)
{
	double sum = 0;
	unsigned i;

	for (i = 0; i < BORN_WINDOWS; i++)
		sum += curve->stayed_bytes[i];
	return sum;
}

static double stayed_count(const struct curve *curve)
{
	double sum = 0;
	unsigned i;

	for (i = 0; i < BORN_WINDOWS; i++)
		sum += curve->stayed_count[i];
	return sum;
}

/* How the curve came to its heights. A height counts when it is above the last
 * by a fiftieth of the peak, so that what comes and goes on a plateau is none. */
struct climb {
	unsigned standing;       /* buckets since the last new height */
	unsigned longest;        /* between two of them */
	bool is_table;           /* by steps of a half and more, far apart: an array that is
				  * reallocated ever larger, which stands longer each time */
};

static void climb_look(const struct curve *curve, double noise, struct climb *climb)
{
	double least = curve_peak_bytes(curve) / 50 + 3 * noise, height = 0;
	unsigned last = 0, steps = 0, i;

	*climb = (struct climb){ .is_table = true };
	for (i = 0; i < CURVE_BUCKETS; i++) {
		unsigned stood = i - last;

		if (curve->live[i] <= height + least)
			continue;
		if (height > 0 && stood > climb->longest)
			climb->longest = stood;
		/* The first steps follow each other too fast to tell anything. */
		if (height > 0 && i >= CURVE_BUCKETS / 4) {
			steps++;
			climb->is_table &= stood >= CURVE_BUCKETS / 12 &&
					   curve->live[i] >= 1.4 * height;
		}
		height = curve->live[i];
		last = i;
	}
	climb->standing = CURVE_BUCKETS - 1 - last;
	climb->is_table &= steps >= 1 && stayed_count(curve) <= TABLES_MAX;
}

static double mean(const struct curve *curve, unsigned from, unsigned to)
{
	double sum = 0;
	unsigned i;

	for (i = from; i < to; i++)
		sum += curve->live[i];
	return sum / (to - from);
}

/* A single high value, or chance, raises the highest but not the mean: that of the
 * last third above that of the middle one. */
static bool is_carried(const struct curve *curve, double noise)
{
	double risen = mean(curve, LAST_THIRD, CURVE_BUCKETS) -
		       mean(curve, LAST_THIRD / 2, LAST_THIRD);

	return risen >= RISE_CARRIED * curve_rise_bytes(curve) && risen > 2 * noise;
}

/* What rises to the end is there at the end. */
static bool is_left(const struct curve *curve)
{
	return stayed_bytes(curve) >= curve_rise_bytes(curve) / 2;
}

static bool rises(const struct curve *curve, double noise)
{
	struct climb climb;

	if (curve_rise_bytes(curve) <= RISE_SHARE * curve_peak_bytes(curve) + 3 * noise ||
	    !is_carried(curve, noise) || !is_left(curve))
		return false;
	climb_look(curve, noise, &climb);
	if (climb.is_table)
		return true;
	if (climb.standing >= CURVE_BUCKETS / 5)
		return false;
	return climb.standing < CURVE_BUCKETS / 10 || climb.standing < 2 * climb.longest;
}

bool curve_rises(const struct curve *curve)
{
	return rises(curve, noise_bytes(curve));
}

/* ---- sites ----------------------------------------------------------------------- */

/* Of the blocks that stayed, those that are old: born before the last quarter. */
static double old_bytes(const struct curve *curve)
{
	return stayed_bytes(curve) - curve->stayed_bytes[BORN_YOUNG];
}

static double old_count(const struct curve *curve)
{
	double sum = 0;
	unsigned i;

	for (i = 0; i < BORN_YOUNG; i++)
		sum += curve->stayed_count[i];
	return sum;
}

/* Blocks that stayed by the length of the window they were born in. */
static double birth_pace(const struct curve *curve, enum birth_window window)
{
	return curve->stayed_count[window] / (birth_bounds[window + 1] - birth_bounds[window]);
}

static bool is_unknown(const struct curve *curve)
{
	return curve->sampled && curve->samples < SAMPLES_MIN;
}

static bool is_one_time(const struct curve *curve)
{
	return curve->early_bytes >= 0.95 * curve->allocated_bytes &&
	       curve->stayed_bytes[BORN_FIRST_TENTH] >= 0.95 * curve->allocated_bytes;
}

static bool is_leak(const struct curve *curve)
{
	double old = old_bytes(curve);

	if (old_count(curve) < OLD_BLOCKS_MIN || old < 0.05 * curve_peak_bytes(curve))
		return false;
	if (curve->freed_old_bytes >= 0.05 * (curve->freed_old_bytes + old))
		return false;
	if (curve->given_back_bytes >= 0.95 * stayed_bytes(curve))
		return false;
	/* A rise that is plain to see needs no even pace; a slow leak beside many young
	 * blocks hardly shows in the curve. */
	if (curve_rises(curve))
		return true;
	return birth_pace(curve, BORN_LATE) > 0 &&
	       birth_pace(curve, BORN_LATE) >= 0.3 * birth_pace(curve, BORN_MIDDLE) &&
	       birth_pace(curve, BORN_YOUNG) >= 0.3 * birth_pace(curve, BORN_LATE);
}

static bool is_churn(const struct curve *curve)
{
	return curve->allocated_bytes >= 10 * curve_peak_bytes(curve) &&
	       curve->freed_young_count > 0.5 * curve->allocated_count;
}

/* How many samples stand for @count blocks. */
static double samples_of(const struct curve *curve, double count)
{
	return curve->allocated_count > 0 ? count * curve->samples / curve->allocated_count : 0;
}

/* Sampled, and blocks that stayed are too few to say that none are lost: altogether,
 * or, where some were born in the middle, to tell at what pace. */
static bool may_lose(const struct curve *curve)
{
	double weight = curve->samples > 0 ? curve->allocated_bytes / curve->samples : 0;

	if (!curve->sampled || stayed_bytes(curve) <= 0)
		return false;
	if (stayed_bytes(curve) < STAYED_SAMPLES_MIN * weight)
		return true;
	return curve->stayed_count[BORN_MIDDLE] > 0 &&
	       samples_of(curve, curve->stayed_count[BORN_LATE]) < PACE_SAMPLES_MIN;
}

/* Sampled, and the noise would hide a rise that mattered, or is all that speaks
 * against the one that there seems to be. */
static bool may_rise(const struct curve *curve)
{
	double noise = noise_bytes(curve);

	return 3 * noise > HIDDEN_RISE_MAX * curve_peak_bytes(curve) ||
	       (noise > 0 && rises(curve, 0));
}

static bool is_anything(const struct curve *curve)
{
	(void)curve;
	return true;
}

static const struct site_rule {
	enum verdict verdict;
	bool (*applies)(const struct curve *curve);
} site_rules[] = {
	{ VERDICT_UNKNOWN, is_unknown },   { VERDICT_ONE_TIME, is_one_time },
	{ VERDICT_LEAK, is_leak },         { VERDICT_GROWING, curve_rises },
	{ VERDICT_UNKNOWN, may_lose },     { VERDICT_CHURN, is_churn },
	{ VERDICT_UNKNOWN, may_rise },     { VERDICT_PLATEAU, is_anything },
};

enum verdict verdict_of_site(const struct curve *curve)
{
	const struct site_rule *rule = site_rules;

	while (!rule->applies(curve))
		rule++;
	return rule->verdict;
}

/* ---- the program ------------------------------------------------------------------ */

/* Sampled, and some sites rise by what would be a rise of the whole, which the noise
 * of the others hides. */
static bool is_contradicted(const struct curve *whole, const struct curve *leaking,
			    const struct curve *growing)
{
	return whole->sampled && curve_rise_bytes(leaking) + curve_rise_bytes(growing) >
					 RISE_SHARE * curve_peak_bytes(whole);
}

enum program_verdict verdict_of_program(const struct curve *whole, const struct curve *leaking,
					const struct curve *growing)
{
	if (is_unknown(whole) || (!whole->allocated_bytes && !curve_peak_bytes(whole)))
		return PROGRAM_UNKNOWN;
	if (curve_rises(whole))
		return curve_rise_bytes(leaking) >= curve_rise_bytes(growing) &&
				       curve_rise_bytes(leaking) > 0
			       ? PROGRAM_RETENTION
			       : PROGRAM_GROWTH;
	if (may_rise(whole) || is_contradicted(whole, leaking, growing))
		return PROGRAM_UNKNOWN;
	if (whole->allocated_bytes >= 100 * curve_peak_bytes(whole))
		return PROGRAM_CHURN;
	return PROGRAM_PLATEAU;
}
