/*
 * Reading and writing a file at a place, whatever signals and short answers do.
 */
#ifndef ANALYZER_UTIL_FILE_IO_H
#define ANALYZER_UTIL_FILE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads @bytes at @offset of @fd. Returns how many it got: fewer at the end of the
 * file, or when reading fails. */
size_t file_read_at(int fd, void *to, size_t bytes, uint64_t offset);

/* Writes @bytes at @offset of @fd. false: not all of them; errno says why. */
bool file_write_at(int fd, const void *from, size_t bytes, uint64_t offset);

#endif
