/*
 * See symbolizer.h. The front: it knows what was answered already, asks for the
 * rest once per batch, and hands out frames that stay where they are. All
 * reading of object files is done by the process behind symbol_reader.h.
 */
#include "symbolize/symbolizer.h"

#include "memprof/trace_format.h"
#include "symbolize/demangle.h"
#include "symbolize/saved_names.h"
#include "symbolize/symbol_answer.h"
#include "symbolize/symbol_cache.h"
#include "symbolize/symbol_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* An answer, with its frames in the form that callers see. */
struct answered {
	struct answered *next;
	struct symbol_answer answer;
	struct symbol_frame *frames;   /* one for each of answer.frames */
	const struct symbol_frame **members; /* one for each of answer.members */
	void *block;
	char **shortened;              /* with options.shorten: by string offset, or NULL */
};

struct module {
	struct module *next;
	char *path;
	uint8_t build_id[64];
	unsigned build_id_bytes;
	uint64_t file_bytes, mtime_ns;
	struct answered *answers;
	struct saved_names saved;      /* symbols kept in a trace */
	struct answered *saved_answers;/* frames kept in a trace, but not from DWARF */
	bool cache_was_asked;
	enum symbolizer_source source;
	char words[256];               /* when the reader failed */
};

struct symbolizer {
	struct symbolizer_options options;  /* its strings are copies */
	struct symbol_reader *reader;
	struct symbol_cache *cache;
	struct module *modules;
	const struct symbol_frame *nothing; /* the frame of an address nobody knows */
};

/* ---- the module's table --------------------------------------------------------- */

static const struct symbol_frame unknown_frame;

static bool is_module(const struct module *known, const struct symbolizer_module *module)
{
	return known->build_id_bytes == module->build_id_bytes &&
	       !memcmp(known->build_id, module->build_id ? module->build_id : known->build_id,
		       known->build_id_bytes) &&
	       known->file_bytes == module->file_bytes && known->mtime_ns == module->mtime_ns &&
	       !strcmp(known->path, module->path);
}

static struct module *module_of(struct symbolizer *symbolizer,
				const struct symbolizer_module *module)
{
	struct module *known;

	for (known = symbolizer->modules; known; known = known->next)
		if (is_module(known, module))
			return known;
	known = calloc(1, sizeof(*known));
	if (!known)
		return NULL;
	known->path = strdup(module->path);
	if (!known->path || module->build_id_bytes > sizeof(known->build_id)) {
		free(known->path);
		free(known);
		return NULL;
	}
	if (module->build_id_bytes)
		memcpy(known->build_id, module->build_id, module->build_id_bytes);
	known->build_id_bytes = module->build_id_bytes;
	known->file_bytes = module->file_bytes;
	known->mtime_ns = module->mtime_ns;
	known->next = symbolizer->modules;
	symbolizer->modules = known;
	return known;
}

static void answered_free(struct answered *answered)
{
	for (uint32_t i = 0; answered->shortened && i < answered->answer.header->string_bytes; i++)
		free(answered->shortened[i]);
	free(answered->shortened);
	free(answered->members);
	free(answered->frames);
	free(answered->block);
	free(answered);
}

static void answers_free(struct answered *list)
{
	while (list) {
		struct answered *next = list->next;

		answered_free(list);
		list = next;
	}
}

/* ---- frames as callers see them ------------------------------------------------- */

static const char *string_of(const struct symbol_answer *answer, uint32_t offset)
{
	return offset ? answer->strings + offset : NULL;
}

/* The short form of an interned name, made once. */
static const char *short_name(struct answered *answered, uint32_t offset)
{
	const char *name = string_of(&answered->answer, offset);

	if (!name || !answered->shortened)
		return name;
	if (!answered->shortened[offset])
		answered->shortened[offset] = demangle_shorten(name);
	return answered->shortened[offset] ? answered->shortened[offset] : name;
}

