/*
 * What libelf can't unpack: the xz file in .gnu_debugdata, and sections
 * compressed by zstd. Sizes claimed by the file are not believed.
 */
#ifndef ANALYZER_SYMBOLIZE_INFLATE_H
#define ANALYZER_SYMBOLIZE_INFLATE_H

#include <libelf.h>
#include <stddef.h>

/* Most that one file may unpack to. */
#define INFLATE_BYTES_MAX ((size_t)8 << 30)

/* Unpacks one xz stream. The result is for free(); NULL: broken, or too big. */
void *inflate_xz(const void *packed, size_t packed_bytes, size_t *bytes);

/* An image of @elf whose sections are plain, its program headers left out: good
 * for reading DWARF. For free(). NULL: no section is packed by zstd, or one is
 * broken. */
void *inflate_zstd_sections(Elf *elf, size_t *bytes);

#endif
