/*
 * Folded stacks: "main;parse;read_line 4096", outermost first, one line a stack;
 * the metric is that of --sort. Heap only.
 */
#include "view/export.h"

#include "view/folded.h"

#include <inttypes.h>

/* ';' divides frames and the last blank the number: neither may be in a name. */
void folded_frame(FILE *out, const struct profile_frame *frame)
{
	const char *name = frame->function ? frame->function : path_base(frame->module);

	for (; *name; name++)
		fputc(*name == ';' || *name == '\n' || *name == '\r' ? ':' : *name, out);
	if (!frame->function)
		fprintf(out, "+0x%" PRIx64, frame->module_offset);
}

void folded_stack(FILE *out, struct profile *profile, const struct profile_stack *stack)
{
	const struct profile_frame *frames;
	size_t count = profile_frames(profile, stack, &frames);

	for (size_t i = count; i-- > 0;) {
		folded_frame(out, &frames[i]);
		if (i)
			fputc(';', out);
	}
}

int export_folded(struct export_job *job, struct error *err)
{
	const struct query *query = &job->request->query;

	(void)err;
	for (size_t i = 0; i < job->profile->site_count; i++) {
		const struct profile_site *site = &job->profile->sites[i];

		for (size_t s = 0; site->kind == TALLY_HEAP && s < site->stack_count; s++) {
			double value = number_value(&site->stacks[s].tally.of[query->sort],
						    query->by_count);

			if (value < 0.5)
				continue;
			folded_stack(job->out, job->profile, &site->stacks[s]);
			fprintf(job->out, " %.0f\n", value);
		}
	}
	return 0;
}
