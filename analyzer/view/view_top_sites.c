/*
 * top-sites: which call sites allocate most. The same rows serve `peak`, which
 * asks for the composition of the heap when it was largest, and `modules`.
 */
#include "view/common.h"
#include "view/sites_table.h"

static const struct sites_column by_bytes[] = {
    {METRIC_ALLOCATED, false, false, "allocated"}, {METRIC_ALLOCATED, false, true, "share"},
    {METRIC_ALLOCATED, true, false, "calls"},      {METRIC_LIVE, false, false, "live"},
    {METRIC_PEAK, false, false, "at peak"},        {METRIC_TEMPORARY, true, false, "temporary"},
};

static const struct sites_column by_calls[] = {
    {METRIC_ALLOCATED, true, false, "calls"},     {METRIC_ALLOCATED, true, true, "share"},
    {METRIC_TEMPORARY, true, false, "temporary"}, {METRIC_LIVE, true, false, "live"},
    {METRIC_PEAK, true, false, "at peak"},        {METRIC_ALLOCATED, false, false, "allocated"},
};

static const struct sites_column mapped_columns[] = {
	{ METRIC_ALLOCATED, false, false, "mapped" }, { METRIC_ALLOCATED, false, true, "share" },
	{ METRIC_ALLOCATED, true, false, "calls" },   { METRIC_LIVE, false, false, "live" },
	{ METRIC_PEAK, false, false, "at peak" },
};

static const struct sites_column peak_bytes[] = {
	{ METRIC_PEAK, false, false, "at peak" },  { METRIC_PEAK, false, true, "share" },
	{ METRIC_PEAK, true, false, "blocks" },    { METRIC_LIVE, false, false, "live at end" },
	{ METRIC_ALLOCATED, false, false, "allocated" },
};

static const struct sites_column peak_counts[] = {
	{ METRIC_PEAK, true, false, "blocks" },    { METRIC_PEAK, true, true, "share" },
	{ METRIC_PEAK, false, false, "at peak" },  { METRIC_LIVE, true, false, "live at end" },
	{ METRIC_ALLOCATED, true, false, "calls" },
};

#define SHAPE(array)                                                                               \
	{ .columns = array, .column_count = sizeof(array) / sizeof(*(array)), .frames = 32 }

#define PEAK_SHAPE(array)                                                                          \
	{ .columns = array, .column_count = sizeof(array) / sizeof(*(array)), .frames = 32,        \
	  .is_wanted = was_there }

/* Something of it was live when the heap was largest. */
static bool was_there(const struct profile_site *site)
{
	const struct number *peak = &site->tally.of[METRIC_PEAK];

	return peak->count > 0 || peak->bytes > 0;
}

static void print_json(const struct view_request *request, const struct trace_set *set,
		       struct profile *profile, const struct freed_by *freed_by,
		       const char *schema)
{
	size_t rows = query_rows(request->query.limit, profile->site_count, profile->site_count);
	struct json json;

	json_init(&json, request->out);
	json_object_begin(&json, NULL);
	json_string(&json, "schema", schema);
	json_traces(&json, set, profile);
	json_totals(&json, profile);
	json_array_begin(&json, "sites");
	for (size_t i = 0; i < rows; i++) {
		const struct profile_site *site = &profile->sites[i];

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

static void print_mapped(const struct view_request *request, struct profile *profile)
{
	struct sites_table shape = SHAPE(mapped_columns);

	if (!profile->mapped.of[METRIC_ALLOCATED].count)
		return;
	fputs("\nMapped by the program itself (mmap, brk), not part of the heap:\n", request->out);
	shape.kind = TALLY_MAPPED;
	sites_table_print(request, profile, &shape);
}

static int show(struct view_request *request, struct trace_set *set, const char *schema,
		const struct sites_table *kind, struct error *err)
{
	struct sites_table shape = *kind;
	struct profile *profile;
	struct freed_by freed_by;
	int status = freed_by_build(set, &request->query, &freed_by, &profile, err);

	if (status)
		return status;
	if (request->format == FORMAT_JSON) {
		print_json(request, set, profile, &freed_by, schema);
	} else if (request->format == FORMAT_CSV) {
		sites_csv(request, profile);
	} else {
		shape.freed_by = &freed_by;
		print_heading(request, set, profile);
		sites_table_print(request, profile, &shape);
		print_mapped(request, profile);
	}
	profile_free(profile);
	freed_by_release(&freed_by);
	return 0;
}

int view_top_sites(struct view_request *request, struct trace_set *set, struct error *err)
{
	static const struct sites_table bytes = SHAPE(by_bytes);
	static const struct sites_table calls = SHAPE(by_calls);

	return show(request, set, "memprof.top-sites/1", request->query.by_count ? &calls : &bytes,
		    err);
}

int view_peak(struct view_request *request, struct trace_set *set, struct error *err)
{
	static const struct sites_table bytes = PEAK_SHAPE(peak_bytes);
	static const struct sites_table calls = PEAK_SHAPE(peak_counts);

	if (!request->query.sort_given)
		request->query.sort = METRIC_PEAK;
	return show(request, set, "memprof.peak/1", request->query.by_count ? &calls : &bytes, err);
}

/* modules: the same by the module that the call site lies in. */
int view_modules(struct view_request *request, struct trace_set *set, struct error *err)
{
	static const struct sites_table bytes = SHAPE(by_bytes);
	static const struct sites_table calls = SHAPE(by_calls);

	request->query.by = BY_MODULE;
	return show(request, set, "memprof.modules/1", request->query.by_count ? &calls : &bytes,
		    err);
}
