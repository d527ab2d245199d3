/*
 * See guess.h. Near is what few slips of the fingers explain: the distance of
 * optimal string alignment (letters left out, added, exchanged, two swapped;
 * L. Boytsov, ACM J. Exp. Algorithmics 16, 2011) is at most a third of the word.
 * The beginning of a name is nearest, however much is missing.
 */
#include "util/guess.h"

#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 40

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][LENGTH_MAX + 1], *before = rows[0], *last = rows[1], *now = rows[2], *old;

	for (size_t j = 0; j <= b_length; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		now[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			now[j] = least(last[j] + 1, now[j - 1] + 1,
				       last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
		old = before;
		before = last;
		last = now;
		now = old;
	}
	return last[b_length];
}

struct guess guess_of(const char *word, size_t length)
{
	return (struct guess){ .word = word, .length = length };
}

void guess_offer(struct guess *guess, const char *name)
{
	size_t length = strlen(name), slips;

	if (guess->length < 2 || guess->length > LENGTH_MAX || length > LENGTH_MAX)
		return;
	slips = length > guess->length && !memcmp(name, guess->word, guess->length) ? 0 :
			distance(guess->word, guess->length, name, length);
	if (slips > (guess->length < 6 ? 1 + (guess->length > 3) : guess->length / 3) ||
	    (guess->best && slips >= guess->distance))
		return;
	guess->best = name;
	guess->distance = slips;
}

const char *guess_hint(const struct guess *guess, const char *prefix, char *hint)
{
	*hint = '\0';
	if (guess->best)
		snprintf(hint, GUESS_HINT, ": did you mean %s%s?", prefix, guess->best);
	return hint;
}
