/*
 * The hooks of mappings: forward first, then record what the program has
 * mapped for itself. What its allocator maps is not recorded; what the loader
 * and libc map doesn't come by here.
 */
#ifndef LIBMEMPROF_MAP_CALLS_H
#define LIBMEMPROF_MAP_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

void *record_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int record_munmap(void *at, size_t bytes);
void *record_mremap(void *at, size_t bytes, size_t new_bytes, int flags, void *to);
int record_brk(void *end);
void *record_sbrk(intptr_t increment);

#endif
