/*
 * See multi.h.
 */
#include "view/multi.h"

#include <inttypes.h>

void multi_begin(struct multi *multi, const struct view_request *request,
		 const struct trace_set *set, const char *schema, const char *csv_header)
{
	*multi = (struct multi){ .request = request, .set = set };
	json_init(&multi->json, request->out);
	if (request->format == FORMAT_JSON) {
		json_object_begin(&multi->json, NULL);
		json_string(&multi->json, "schema", schema);
		json_array_begin(&multi->json, "traces");
	} else if (request->format == FORMAT_CSV) {
		fprintf(request->out, "%s\n", csv_header);
	}
}

void multi_trace_begin(struct multi *multi, const struct trace *trace)
{
	if (multi->request->format == FORMAT_JSON) {
		json_object_begin(&multi->json, NULL);
		json_string(&multi->json, "path", trace->path);
		json_unsigned(&multi->json, "pid", trace->info.pid);
		json_bool(&multi->json, "exact", trace->info.exact);
		json_bool(&multi->json, "complete", trace->info.complete);
	} else if (multi->request->format == FORMAT_TEXT && multi->index) {
		fputc('\n', multi->request->out);
	}
	multi->index++;
}

void multi_trace_end(struct multi *multi)
{
	if (multi->request->format == FORMAT_JSON)
		json_object_end(&multi->json);
}

void multi_end(struct multi *multi)
{
	if (multi->request->format != FORMAT_JSON)
		return;
	json_array_end(&multi->json);
	json_object_end(&multi->json);
	json_end(&multi->json);
}

void multi_heading(const struct multi *multi, const struct trace *trace, uint64_t from_ns,
		   uint64_t end_ns)
{
	FILE *out = multi->request->out;
	char from[UNITS_BYTES], to[UNITS_BYTES], rate[UNITS_BYTES];

	fprintf(out, "%s: pid %" PRIu64 ", %s to %s, ", path_base(trace->info.exe), trace->info.pid,
		from_ns ? units_duration(from, from_ns) : "the start", units_duration(to, end_ns));
	if (trace->info.exact)
		fputs("exact", out);
	else
		fprintf(out, "sampled every %s: estimates",
			units_bytes(rate, (double)trace->info.rate_bytes, false));
	fprintf(out, "%s\n\n", trace->info.complete ? "" : ", not complete");
}