static bool make_frames(struct answered *answered, const struct symbolizer_options *options)
{
	const struct symbol_answer *answer = &answered->answer;
	uint32_t count = answer->header->frame_count, members = answer->header->member_count;

	answered->frames = calloc((size_t)count + 1, sizeof(*answered->frames));
	answered->members = calloc((size_t)members + 1, sizeof(*answered->members));
	if (options->shorten && !options->no_demangle)
		answered->shortened = calloc(answer->header->string_bytes, sizeof(char *));
	if (!answered->frames || !answered->members)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct answer_frame *from = &answer->frames[i];
		struct symbol_frame *frame = &answered->frames[i];

		frame->linkage_name = string_of(answer, from->linkage_name);
		frame->function = options->no_demangle ? frame->linkage_name :
							 short_name(answered, from->function);
		frame->file = string_of(answer, from->file);
		frame->line = from->line & ~ANSWER_INLINED;
		frame->is_inlined = (from->line & ANSWER_INLINED) && !options->no_inlines;
	}
	for (uint32_t i = 0; i < members; i++)
		answered->members[i] = &answered->frames[answer->members[i]];
	return true;
}

/* Makes @block (taken over) one of the module's answers, in @list. */
static int add_answer_to(struct symbolizer *symbolizer, const struct module *module,
			 struct answered **list, void *block, size_t bytes, struct error *err)
{
	struct answered *answered = calloc(1, sizeof(*answered));

	if (!answered) {
		free(block);
		return error_set(err, ERROR_MEMORY, module->path, ERROR_NO_OFFSET, "out of memory");
	}
	answered->block = block;
	if (!symbol_answer_open(&answered->answer, block, bytes)) {
		free(block);
		free(answered);
		return ERROR_FORMAT;
	}
	if (!make_frames(answered, &symbolizer->options)) {
		answered_free(answered);
		return error_set(err, ERROR_MEMORY, module->path, ERROR_NO_OFFSET, "out of memory");
	}
	answered->next = *list;
	*list = answered;
	return 0;
}

static int add_answer(struct symbolizer *symbolizer, struct module *module, void *block,
		      size_t bytes, struct error *err)
{
	return add_answer_to(symbolizer, module, &module->answers, block, bytes, err);
}

/* ---- asking ----------------------------------------------------------------------- */

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The frames at @address, if they are known. */
static bool find_frames(const struct symbolizer *symbolizer, const struct module *module,
			uint64_t address, struct symbol_frames *frames)
{
	for (const struct answered *at = module->answers; at; at = at->next) {
		size_t index = symbol_answer_find(&at->answer, address);
		uint32_t first, end;

		if (index == SIZE_MAX)
			continue;
		first = at->answer.first[at->answer.chain[index]];
		end = at->answer.first[at->answer.chain[index] + 1];
		if (symbolizer->options.no_inlines)
			first = end - 1;
		*frames = (struct symbol_frames){ &at->members[first], end - first };
		return true;
	}
	return false;
}

static size_t sort_and_unite(uint64_t *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), compare_addresses);
	for (size_t i = 0; i < count; i++)
		if (!kept || list[kept - 1] != list[i])
			list[kept++] = list[i];
	return kept;
}

static const char *const outcome_words[] = {
	[READER_ANSWERED] = "",
	[READER_CRASHED] = "its debug information is broken: the reader of it crashed",
	[READER_TOOK_TOO_LONG] = "its debug information is broken: reading it did not end",
	[READER_OUT_OF_MEMORY] = "its debug information asks for too much memory",
	[READER_NOT_STARTED] = "no process could be started to read it",
};

/* Broken DWARF need not cost the symbol table: a second try goes without. */
static enum reader_outcome ask_reader(struct symbolizer *symbolizer, struct module *module,
				      struct object_query *query, const uint64_t *addresses,
				      size_t count, void **block, size_t *bytes)
{
	enum reader_outcome first, second;

	first = symbol_reader_ask(symbolizer->reader, query, addresses, count, block, bytes);
	if (first == READER_ANSWERED || first == READER_NOT_STARTED)
		goto done;
	query->skip_dwarf = true;
	second = symbol_reader_ask(symbolizer->reader, query, addresses, count, block, bytes);
	snprintf(module->words, sizeof(module->words), "%s", outcome_words[first]);
	module->source = SYMBOLIZER_UNREADABLE;
	return second;
done:
	if (first != READER_ANSWERED) {
		snprintf(module->words, sizeof(module->words), "%s", outcome_words[first]);
		module->source = SYMBOLIZER_UNREADABLE;
	}
	return first;
}

