/*
 * leaks: what was allocated and not freed by the end (or the moment asked for),
 * with the stacks it came from. What libc keeps for itself is left out and
 * counted; it is nobody's leak.
 */
#include "model/baseline.h"
#include "model/leak_suppressions.h"
#include "model/suppressions.h"
#include "util/memory.h"
#include "view/common.h"
#include "view/sites_table.h"
#include "view/view_options.h"

#include <stdlib.h>
#include <string.h>

static struct option_list suppression_files;
static bool keep_all;

const struct option view_leaks_options[] = {
	{ "suppressions", 0, OPTION_LIST, "FILE",
	  "leave out stacks that match (LeakSanitizer's or valgrind's syntax)", &suppression_files,
	  NULL, NULL },
	{ "no-default-suppressions", 0, OPTION_FLAG, NULL, "show what libc keeps, too", &keep_all,
	  NULL, NULL },
	{ 0 },
};

static const struct sites_column by_bytes[] = {
    {METRIC_LIVE, false, false, "not freed"},
    {METRIC_LIVE, false, true, "share"},
    {METRIC_LIVE, true, false, "blocks"},
    {METRIC_ALLOCATED, true, false, "of calls"},
};

static const struct sites_column by_count[] = {
    {METRIC_LIVE, true, false, "blocks"},
    {METRIC_LIVE, true, true, "share"},
    {METRIC_LIVE, false, false, "not freed"},
    {METRIC_ALLOCATED, true, false, "of calls"},
};

struct suppressed {
	struct suppressions *list;
	struct suppression_frame *frames;
	size_t room;
};

static int suppressions_make(struct suppressed *suppressed, struct error *err)
{
	int status = 0;

	suppressed->list = suppressions_new();
	if (!suppressed->list)
		return error_set(err, ERROR_MEMORY, NULL, ERROR_NO_OFFSET, "out of memory");
	if (!keep_all)
		status = suppressions_parse(suppressed->list, LEAK_SUPPRESSIONS_NAME,
					    leak_suppressions_default,
					    strlen(leak_suppressions_default), err);
	for (size_t i = 0; !status && i < suppression_files.count; i++)
		status = suppressions_load(suppressed->list, suppression_files.items[i], err);
	return status;
}

static bool is_suppressed(void *context, struct profile *profile,
			  const struct profile_stack *stack)
{
	struct suppressed *suppressed = context;
	const struct number *live = &stack->tally.of[METRIC_LIVE];
	const struct profile_frame *frames;
	size_t count;

	if (!live->count || stack->kind != TALLY_HEAP)
		return false;
	count = profile_frames(profile, stack, &frames);
	if (count > suppressed->room) {
		suppressed->room = count * 2;
		suppressed->frames = memory_resize(suppressed->frames, suppressed->room,
						   sizeof(*suppressed->frames));
	}
	for (size_t i = 0; i < count; i++)
		suppressed->frames[i] = suppression_frame_of(&frames[i]);
	return suppressions_match(suppressed->list, suppressed->frames, count, live->count,
				  live->bytes) >= 0;
}

static bool has_live(const struct profile_site *site)
{
	return site->tally.of[METRIC_LIVE].count > 0 || site->tally.of[METRIC_LIVE].bytes > 0;
}

static void print_json(const struct view_request *request, const struct trace_set *set,
		       struct profile *profile, const struct freed_by *freed_by,
		       const struct tally *dropped)
{
	size_t rows = query_rows(request->query.limit, profile->site_count, profile->site_count);
	struct json json;

	json_init(&json, request->out);
	json_object_begin(&json, NULL);
	json_string(&json, "schema", "memprof.leaks/1");
	json_traces(&json, set, profile);
	json_totals(&json, profile);
	json_number(&json, "suppressed", &dropped->of[METRIC_LIVE]);
	json_array_begin(&json, "sites");
	for (size_t i = 0, shown = 0; i < profile->site_count && shown < rows; i++) {
		const struct profile_site *site = &profile->sites[i];

		if (!has_live(site))
			continue;
		shown++;
		json_object_begin(&json, NULL);
		json_site(&json, profile, site,
			  query_rows(request->query.stacks, 3, site->stack_count));
		freed_by_json(freed_by, &json, profile, site);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	json_end(&json);
}

static void print_notes(const struct view_request *request, const struct profile *profile,
			const struct tally *dropped)
{
	const struct number *kept = &dropped->of[METRIC_LIVE];
	char bytes[UNITS_BYTES], count[UNITS_BYTES];

	if (kept->count)
		fprintf(request->out,
			"\nNot listed: %s in %s block%s suppressions\n"
			"(libc's own; --no-default-suppressions).\n",
			units_bytes(bytes, kept->bytes, request->raw),
			units_count(count, kept->count, request->raw),
			kept->count == 1 ? " that matches" : "s that match");
	if (profile->unknown.count)
		fprintf(request->out,
			"Unknown: %s in %s blocks were live when recording was stopped.\n",
			units_bytes(bytes, profile->unknown.bytes, request->raw),
			units_count(count, profile->unknown.count, request->raw));
}

static void print_none(const struct view_request *request, const struct tally *dropped)
{
	if (query_narrows(&request->query))
		fputs("No live heap block matches what was asked for.\n", request->out);
	else if (dropped->of[METRIC_LIVE].count)
		fputs("All other heap blocks that were seen were freed.\n", request->out);
	else
		fputs("All heap blocks that were seen were freed.\n", request->out);
}

static void print_text(const struct view_request *request, const struct trace_set *set,
		       struct profile *profile, const struct freed_by *freed_by,
		       const struct tally *dropped)
{
	struct sites_table shape = {
		.columns = request->query.by_count ? by_count : by_bytes, .column_count = 4,
		.stacks = 1, .frames = 24, .is_wanted = has_live, .freed_by = freed_by,
	};

	print_heading(request, set, profile);
	if (!profile->heap.of[METRIC_LIVE].count)
		print_none(request, dropped);
	else
		sites_table_print(request, profile, &shape);
	print_notes(request, profile, dropped);
	if (profile->mapped.of[METRIC_LIVE].count) {
		fputs("\nStill mapped by the program itself (mmap, brk):\n", request->out);
		shape.kind = TALLY_MAPPED;
		sites_table_print(request, profile, &shape);
	}
}

int view_leaks(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct suppressed suppressed = { 0 };
	struct profile *profile = NULL;
	struct freed_by freed_by = { 0 };
	struct tally dropped;
	int status = suppressions_make(&suppressed, err);

	if (!request->query.sort_given)
		request->query.sort = METRIC_LIVE;
	if (!status)
		status = freed_by_build(set, &request->query, &freed_by, &profile, err);
	if (!status) {
		profile_drop(profile, is_suppressed, &suppressed, &dropped);
		if (request->format == FORMAT_JSON)
			print_json(request, set, profile, &freed_by, &dropped);
		else if (request->format == FORMAT_CSV)
			sites_csv(request, profile);
		else
			print_text(request, set, profile, &freed_by, &dropped);
	}
	profile_free(profile);
	freed_by_release(&freed_by);
	suppressions_free(suppressed.list);
	free(suppressed.frames);
	return status;
}
