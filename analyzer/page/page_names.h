/*
 * The tables of names that the payload is made of: strings, frames and the call
 * tree, each thing once.
 */
#ifndef ANALYZER_PAGE_PAGE_NAMES_H
#define ANALYZER_PAGE_PAGE_NAMES_H

#include "model/profile.h"
#include "util/hash_map.h"
#include "util/strings.h"
#include "view/json.h"

struct page_frame {
	uint32_t function, file, module, offset; /* strings */
	uint32_t line;
	bool is_inlined;
};

struct page_node {
	uint32_t parent, frame;
};

struct page_names {
	struct strings pool;
	struct hash_map string_ids; /* by address in the pool */
	const char **strings;
	size_t string_count;
	struct hash_map frame_ids; /* by hash; collisions take the next key */
	struct page_frame *frames;
	size_t frame_count;
	struct hash_map node_ids; /* by parent and frame */
	struct page_node *nodes;
	size_t node_count;
};

void page_names_init(struct page_names *names);
void page_names_release(struct page_names *names);

/* 0 stands for NULL and "". */
uint32_t page_string(struct page_names *names, const char *text);
uint32_t page_frame(struct page_names *names, const struct profile_frame *frame);
/* The node of a stack given innermost first; 0 for an empty one. */
uint32_t page_path(struct page_names *names, const struct profile_frame *frames, size_t count);
uint32_t page_child(struct page_names *names, uint32_t parent, uint32_t frame);

/* "strings", "frames" and "nodes" as members of the object being written. */
void page_names_write(const struct page_names *names, struct json *json);

#endif
