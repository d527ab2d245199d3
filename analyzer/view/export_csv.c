/*
 * CSV: a row a stack with all its numbers; the stack itself is one field,
 * folded, outermost first.
 */
#include "view/export.h"

#include "view/common.h"
#include "view/export_values.h"
#include "view/folded.h"

#include <stdlib.h>

static void write_header(FILE *out)
{
	fputs("kind,function,file,line,module", out);
	for (unsigned v = 0; v < EXPORT_VALUES; v++)
		fprintf(out, ",%s,%s_error", export_values[v].name, export_values[v].name);
	fputs(",stack\n", out);
}

static void write_stack_field(FILE *out, struct profile *profile, const struct profile_stack *stack)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	folded_stack(memory, profile, stack);
	fclose(memory);
	csv_text(out, text, false);
	free(text);
}

static void write_row(FILE *out, struct profile *profile, const struct profile_site *site,
		      const struct profile_stack *stack)
{
	const struct profile_frame *where = &site->where;

	csv_text(out, site->kind == TALLY_HEAP ? "malloc" : "mmap", true);
	csv_text(out, site->label ? site->label : where->function, false);
	csv_text(out, where->file, false);
	fputc(',', out);
	if (where->line)
		fprintf(out, "%u", where->line);
	csv_text(out, where->module, false);
	for (unsigned v = 0; v < EXPORT_VALUES; v++) {
		fputc(',', out);
		export_print(out, export_value(&stack->tally, v));
		fputc(',', out);
		export_print(out, export_error(&stack->tally, v));
	}
	write_stack_field(out, profile, stack);
	fputc('\n', out);
}

int export_csv(struct export_job *job, struct error *err)
{
	(void)err;
	write_header(job->out);
	for (size_t i = 0; i < job->profile->site_count; i++) {
		const struct profile_site *site = &job->profile->sites[i];

		for (size_t s = 0; s < site->stack_count; s++)
			write_row(job->out, job->profile, site, &site->stacks[s]);
	}
	return 0;
}
