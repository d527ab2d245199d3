/*
 * What libc and friends keep to the end of every process, in the syntax of
 * suppressions.h: memory that is not the program's to free.
 */
#ifndef ANALYZER_MODEL_LEAK_SUPPRESSIONS_H
#define ANALYZER_MODEL_LEAK_SUPPRESSIONS_H

extern const char leak_suppressions_default[];

/* What stands for the file of these in errors and lists. */
#define LEAK_SUPPRESSIONS_NAME "built in"

#endif
