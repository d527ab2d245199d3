/*
 * What the trace itself keeps in its index: the digest of its facts, the stacks as
 * a full replay numbers them, and the program counters that only events tell of.
 * They are the last blocks; those before them are the caller's.
 */
#include "trace/reader.h"

#include "util/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

/* Below this a trace is replayed in no time. */
#define INDEX_TRACE_BYTES ((uint64_t)6 << 20)

enum own_block { OWN_PCS, OWN_NODES, OWN_DIGEST, OWN_BLOCKS };

bool trace_index_is_off;

static uint64_t hash_pieces(const struct pieces *pieces)
{
	uint64_t hash = pieces->count;

	for (size_t i = 0; i < pieces->count; i++) {
		const struct piece *piece = &pieces->items[i];
		uint64_t words[] = { piece->offset, piece->ticks, piece->mono_ns, piece->real_ns,
				     piece->lost, (uint64_t)piece->lane << 32 | piece->sequence,
				     (uint64_t)piece->length << 32 | piece->tid,
				     (uint64_t)piece->kind << 32 | piece->packed };

		hash = XXH3_64bits_withSeed(words, sizeof(words), hash);
	}
	return hash;
}

static bool identify(struct reader *reader)
{
	struct stat st;

	if (fstat(reader->pieces.trace_fd, &st))
		return false;
	reader->identity = (struct index_identity){
		.device = st.st_dev, .inode = st.st_ino, .bytes = (uint64_t)st.st_size,
		.changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
			      (uint64_t)st.st_mtim.tv_nsec,
		.pieces_hash = hash_pieces(&reader->pieces)};
	return true;
}

static size_t own_number(const struct index_file *index, enum own_block block)
{
	return index_file_blocks(index) - OWN_BLOCKS + block;
}

static bool take_digest(struct reader *reader)
{
	size_t bytes;
	void *block;

	if (index_file_blocks(reader->index) < OWN_BLOCKS)
		return false;
	block = index_file_block(reader->index, own_number(reader->index, OWN_DIGEST), &bytes);
	if (block)
		digest_tell(&reader->digest, block, bytes);
	return block;
}

void trace_index_find(struct reader *reader)
{
	reader->can_index = !trace_index_is_off && reader->pieces.companion_fd < 0 &&
			    !reader->trace.fault_count &&
			    reader->pieces.used_bytes >= INDEX_TRACE_BYTES && identify(reader);
	if (!reader->can_index)
		return;
	reader->digest.is_off = false;
	reader->index = index_file_open(&reader->identity);
	if (reader->index && !take_digest(reader))
		trace_index_drop(&reader->trace);
}

void trace_index_drop(struct trace *trace)
{
	struct reader *reader = reader_of(trace);

	index_file_close(reader->index);
	reader->index = NULL;
}

/* ---- taking it up ---- */

static bool take_nodes(struct reader *reader)
{
	struct stacks *stacks = &reader->stacks;
	size_t bytes, count;
	struct trace_stack_node *nodes = index_file_block(
		reader->index, own_number(reader->index, OWN_NODES), &bytes);
	bool is_good = nodes;

	count = bytes / sizeof(*nodes);
	for (size_t i = 1; is_good && i < count; i++) {
		is_good = nodes[i].parent < i &&
			  stacks_node(stacks, nodes[i].parent, nodes[i].pc) == i;
	}
	free(nodes);
	reader->trace.nodes = stacks->nodes;
	reader->trace.node_count = stacks->node_count;
	return is_good;
}

static bool take_pcs(struct reader *reader)
{
	size_t bytes;
	struct trace_pc *pcs = index_file_block(reader->index,
						own_number(reader->index, OWN_PCS), &bytes);

	for (size_t i = 0; pcs && i < bytes / sizeof(*pcs); i++)
		reader_add_literal(reader, &pcs[i]);
	free(pcs);
	return pcs;
}

const struct index_file *trace_index(struct trace *trace)
{
	struct reader *reader = reader_of(trace);

	if (!reader->index || reader->is_index_taken)
		return reader->index;
	/* Stacks that another replay has numbered already would not fit. */
	if (reader->stacks.node_count > 1 || !index_file_is_whole(reader->index) ||
	    !take_pcs(reader) || !take_nodes(reader))
		trace_index_drop(trace);
	reader->is_index_taken = true;
	return reader->index;
}

size_t trace_index_blocks(const struct index_file *index)
{
	return index_file_blocks(index) - OWN_BLOCKS;
}

/* ---- making it ---- */

static bool has_stops(const struct trace *trace)
{
	for (size_t i = 0; i < trace->mark_count; i++)
		if (trace->marks[i].kind == TRACE_MARK_STOP ||
		    trace->marks[i].kind == TRACE_MARK_START)
			return true;
	return false;
}

/* What is sampled is small, and its sums depend on their order in the last digit;
 * where knowledge ends in the middle, parts don't add up. */
struct index_writer *trace_index_begin(struct trace *trace)
{
	struct reader *reader = reader_of(trace);

	if (!reader->can_index || reader->index || reader->stacks.node_count > 1 ||
	    trace->fault_count || !trace->info.exact ||
	    trace->info.running || has_stops(trace) ||
	    reader->clock.ns_per_unit < (uint64_t)1 << 32)
		return NULL;
	return index_writer_new(&reader->identity);
}

static bool write_own(struct reader *reader, struct index_writer *writer)
{
	const struct trace *trace = &reader->trace;
	const struct trace_pc *pcs = trace->pcs + reader->scanned_pcs;
	size_t pc_count = trace->pc_count - reader->scanned_pcs;

	for (size_t i = 0; i < pc_count; i++)
		if (pcs[i].flags & TRACE_PC_UNDEFINED)
			return false;
	return index_writer_block(writer, pcs, pc_count * sizeof(*pcs)) &&
	       index_writer_block(writer, reader->stacks.nodes,
				  reader->stacks.node_count * sizeof(*trace->nodes)) &&
	       index_writer_block(writer, reader->digest.bytes, reader->digest.count);
}

void trace_index_end(struct trace *trace, struct index_writer *writer, bool is_wanted)
{
	struct reader *reader = reader_of(trace);

	is_wanted = is_wanted && !trace->fault_count && write_own(reader, writer);
	index_writer_end(writer, is_wanted);
	reader->can_index = false; /* once is enough */
	digest_release(&reader->digest);
	reader->digest.is_off = true;
	if (is_wanted)
		reader->index = index_file_open(&reader->identity);
	reader->is_index_taken = true; /* the replay has made the stacks */
}