/* Takes what the cache folder has on @module, once per module. */
static int ask_cache(struct symbolizer *symbolizer, struct module *module,
		     const struct object_query *query, struct error *err)
{
	struct symbol_answer answer;
	size_t bytes;
	void *block;

	if (module->cache_was_asked)
		return 0;
	module->cache_was_asked = true;
	block = symbol_cache_load(symbolizer->cache, query, &bytes);
	if (!block || !symbol_answer_open(&answer, block, bytes) ||
	    !symbol_answer_is_current(&answer)) {
		free(block);
		return 0;
	}
	return add_answer(symbolizer, module, block, bytes, err);
}

/* An answer is worth keeping when names were found, unless more may be had by
 * asking a server again. */
static bool is_worth_keeping(const struct module *module, const struct object_query *query)
{
	uint32_t source = module->answers->answer.header->source;

	if (module->words[0] || source < SYMBOLIZER_DYNAMIC_SYMBOLS)
		return false;
	return source == SYMBOLIZER_DWARF || !query->debuginfod;
}

/* Answers in one: all addresses in order, told by whichever has them. */
static void *merge_answers(const struct module *module, size_t *bytes)
{
	const struct symbol_answer *newest = &module->answers->answer;
	struct answer_builder builder;
	size_t at[2] = { 0, 0 };
	const struct symbol_answer *from[2] = { newest, &module->answers->next->answer };
	void *block;

	answer_builder_init(&builder);
	for (uint32_t i = 0; i < newest->header->witness_count; i++)
		answer_builder_witness(&builder, newest->strings + newest->witnesses[i].path);
	for (;;) {
		bool has_0 = at[0] < from[0]->header->address_count;
		bool has_1 = at[1] < from[1]->header->address_count;
		unsigned next;

		if (!has_0 && !has_1)
			break;
		next = !has_0 || (has_1 && from[1]->addresses[at[1]] < from[0]->addresses[at[0]]);
		answer_builder_copy(&builder, from[next], at[next]++);
	}
	block = answer_builder_pack(&builder, newest->header->source,
				    newest->strings + newest->header->file,
				    newest->strings + newest->header->words, bytes);
	answer_builder_release(&builder);
	return block;
}

/* Keeps the newest answer, together with the one from the cache if there was
 * one. Later questions for the same module in the same run are rare. */
static void keep_answers(struct symbolizer *symbolizer, const struct module *module,
			 const struct object_query *query)
{
	const struct answered *newest = module->answers;
	void *merged;
	size_t bytes;

	if (!is_worth_keeping(module, query))
		return;
	if (!newest->next) {
		symbol_cache_store(symbolizer->cache, query, newest->block,
				   newest->answer.header->bytes);
		return;
	}
	if (newest->next->next)
		return;
	merged = merge_answers(module, &bytes);
	if (merged)
		symbol_cache_store(symbolizer->cache, query, merged, bytes);
	free(merged);
}

static void make_query(struct object_query *query, const struct symbolizer *symbolizer,
		       const struct module *module, const struct symbolizer_module *wanted)
{
	const struct symbolizer_options *options = &symbolizer->options;

	*query = (struct object_query){
		.path = module->path,
		.build_id = module->build_id,
		.build_id_bytes = module->build_id_bytes,
		.file_bytes = module->file_bytes,
		.mtime_ns = module->mtime_ns,
		.pid = wanted->pid,
		.sysroot = options->sysroot,
		.debug_dirs = options->debug_dirs,
		.debuginfod = options->debuginfod,
	};
}

/* Learns the names of @list (sorted here) from the files. */
static int ask_files(struct symbolizer *symbolizer, struct module *module,
		     struct object_query *query, uint64_t *list, size_t count, struct error *err)
{
	size_t bytes = 0;
	void *block = NULL;
	int ret;

