/*
 * Names as their authors wrote them: C++, Rust (both schemes), D. Names come out
 * of files that anybody can have made, so length and nesting are limited.
 */
#ifndef ANALYZER_SYMBOLIZE_DEMANGLE_H
#define ANALYZER_SYMBOLIZE_DEMANGLE_H

/* Longest linkage name that is demangled, and longest name that comes out. */
#define DEMANGLE_INPUT_MAX 16384
#define DEMANGLE_OUTPUT_MAX 65536

/* The readable form of @linkage_name, for free(). NULL: it has none, being no
 * mangled name, or broken, or beyond the limits. */
char *demangle(const char *linkage_name);

/* Trims @name as people do when they talk about it: template arguments, the
 * parameter list and the return type go ("std::vector<...>::push_back"). The
 * result is for free(); NULL: no memory. */
char *demangle_shorten(const char *name);

#endif
