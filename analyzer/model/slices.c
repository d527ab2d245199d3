/*
 * See slices.h. The blocks of the index, in their order: one for each slice, the
 * steps, then the table: the stats of the whole and a row for each slice.
 */
#include "model/slices.h"

#include "model/slice_builder.h"
#include "trace/index_file.h"
#include "util/memory.h"

#include <stdlib.h>
#include <string.h>

size_t slice_content_bytes(const struct slice *slice)
{
	return slice->address_count * sizeof(uint64_t) +
	       (slice->death_count + slice->other_count + slice->birth_count) *
		       sizeof(struct trace_event) +
	       slice->pair_count * sizeof(struct event_pairs);
}

static bool read_table(struct slices *slices)
{
	size_t blocks = trace_index_blocks(slices->index), bytes;
	uint8_t *table = blocks < 2 ? NULL : index_file_block(slices->index, blocks - 1, &bytes);

	if (!table)
		return false;
	if (bytes >= sizeof(slices->stats)) {
		memcpy(&slices->stats, table, sizeof(slices->stats));
		bytes -= sizeof(slices->stats);
		slices->count = bytes / sizeof(*slices->items);
		slices->items = memory_zeroed(slices->count + 1, sizeof(*slices->items));
		memcpy(slices->items, table + sizeof(slices->stats),
		       slices->count * sizeof(*slices->items));
	}
	free(table);
	if (slices->count && slices->count != blocks - 2)
		slices->count = 0;
	return slices->count;
}

bool slices_open(struct trace *trace, bool builds, struct slices *slices)
{
	struct index_writer *writer;

	*slices = (struct slices){ .trace = trace, .index = trace_index(trace) };
	if (!slices->index && builds) {
		writer = trace_index_begin(trace);
		if (writer)
			slices_build(trace, writer);
		slices->index = trace_index(trace);
	}
	if (slices->index && read_table(slices))
		return true;
	slices_close(slices);
	return false;
}

void slices_close(struct slices *slices)
{
	free(slices->items);
	*slices = (struct slices){ 0 };
}

bool slice_content_get(const struct slices *slices, size_t number, struct slice_content *content)
{
	const struct slice *slice = &slices->items[number];
	size_t bytes;

	content->block = index_file_block(slices->index, number, &bytes);
	if (!content->block)
		return false;
	if (bytes != slice_content_bytes(slice)) {
		slice_content_release(content);
		return false;
	}
	content->addresses = content->block;
	content->deaths = (const void *)(content->addresses + slice->address_count);
	content->others = content->deaths + slice->death_count;
	content->births = content->others + slice->other_count;
	content->pairs = (const void *)(content->births + slice->birth_count);
	return true;
}

void slice_content_release(struct slice_content *content)
{
	free(content->block);
	content->block = NULL;
}

struct slice_step *slices_steps(const struct slices *slices)
{
	size_t blocks = trace_index_blocks(slices->index), bytes;
	void *steps = index_file_block(slices->index, blocks - 2, &bytes);

	if (steps && bytes == SLICE_STEPS * sizeof(struct slice_step))
		return steps;
	free(steps);
	return NULL;
}