	count = sort_and_unite(list, count);
	if (ask_reader(symbolizer, module, query, list, count, &block, &bytes) != READER_ANSWERED)
		return 0;
	ret = add_answer(symbolizer, module, block, bytes, err);
	if (!ret)
		keep_answers(symbolizer, module, query);
	return ret == ERROR_FORMAT ? 0 : ret;
}

/* ---- the interface ------------------------------------------------------------------ */

/* A copy of a list of strings, ended by NULL; NULL: no memory. */
static const char *const *copy_list(const char *const *list)
{
	size_t count = 0;
	const char **copy;

	while (list && list[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++)
		copy[i] = strdup(list[i]);
	return copy;
}

static void free_list(const char *const *list)
{
	for (size_t i = 0; list && list[i]; i++)
		free((char *)list[i]);
	free((void *)list);
}

struct symbolizer *symbolizer_new(const struct symbolizer_options *options)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	symbolizer->options = *options;
	symbolizer->nothing = &unknown_frame;
	symbolizer->options.debug_dirs = copy_list(options->debug_dirs);
	symbolizer->options.sysroot = strdup(options->sysroot ? options->sysroot : "");
	symbolizer->reader = symbol_reader_new();
	symbolizer->cache = symbol_cache_new(options->cache_folder);
	if (!symbolizer->reader || !symbolizer->cache || !symbolizer->options.debug_dirs ||
	    !symbolizer->options.sysroot) {
		symbolizer_free(symbolizer);
		return NULL;
	}
	return symbolizer;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	struct module *module;

	if (!symbolizer)
		return;
	while ((module = symbolizer->modules)) {
		symbolizer->modules = module->next;
		answers_free(module->answers);
		answers_free(module->saved_answers);
		saved_names_release(&module->saved);
		free(module->path);
		free(module);
	}
	symbol_reader_free(symbolizer->reader);
	symbol_cache_free(symbolizer->cache);
	free_list(symbolizer->options.debug_dirs);
	free((char *)symbolizer->options.sysroot);
	free(symbolizer);
}

static void count_frames(struct symbolizer_module_report *report,
			 const struct symbol_frames *frames)
{
	report->addresses++;
	report->named += frames->frames[frames->count - 1]->function != NULL;
	report->with_lines += frames->frames[0]->line != 0;
	report->with_inlines += frames->count > 1;
}

static void say_source(struct symbolizer_module_report *report, const struct module *module)
{
	const struct answered *newest = module->answers;

	if (newest) {
		const struct answer_header *header = newest->answer.header;

		report->source = (enum symbolizer_source)header->source;
		snprintf(report->file, sizeof(report->file), "%s",
			 newest->answer.strings + header->file);
		snprintf(report->words, sizeof(report->words), "%s",
			 newest->answer.strings + header->words);
	}
	if (module->words[0]) {
		report->source = module->source;
		snprintf(report->words, sizeof(report->words), "%s", module->words);
	}
}

/* ---- names kept in the trace ---------------------------------------------------------- */

int symbolizer_add_saved(struct symbolizer *symbolizer, const struct symbolizer_module *module,
			 uint32_t form, uint32_t part, uint32_t parts, const uint8_t *bytes,
			 size_t count, struct error *err)
{
	struct module *known = module_of(symbolizer, module);
	struct symbol_answer answer;
	size_t block_bytes;
	void *block;
	int ret;

	if (!known)
		return error_set(err, ERROR_MEMORY, module->path, ERROR_NO_OFFSET, "out of memory");
	if (form == TRACE_NAMES_SYMBOLS)
		saved_names_add_symbols(&known->saved, bytes, count);
	if (form != TRACE_NAMES_FRAMES)
		return 0;
	block = saved_names_add_frames(&known->saved, part, parts, bytes, count, &block_bytes);
	if (!block || !symbol_answer_open(&answer, block, block_bytes)) {
		free(block);
		return 0;
	}
	ret = add_answer_to(symbolizer, known,
			    answer.header->source == SYMBOLIZER_DWARF ? &known->answers :
									 &known->saved_answers,
			    block, block_bytes, err);
	return ret == ERROR_FORMAT ? 0 : ret;
}

