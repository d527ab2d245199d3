/*
 * "Did you mean": the name nearest to a word that is none.
 */
#ifndef ANALYZER_UTIL_GUESS_H
#define ANALYZER_UTIL_GUESS_H

#include <stddef.h>

#define GUESS_HINT 96

struct guess {
	const char *word;
	size_t length;             /* of word, which need not end there */
	const char *best;          /* NULL: nothing offered is near */
	size_t distance;
};

struct guess guess_of(const char *word, size_t length);
/* @name must outlive the guess. */
void guess_offer(struct guess *guess, const char *name);
/* ": did you mean PREFIXname?" into @hint of GUESS_HINT bytes, or nothing. Returns @hint. */
const char *guess_hint(const struct guess *guess, const char *prefix, char *hint);

#endif
