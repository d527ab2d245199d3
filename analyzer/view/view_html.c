/*
 * html: all of it as one page to look at. One trace or a process tree makes one
 * picture, two traces a comparison. A build without the bundled page writes a
 * plain table instead.
 */
#include "view/view.h"

#include "memprof/version.h"
#include "model/filtered_pass.h"
#include "page/page_payload.h"
#include "page/page_template.h"
#include "util/memory.h"
#include "view/html_plain.h"
#include "view/summary.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- one part: a trace or a process tree ---- */

struct part {
	struct trace_set set; /* borrows its members */
	struct judgement judgement;
	bool is_judged;
	struct page_axis axis;
	struct page_facts **facts;
	char *words; /* sentences point into it */
	const char *sentences[2];
};

static uint64_t member_end(const struct trace_set_member *member)
{
	uint64_t duration = member->trace->info.duration_ns;

	return member->when.kind == MOMENT_TIME && member->when.time_ns < duration
		   ? member->when.time_ns
		   : duration;
}

/* Traces of a tree are laid on one axis by the time of day of their start. */
static void part_make_axis(struct part *part, uint64_t *shifts)
{
	size_t count = part->set.count;
	struct trace **traces = memory_zeroed(count, sizeof(*traces));
	uint64_t *ends = memory_zeroed(count, sizeof(*ends)), first = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		traces[i] = part->set.members[i].trace;
		ends[i] = member_end(&part->set.members[i]);
		if (traces[i]->info.start_unix_ns < first)
			first = traces[i]->info.start_unix_ns;
	}
	for (size_t i = 0; i < count; i++)
		shifts[i] = traces[i]->info.start_unix_ns - first;
	page_axis_init(&part->axis, traces, shifts, ends, count);
	free(traces);
	free(ends);
}

static int part_gather(struct part *part, size_t member, const struct query *query,
		       uint64_t shift_ns, struct error *err)
{
	const struct trace_set_member *of = &part->set.members[member];
	struct page_facts *facts = page_facts_new(of->trace, &part->axis, shift_ns);
	struct aggregator *const all[] = {&facts->aggregator, &facts->sizes.aggregator,
					  &facts->lifetimes.aggregator};
	struct filtered_pass pass;

	part->facts[member] = facts;
	return filtered_pass_run(of, query, all, sizeof(all) / sizeof(*all), &pass, err);
}

/* The summary's two sentences, without the verdict's name in front. */
static void part_say(struct part *part, const struct view_request *request)
{
	struct view_request words = *request;
	size_t size;
	char *at, *colon;

	words.out = open_memstream(&part->words, &size);
	if (!words.out)
		return;
	summary_print_verdict(&words, &part->judgement);
	fclose(words.out);
	at = part->words + strspn(part->words, "\n");
	colon = strstr(at, ": ");
	if (colon && colon < at + strcspn(at, " \n")) {
		at = colon + 2;
		*at = (char)toupper((unsigned char)*at);
	}
	part->sentences[0] = strtok(at, "\n");
	part->sentences[1] = part->sentences[0] ? strtok(NULL, "\n") : NULL;
}

static int part_make(struct part *part, const struct view_request *request, struct error *err)
{
	uint64_t *shifts = memory_zeroed(part->set.count, sizeof(*shifts));
	int status = judgement_build(&part->set, &request->query, &part->judgement, err);

	part->is_judged = !status;
	part->facts = memory_zeroed(part->set.count, sizeof(struct page_facts *));
	if (!status)
		part_make_axis(part, shifts);
	for (size_t i = 0; !status && i < part->set.count; i++)
		status = part_gather(part, i, &request->query, shifts[i], err);
	if (!status)
		part_say(part, request);
	free(shifts);
	return status;
}

static void part_release(struct part *part)
{
	for (size_t i = 0; part->facts && i < part->set.count; i++)
		page_facts_free(part->facts[i]);
	free(part->facts);
	page_axis_release(&part->axis);
	if (part->is_judged)
		judgement_release(&part->judgement);
	free(part->words);
}