/* Adds what is kept of @address; false: nothing is. */
static bool add_saved_address(struct answer_builder *builder, struct module *module,
			      uint64_t address)
{
	struct answer_frame frame = { 0 };
	const char *name;
	char *readable;

	for (const struct answered *at = module->saved_answers; at; at = at->next) {
		size_t index = symbol_answer_find(&at->answer, address);

		if (index == SIZE_MAX)
			continue;
		answer_builder_copy(builder, &at->answer, index);
		return true;
	}
	name = saved_names_find(&module->saved, address);
	if (!name)
		return false;
	readable = demangle(name);
	frame.linkage_name = answer_builder_intern(builder, name);
	frame.function = answer_builder_intern(builder, readable ? readable : name);
	free(readable);
	answer_builder_address(builder, address);
	answer_builder_frame(builder, &frame);
	return true;
}

/* An answer about those of @list (sorted here) that the trace keeps names of. */
static int learn_saved(struct symbolizer *symbolizer, struct module *module, uint64_t *list,
		       size_t count, struct error *err)
{
	const struct answer_header *files = module->answers ? module->answers->answer.header : NULL;
	struct answer_builder builder;
	char words[256] = "";
	size_t bytes, found = 0;
	void *block;

	answer_builder_init(&builder);
	count = sort_and_unite(list, count);
	for (size_t i = 0; i < count; i++)
		found += add_saved_address(&builder, module, list[i]);
	if (files)
		snprintf(words, sizeof(words), "%.200s",
			 module->answers->answer.strings + files->words);
	block = found ? answer_builder_pack(&builder, SYMBOLIZER_SAVED, "", words, &bytes) : NULL;
	answer_builder_release(&builder);
	return block ? add_answer(symbolizer, module, block, bytes, err) : 0;
}

/* Collects the addresses of @frames without a function. */
static size_t list_unnamed(const struct symbol_frames *frames, const uint64_t *addresses,
			   uint64_t bias, size_t count, uint64_t *list)
{
	size_t unnamed = 0;

	for (size_t i = 0; i < count; i++)
		if (!frames[i].frames[frames[i].count - 1]->function)
			list[unnamed++] = addresses[i] - bias;
	return unnamed;
}

/* ---- the interface --------------------------------------------------------------------- */

/* Fills @frames with what is known; the addresses of the others go to @list,
 * whose length is returned. */
static size_t fill_frames(struct symbolizer *symbolizer, const struct module *module,
			  const uint64_t *addresses, uint64_t bias, size_t count,
			  struct symbol_frames *frames, uint64_t *list)
{
	size_t unknown = 0;

	for (size_t i = 0; i < count; i++) {
		if (find_frames(symbolizer, module, addresses[i] - bias, &frames[i]))
			continue;
		frames[i] = (struct symbol_frames){ &symbolizer->nothing, 1 };
		list[unknown++] = addresses[i] - bias;
	}
	return unknown;
}

static int learn_and_fill(struct symbolizer *symbolizer, struct module *known,
			  const struct symbolizer_module *module, const uint64_t *addresses,
			  size_t count, struct symbol_frames *frames, uint64_t *list,
			  struct error *err)
{
	struct object_query query;
	size_t unknown;
	int ret;

	make_query(&query, symbolizer, known, module);
	ret = ask_cache(symbolizer, known, &query, err);
	if (ret)
		return ret;
	unknown = fill_frames(symbolizer, known, addresses, module->bias, count, frames, list);
	if (unknown)
		ret = ask_files(symbolizer, known, &query, list, unknown, err);
	if (unknown && !ret)
		fill_frames(symbolizer, known, addresses, module->bias, count, frames, list);
	if (ret || (!known->saved_answers && !known->saved.symbols.count))
		return ret;
	unknown = list_unnamed(frames, addresses, module->bias, count, list);
	if (unknown)
		ret = learn_saved(symbolizer, known, list, unknown, err);
	if (unknown && !ret)
		fill_frames(symbolizer, known, addresses, module->bias, count, frames, list);
	return ret;
}

