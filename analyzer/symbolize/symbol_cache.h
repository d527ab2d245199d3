/*
 * Answers kept from run to run, one file per module in the user's cache folder:
 *
 *	$XDG_CACHE_HOME/memprof/symbols/BUILD-ID.HASH     else ~/.cache/memprof/symbols
 *
 * HASH stands for the module's path and where debug files were looked for. A
 * file is written beside its place and renamed, so any number of processes can
 * share the folder; the last one to learn something wins. Modules without a
 * build-id are not kept. Nothing here is an error: without a folder there is no
 * cache.
 */
#ifndef ANALYZER_SYMBOLIZE_SYMBOL_CACHE_H
#define ANALYZER_SYMBOLIZE_SYMBOL_CACHE_H

#include "symbolize/object_file.h"

#include <stddef.h>

/* The folder is emptied, least recently used first, when it holds more. */
#define SYMBOL_CACHE_BYTES_MAX ((uint64_t)512 << 20)

struct symbol_cache;

/* @folder: NULL = the user's own; "" = keep nothing. Never NULL but without
 * memory. */
struct symbol_cache *symbol_cache_new(const char *folder);

/* Frees it, and brings the folder down to its limit if this run added to it. */
void symbol_cache_free(struct symbol_cache *cache);

/* What is kept for this module, as a block for free(); NULL: nothing. */
void *symbol_cache_load(struct symbol_cache *cache, const struct object_query *query,
			size_t *bytes);

void symbol_cache_store(struct symbol_cache *cache, const struct object_query *query,
			const void *block, size_t bytes);

#endif
