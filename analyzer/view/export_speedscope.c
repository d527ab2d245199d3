/*
 * speedscope's JSON (its file-format-schema.json): frames once, a profile for
 * each metric with stacks as samples and the metric as their weight.
 */
#include "view/export.h"

#include "memprof/version.h"
#include "page/page_names.h"
#include "view/export_values.h"
#include "view/json.h"

#include <string.h>

static void write_frames(struct json *json, const struct page_names *names)
{
	json_object_begin(json, "shared");
	json_array_begin(json, "frames");
	for (size_t i = 0; i < names->frame_count; i++) {
		const struct page_frame *frame = &names->frames[i];
		char place[512];

		json_object_begin(json, NULL);
		if (frame->function) {
			json_string(json, "name", names->strings[frame->function]);
		} else {
			snprintf(place, sizeof(place), "%.400s+%s",
				 path_base(names->strings[frame->module]),
				 names->strings[frame->offset]);
			json_string(json, "name", place);
		}
		if (frame->file)
			json_string(json, "file", names->strings[frame->file]);
		if (frame->line)
			json_unsigned(json, "line", frame->line);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

static void write_sample(struct json *json, struct page_names *names, struct profile *profile,
			 const struct profile_stack *stack)
{
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, stack, &frames);

	json_array_begin(json, NULL);
	while (count-- > 0)
		json_unsigned(json, NULL, page_frame(names, &frames[count]));
	json_array_end(json);
}

static bool is_wanted(const struct profile_site *site, size_t s, unsigned value)
{
	return site->kind == TALLY_HEAP && export_value(&site->stacks[s].tally, value) > 0;
}

static void write_profile(struct json *json, struct page_names *names, struct profile *profile,
			  unsigned value)
{
	double total = 0;

	json_object_begin(json, NULL);
	json_string(json, "type", "sampled");
	json_string(json, "name", export_values[value].title);
	json_string(json, "unit", export_values[value].by_count ? "none" : "bytes");
	json_array_begin(json, "samples");
	for (size_t i = 0; i < profile->site_count; i++)
		for (size_t s = 0; s < profile->sites[i].stack_count; s++)
			if (is_wanted(&profile->sites[i], s, value))
				write_sample(json, names, profile, &profile->sites[i].stacks[s]);
	json_array_end(json);
	json_array_begin(json, "weights");
	for (size_t i = 0; i < profile->site_count; i++) {
		for (size_t s = 0; s < profile->sites[i].stack_count; s++) {
			if (!is_wanted(&profile->sites[i], s, value))
				continue;
			total += export_value(&profile->sites[i].stacks[s].tally, value);
			json_double(json, NULL,
				    export_value(&profile->sites[i].stacks[s].tally, value));
		}
	}
	json_array_end(json);
	json_unsigned(json, "startValue", 0);
	json_double(json, "endValue", total);
	json_object_end(json);
}

/* The profile that is shown first is the one of --sort. */
static unsigned chosen_value(const struct query *query)
{
	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		if (export_values[v].metric == query->sort &&
		    export_values[v].by_count == query->by_count)
			return v;
	return 0;
}

int export_speedscope(struct export_job *job, struct error *err)
{
	struct page_names names;
	struct json json;

	(void)err;
	page_names_init(&names);
	json_init(&json, job->out);
	json.is_compact = true;
	json_object_begin(&json, NULL);
	json_string(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_string(&json, "exporter", "memprof " MEMPROF_VERSION);
	json_string(&json, "name", path_base(job->profile->traces[0].trace->path));
	json_unsigned(&json, "activeProfileIndex", chosen_value(&job->request->query));
	json_array_begin(&json, "profiles");
	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		write_profile(&json, &names, job->profile, v);
	json_array_end(&json);
	write_frames(&json, &names);
	json_object_end(&json);
	json_end(&json);
	page_names_release(&names);
	return 0;
}