int symbolizer_resolve(struct symbolizer *symbolizer, const struct symbolizer_module *module,
		       const uint64_t *addresses, size_t count, struct symbol_frames *frames,
		       struct symbolizer_module_report *report, struct error *err)
{
	struct module *known = module_of(symbolizer, module);
	uint64_t *list = malloc((count ? count : 1) * sizeof(*list));
	int ret;

	if (!known || !list) {
		free(list);
		return error_set(err, ERROR_MEMORY, module->path, ERROR_NO_OFFSET, "out of memory");
	}
	ret = learn_and_fill(symbolizer, known, module, addresses, count, frames, list, err);
	free(list);
	if (ret)
		return ret;
	if (!report)
		return 0;
	memset(report, 0, sizeof(*report));
	for (size_t i = 0; i < count; i++)
		count_frames(report, &frames[i]);
	say_source(report, known);
	return 0;
}

/* ---- packing for a trace ----------------------------------------------------------------- */

static bool add_known_address(struct answer_builder *builder, const struct module *module,
			      uint64_t address)
{
	for (const struct answered *at = module->answers; at; at = at->next) {
		size_t index = symbol_answer_find(&at->answer, address);

		if (index == SIZE_MAX)
			continue;
		answer_builder_copy(builder, &at->answer, index);
		return true;
	}
	return false;
}

/* Of several answers the best source counts: it says how they are to be used. */
static uint32_t best_source(const struct module *module)
{
	uint32_t best = SYMBOLIZER_NOTHING;

	for (const struct answered *at = module->answers; at; at = at->next) {
		uint32_t source = at->answer.header->source;

		if (source > best && source != SYMBOLIZER_SAVED)
			best = source;
	}
	return best;
}

static int compress(const void *block, size_t block_bytes, uint8_t **packed, size_t *bytes)
{
	size_t room = ZSTD_compressBound(block_bytes), got;

	*packed = malloc(room);
	if (!*packed)
		return ERROR_MEMORY;
	got = ZSTD_compress(*packed, room, block, block_bytes, 9);
	if (ZSTD_isError(got)) {
		free(*packed);
		*packed = NULL;
		return ERROR_MEMORY;
	}
	*bytes = got;
	return 0;
}

static int pack_known(const struct module *module, uint64_t *list, size_t count, uint8_t **packed,
		      size_t *bytes)
{
	struct answer_builder builder;
	size_t block_bytes;
	void *block;
	int ret;

	answer_builder_init(&builder);
	count = sort_and_unite(list, count);
	for (size_t i = 0; i < count; i++)
		add_known_address(&builder, module, list[i]);
	block = answer_builder_pack(&builder, best_source(module), "", "", &block_bytes);
	answer_builder_release(&builder);
	ret = block ? compress(block, block_bytes, packed, bytes) : ERROR_MEMORY;
	free(block);
	return ret;
}

int symbolizer_pack(struct symbolizer *symbolizer, const struct symbolizer_module *module,
		    const uint64_t *addresses, size_t count, uint8_t **packed, size_t *bytes,
		    struct error *err)
{
	struct symbol_frames *frames = calloc(count + 1, sizeof(*frames));
	uint64_t *list = calloc(count + 1, sizeof(*list));
	int ret = ERROR_MEMORY;

	*packed = NULL;
	if (frames && list)
		ret = symbolizer_resolve(symbolizer, module, addresses, count, frames, NULL, err);
	for (size_t i = 0; !ret && i < count; i++)
		list[i] = addresses[i] - module->bias;
	if (!ret)
		ret = pack_known(module_of(symbolizer, module), list, count, packed, bytes);
	free(frames);
	free(list);
	if (ret == ERROR_MEMORY)
		error_set(err, ERROR_MEMORY, module->path, ERROR_NO_OFFSET, "out of memory");
	return ret;
}

/* ---- comparing two readers ----------------------------------------------------------- */

static const char *last_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return !path ? "?" : slash ? slash + 1 : path;
}

/* One frame in words; the second reader knows no symbols, so a frame is called
 * by what DWARF alone has. */
