/*
 * NDJSON: a JSON object a line, one for each stack, all with the same members,
 * so that DuckDB, jq and the like read it as a table.
 */
#include "view/export.h"

#include "view/common.h"
#include "view/export_values.h"
#include "view/json.h"

static void write_numbers(struct json *json, const struct tally *tally, bool is_exact)
{
	char name[64];

	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		json_double(json, export_values[v].name, export_value(tally, v));
	for (unsigned v = 0; !is_exact && v < EXPORT_VALUES; v++) {
		snprintf(name, sizeof(name), "%s_error", export_values[v].name);
		json_double(json, name, export_error(tally, v));
	}
}

static void write_stack(FILE *out, struct profile *profile, const struct profile_site *site,
			const struct profile_stack *stack)
{
	const struct trace_info *info = &profile->traces[stack->member].trace->info;
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, stack, &frames);
	struct json json;

	json_init(&json, out);
	json.is_compact = true;
	json_object_begin(&json, NULL);
	json_string(&json, "kind", site->kind == TALLY_HEAP ? "malloc" : "mmap");
	json_unsigned(&json, "pid", info->pid);
	json_string(&json, "label", site->label);
	json_place(&json, &site->where);
	write_numbers(&json, &stack->tally, profile->exact);
	json_frames(&json, "frames", frames, count);
	json_object_end(&json);
	json_end(&json);
}

int export_ndjson(struct export_job *job, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < job->profile->site_count; i++) {
		const struct profile_site *site = &job->profile->sites[i];

		for (size_t s = 0; s < site->stack_count; s++)
			write_stack(job->out, job->profile, site, &site->stacks[s]);
	}
	return 0;
}
