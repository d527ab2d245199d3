/*
 * The inputs that a fuzzer has found worth keeping, for the tests that run them.
 */
#ifndef TEST_CORPUS_H
#define TEST_CORPUS_H

#include <stddef.h>
#include <stdint.h>

/* Gives each file of test/fuzz/corpus/@name to @take, in memory of just its size.
 * Returns how many there were. */
unsigned corpus_each(const char *name, void (*take)(const uint8_t *bytes, size_t size));

#endif