/* ---- parts ---- */

/* Two traces that were named one by one are to be compared. */
static size_t split(struct trace_set *set, struct part parts[2])
{
	size_t count = set->count == 2 && !set->from_folder ? 2 : 1;

	for (size_t i = 0; i < count; i++) {
		parts[i].set = *set;
		if (count == 1)
			continue;
		parts[i].set.members = &set->members[i];
		parts[i].set.count = 1;
		parts[i].set.name = (char *)set->members[i].trace->path;
	}
	return count;
}

/* ---- the file ---- */

static void write_base64(FILE *out, const uint8_t *bytes, size_t count)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < count; i += 3) {
		size_t left = count - i;
		uint32_t v = (uint32_t)bytes[i] << 16 | (left > 1 ? bytes[i + 1] << 8 : 0) |
			     (left > 2 ? bytes[i + 2] : 0);

		fputc(letters[v >> 18], out);
		fputc(letters[v >> 12 & 63], out);
		fputc(left > 1 ? letters[v >> 6 & 63] : '=', out);
		fputc(left > 2 ? letters[v & 63] : '=', out);
	}
}

static int write_packed(FILE *out, const char *json, size_t size, struct error *err)
{
	z_stream stream = {0};
	uint8_t *packed;
	uLong bound;
	int state;

	if (size > UINT32_MAX ||
	    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY))
		return error_set(err, ERROR_MEMORY, NULL, ERROR_NO_OFFSET, "the page is too large");
	bound = deflateBound(&stream, size);
	packed = memory_zeroed(bound, 1);
	stream.next_in = (Bytef *)json;
	stream.avail_in = (uInt)size;
	stream.next_out = packed;
	stream.avail_out = (uInt)bound;
	state = deflate(&stream, Z_FINISH);
	if (state == Z_STREAM_END)
		write_base64(out, packed, stream.total_out);
	deflateEnd(&stream);
	free(packed);
	return state == Z_STREAM_END ? 0
				     : error_set(err, ERROR_MEMORY, NULL, ERROR_NO_OFFSET,
						 "the page can't be packed");
}

static int write_page(FILE *out, const struct part *parts, size_t count, struct error *err)
{
	struct page_part page[2] = {0};
	const char *head, *tail;
	size_t head_bytes, tail_bytes, size = 0;
	char *json = NULL;
	FILE *memory;
	int status;

	if (!page_template(&head, &head_bytes, &tail, &tail_bytes)) {
		for (size_t i = 0; i < count; i++)
			html_plain(out, parts[i].judgement.profile, parts[i].sentences, i, count);
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		page[i] =
		    (struct page_part){.set = (struct trace_set *)&parts[i].set,
				       .judgement = (struct judgement *)&parts[i].judgement,
				       .facts = parts[i].facts,
				       .axis = &parts[i].axis,
				       .sentences = {parts[i].sentences[0], parts[i].sentences[1]}};
	memory = open_memstream(&json, &size);
	if (!memory)
		return error_set(err, ERROR_MEMORY, NULL, ERROR_NO_OFFSET, "out of memory");
	page_payload_write(memory, "memprof " MEMPROF_VERSION, page, count);
	fclose(memory);
	fwrite(head, 1, head_bytes, out);
	status = write_packed(out, json, size, err);
	fwrite(tail, 1, tail_bytes, out);
	free(json);
	return status;
}

int view_html(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct part parts[2] = {0};
	size_t count = split(set, parts);
	int status = 0;

	request->query.limit = request->query.stacks = 0;
	for (size_t i = 0; !status && i < count; i++)
		status = part_make(&parts[i], request, err);
	if (!status)
		status = write_page(request->out, parts, count, err);
	for (size_t i = 0; i < count; i++)
		part_release(&parts[i]);
	return status;
}
