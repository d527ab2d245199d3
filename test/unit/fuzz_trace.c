/*
 * The fuzz target as a helper of the unit tests, which run its corpus.
 */
#include "../fuzz/fuzz_trace.c"
