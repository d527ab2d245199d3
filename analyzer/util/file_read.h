/*
 * Reading a file at a place, whatever signals and short reads do.
 */
#ifndef ANALYZER_UTIL_FILE_READ_H
#define ANALYZER_UTIL_FILE_READ_H

#include <stddef.h>
#include <stdint.h>

/* Reads @bytes at @offset of @fd. Returns how many it got: fewer at the end of the
 * file, or when reading fails. */
size_t file_read_at(int fd, void *to, size_t bytes, uint64_t offset);

#endif