static void say_frames(const struct symbol_answer *answer, size_t index, char *words, size_t room)
{
	uint32_t chain = answer->chain[index];
	size_t used = 0;

	words[0] = 0;
	for (uint32_t i = answer->first[chain]; i < answer->first[chain + 1] && used < room; i++) {
		const struct answer_frame *frame = &answer->frames[answer->members[i]];
		const char *function = string_of(answer, frame->linkage_name);

		used += (size_t)snprintf(words + used, room - used, "%s%s %s:%u", used ? " < " : "",
					 function ? function : "?",
					 last_name(string_of(answer, frame->file)),
					 frame->line & ~ANSWER_INLINED);
	}
}

static bool same_string(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* A file that the second reader does not know is no difference. */
static bool same_frames(const struct symbol_answer *first, size_t i,
			const struct symbol_answer *second, size_t k)
{
	const uint32_t *a = &first->first[first->chain[i]], *b = &second->first[second->chain[k]];

	if (a[1] - a[0] != b[1] - b[0])
		return false;
	for (uint32_t n = 0; n < a[1] - a[0]; n++) {
		const struct answer_frame *x = &first->frames[first->members[a[0] + n]];
		const struct answer_frame *y = &second->frames[second->members[b[0] + n]];
		const char *file = string_of(second, y->file);

		if (x->line != y->line ||
		    !same_string(string_of(first, x->linkage_name),
				 string_of(second, y->linkage_name)) ||
		    (file && strcmp(last_name(string_of(first, x->file)), last_name(file))))
			return false;
	}
	return true;
}

static void compare_answers(const struct symbol_answer *first, const struct symbol_answer *second,
			    struct symbolizer_check *check)
{
	memset(check, 0, sizeof(*check));
	for (uint32_t i = 0; i < second->header->address_count; i++) {
		size_t index = symbol_answer_find(first, second->addresses[i]);
		const struct answer_frame *innermost =
			&second->frames[second->members[second->first[second->chain[i]]]];

		if (index == SIZE_MAX || (!innermost->function && !innermost->line))
			continue;
		check->compared++;
		if (same_frames(first, index, second, i)) {
			check->equal++;
		} else if (!check->first[0]) {
			check->address = second->addresses[i];
			say_frames(first, index, check->first, sizeof(check->first));
			say_frames(second, i, check->second, sizeof(check->second));
		}
	}
}

static enum reader_outcome ask_both(struct symbolizer *symbolizer, struct object_query *query,
				    const uint64_t *list, size_t count,
				    struct symbolizer_check *check)
{
	void *blocks[2] = { NULL, NULL };
	struct symbol_answer answers[2];
	enum reader_outcome outcome = READER_ANSWERED;
	size_t bytes[2];

	for (unsigned i = 0; i < 2 && outcome == READER_ANSWERED; i++) {
		query->second_reader = i;
		query->dwarf_names = true;
		outcome = symbol_reader_ask(symbolizer->reader, query, list, count, &blocks[i],
					    &bytes[i]);
		if (outcome == READER_ANSWERED &&
		    !symbol_answer_open(&answers[i], blocks[i], bytes[i]))
			outcome = READER_CRASHED;
	}
	if (outcome == READER_ANSWERED)
		compare_answers(&answers[0], &answers[1], check);
	free(blocks[0]);
	free(blocks[1]);
	return outcome;
}

int symbolizer_check(struct symbolizer *symbolizer, const struct symbolizer_module *module,
		     const uint64_t *addresses, size_t count, struct symbolizer_check *check,
		     struct error *err)
{
	struct module *known = module_of(symbolizer, module);
	uint64_t *list = malloc((count ? count : 1) * sizeof(*list));
	struct object_query query;
	enum reader_outcome outcome;

	if (!known || !list) {
		free(list);
		return error_set(err, ERROR_MEMORY, module->path, ERROR_NO_OFFSET, "out of memory");
	}
	for (size_t i = 0; i < count; i++)
		list[i] = addresses[i] - module->bias;
	make_query(&query, symbolizer, known, module);
	outcome = ask_both(symbolizer, &query, list, sort_and_unite(list, count), check);
	free(list);
	if (outcome != READER_ANSWERED)
		return error_set(err, ERROR_FORMAT, module->path, ERROR_NO_OFFSET, "%s",
				 outcome_words[outcome]);
	return 0;
}
