/*
 * See page_names.h.
 */
#include "page/page_names.h"

#include "util/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void page_names_init(struct page_names *names)
{
	*names = (struct page_names){0};
	MEMORY_ROOM(names->strings, names->string_count);
	names->strings[names->string_count++] = "";
	MEMORY_ROOM(names->nodes, names->node_count);
	names->nodes[names->node_count++] = (struct page_node){UINT32_MAX, UINT32_MAX};
}

void page_names_release(struct page_names *names)
{
	strings_release(&names->pool);
	hash_map_release(&names->string_ids);
	hash_map_release(&names->frame_ids);
	hash_map_release(&names->node_ids);
	free(names->strings);
	free(names->frames);
	free(names->nodes);
	*names = (struct page_names){0};
}

uint32_t page_string(struct page_names *names, const char *text)
{
	const char *pooled;
	uint32_t id;

	if (!text || !*text)
		return 0;
	pooled = strings_intern(&names->pool, text);
	id = hash_map_get(&names->string_ids, (uintptr_t)pooled);
	if (id != HASH_MAP_NONE)
		return id;
	id = (uint32_t)names->string_count;
	MEMORY_ROOM(names->strings, names->string_count);
	names->strings[names->string_count++] = pooled;
	hash_map_set(&names->string_ids, (uintptr_t)pooled, id);
	return id;
}

static uint64_t frame_hash(const struct page_frame *frame)
{
	uint64_t a = hash_u64((uint64_t)frame->function << 32 | frame->file);
	uint64_t b = hash_u64((uint64_t)frame->module << 32 | frame->offset);

	return hash_u64(a ^ b * 3 ^ ((uint64_t)frame->line << 1 | frame->is_inlined));
}

static bool same_frame(const struct page_frame *a, const struct page_frame *b)
{
	return a->function == b->function && a->file == b->file && a->module == b->module &&
	       a->offset == b->offset && a->line == b->line && a->is_inlined == b->is_inlined;
}

/* A place with a name is that name and line; one without is its address. */
uint32_t page_frame(struct page_names *names, const struct profile_frame *frame)
{
	struct page_frame key = {.function = page_string(names, frame->function),
				 .file = page_string(names, frame->file),
				 .module = page_string(names, frame->module),
				 .line = frame->line,
				 .is_inlined = frame->is_inlined};
	char offset[32];
	uint64_t hash;
	uint32_t id;

	if (!frame->function) {
		snprintf(offset, sizeof(offset), "0x%" PRIx64, frame->module_offset);
		key.offset = page_string(names, offset);
	}
	for (hash = frame_hash(&key);; hash++) {
		id = hash_map_get(&names->frame_ids, hash);
		if (id == HASH_MAP_NONE)
			break;
		if (same_frame(&names->frames[id], &key))
			return id;
	}
	id = (uint32_t)names->frame_count;
	MEMORY_ROOM(names->frames, names->frame_count);
	names->frames[names->frame_count++] = key;
	hash_map_set(&names->frame_ids, hash, id);
	return id;
}

uint32_t page_child(struct page_names *names, uint32_t parent, uint32_t frame)
{
	uint64_t key = (uint64_t)parent << 32 | frame;
	uint32_t id = hash_map_get(&names->node_ids, key);

	if (id != HASH_MAP_NONE)
		return id;
	id = (uint32_t)names->node_count;
	MEMORY_ROOM(names->nodes, names->node_count);
	names->nodes[names->node_count++] = (struct page_node){parent, frame};
	hash_map_set(&names->node_ids, key, id);
	return id;
}

uint32_t page_path(struct page_names *names, const struct profile_frame *frames, size_t count)
{
	uint32_t node = 0;

	while (count-- > 0)
		node = page_child(names, node, page_frame(names, &frames[count]));
	return node;
}

/* ---- writing ---- */

#define WRITE_COLUMN(json, name, array, count, value)                                              \
	do {                                                                                       \
		json_array_begin(json, name);                                                      \
		for (size_t i = 0; i < (count); i++)                                               \
			json_double(json, NULL, (double)(array)[i] value);                         \
		json_array_end(json);                                                              \
	} while (0)

static void write_frames(const struct page_names *names, struct json *json)
{
	json_object_begin(json, "frames");
	WRITE_COLUMN(json, "function", names->frames, names->frame_count, .function);
	WRITE_COLUMN(json, "file", names->frames, names->frame_count, .file);
	WRITE_COLUMN(json, "module", names->frames, names->frame_count, .module);
	WRITE_COLUMN(json, "line", names->frames, names->frame_count, .line);
	WRITE_COLUMN(json, "offset", names->frames, names->frame_count, .offset);
	WRITE_COLUMN(json, "inlined", names->frames, names->frame_count, .is_inlined);
	json_object_end(json);
}

static void write_nodes(const struct page_names *names, struct json *json)
{
	json_object_begin(json, "nodes");
	/* As the way back: mostly 1, which packs into nothing. */
	json_array_begin(json, "up");
	for (size_t i = 0; i < names->node_count; i++)
		json_unsigned(json, NULL, i ? i - names->nodes[i].parent : 1);
	json_array_end(json);
	json_array_begin(json, "frame");
	json_double(json, NULL, -1);
	for (size_t i = 1; i < names->node_count; i++)
		json_unsigned(json, NULL, names->nodes[i].frame);
	json_array_end(json);
	json_object_end(json);
}

void page_names_write(const struct page_names *names, struct json *json)
{
	json_array_begin(json, "strings");
	for (size_t i = 0; i < names->string_count; i++)
		json_string(json, NULL, names->strings[i]);
	json_array_end(json);
	write_frames(names, json);
	write_nodes(names, json);
}
