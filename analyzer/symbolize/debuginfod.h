/*
 * Debug files from a debuginfod server, when the user asked for it. The client
 * library is looked for at run time: nothing depends on it.
 */
#ifndef ANALYZER_SYMBOLIZE_DEBUGINFOD_H
#define ANALYZER_SYMBOLIZE_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fetches the debug file of a build-id (or takes it from the client's own
 * cache) and stores its path. Tells progress on stderr when that is a terminal
 * and it takes longer than a second. */
bool debuginfod_fetch(const uint8_t *build_id, unsigned build_id_bytes, char *path, size_t room);

#endif
