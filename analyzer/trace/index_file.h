/*
 * What was found out about a large trace, kept in the user's cache folder so that
 * the next question needs less of it:
 *
 *	$XDG_CACHE_HOME/memprof/index/HASH            else ~/.cache/memprof/index
 *
 * HASH stands for the trace's identity: device, inode, size, time of the last
 * change and the headers of its pieces. A file is a row of packed blocks, each
 * with a checksum, behind a directory; what is in them is the business of those
 * who write them (model/slices.h). Whatever is wrong with a file, it is as if
 * there were none.
 */
#ifndef ANALYZER_TRACE_INDEX_FILE_H
#define ANALYZER_TRACE_INDEX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All indexes together; one alone takes a half at most. */
#define INDEX_BYTES_MAX ((uint64_t)1 << 30)

struct index_identity {
	uint64_t device, inode, bytes, changed_ns, pieces_hash;
};

struct index_file;

/* NULL: there is none, or it is of no use. */
struct index_file *index_file_open(const struct index_identity *identity);
void index_file_close(struct index_file *file);
size_t index_file_blocks(const struct index_file *file);
/* Block @number, unpacked, for free(). NULL: it is damaged. */
void *index_file_block(const struct index_file *file, size_t number, size_t *bytes);
/* Whether all blocks are as they were written. */
bool index_file_is_whole(const struct index_file *file);

struct index_writer;

/* NULL: there is no place for it. */
struct index_writer *index_writer_new(const struct index_identity *identity);
/* Appends a block. false: it could not be written, or the index has grown too
 * large; the writer is of no use any more. */
bool index_writer_block(struct index_writer *writer, const void *bytes, size_t count);
/* Frees the writer; what was written becomes the index if @is_wanted. */
void index_writer_end(struct index_writer *writer, bool is_wanted);

#endif
