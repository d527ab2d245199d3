/*
 * events: what happened beside allocations, in time order: marks, snapshots,
 * threads that came and went, modules loaded and unloaded.
 */
#include "util/memory.h"
#include "view/common.h"

#include <stdlib.h>
#include <string.h>

struct happening {
	uint64_t time_ns;
	const char *kind;
	const char *name, *detail; /* borrowed, or NULL */
	char *made;                /* owned: stands behind `name` */
	bool from_outside;
};

struct happenings {
	struct happening *items;
	size_t count;
};

static void add(struct happenings *list, struct happening happening)
{
	MEMORY_ROOM(list->items, list->count);
	list->items[list->count++] = happening;
}

static const char *const mark_kinds[] = {
	[TRACE_MARK_SNAPSHOT] = "snapshot", [TRACE_MARK_EVENT] = "event",
	[TRACE_MARK_RESET] = "reset",       [TRACE_MARK_START] = "start",
	[TRACE_MARK_STOP] = "stop",         [TRACE_MARK_RATE] = "rate",
};

static void add_marks(struct happenings *list, const struct trace *trace)
{
	for (size_t i = 0; i < trace->mark_count; i++) {
		const struct trace_marker *mark = &trace->marks[i];
		bool is_known = mark->kind < sizeof(mark_kinds) / sizeof(*mark_kinds) &&
				mark_kinds[mark->kind];
		char *made = mark->kind == TRACE_MARK_RATE ?
				     memory_format("%llu bytes", (unsigned long long)mark->value) :
			     mark->kind == TRACE_MARK_SNAPSHOT && !*mark->name ?
				     memory_format("#%u", mark->number) :
				     NULL;

		add(list, (struct happening){ mark->time_ns,
					      is_known ? mark_kinds[mark->kind] : "mark",
					      made ? made : mark->name, mark->detail, made,
					      mark->from_outside });
	}
}

static char *thread_words(const struct trace_thread *thread)
{
	bool has_name = thread->name && *thread->name;

	return memory_format("%s%s%u", has_name ? thread->name : "", has_name ? " " : "",
			     thread->tid);
}

/* The last event of a thread is the last that was seen of it. */
static void add_threads(struct happenings *list, const struct trace *trace)
{
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct trace_thread *thread = &trace->threads[i];
		char *made = thread_words(thread);

		add(list, (struct happening){thread->first_ns, "thread", made, NULL, made, false});
		if (!thread->last_ns || thread->last_ns == UINT64_MAX)
			continue;
		made = thread_words(thread);
		add(list, (struct happening){ thread->last_ns, "thread end", made, NULL, made,
					      false });
	}
}

static void add_modules(struct happenings *list, const struct trace *trace)
{
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct trace_module *module = &trace->modules[i];

		add(list, (struct happening){ module->first_ns, "module", module->path, NULL, NULL,
					      false });
		if (module->gone_ns != UINT64_MAX)
			add(list, (struct happening){ module->gone_ns, "module gone", module->path,
						      NULL, NULL, false });
	}
}

static int compare(const void *a, const void *b)
{
	const struct happening *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return strcmp(x->kind, y->kind);
}

static struct happenings gather(const struct trace *trace)
{
	struct happenings list = { 0 };

	add_marks(&list, trace);
	add_threads(&list, trace);
	add_modules(&list, trace);
	qsort(list.items, list.count, sizeof(*list.items), compare);
	return list;
}

static void release(struct happenings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].made);
	free(list->items);
}

static void print_text(const struct view_request *request, const struct happenings *list)
{
	static const struct table_column columns[] = {
		{ "time", TABLE_RIGHT, false }, { "what", TABLE_LEFT, false },
		{ "", TABLE_LEFT, true },
	};
	struct table *table = table_new(columns, 3);
	size_t rows = query_rows(request->query.limit, list->count, list->count);
	char text[UNITS_BYTES];

	for (size_t i = 0; i < rows; i++) {
		const struct happening *h = &list->items[i];
		const char *name = h->name ? h->name : "";
		bool is_mark = strncmp(h->kind, "thread", 6) && strncmp(h->kind, "module", 6);

		table_row(table);
		table_cell(table, TABLE_PLAIN, "%s", units_duration(text, h->time_ns));
		table_cell(table, is_mark ? TABLE_BOLD : TABLE_DIM, "%s", h->kind);
		table_cell(table, TABLE_PLAIN, "%s%s%s%s", name,
			   h->detail && *h->detail ? ": " : "", h->detail ? h->detail : "",
			   !h->from_outside ? "" : *name ? " (from outside)" : "(from outside)");
	}
	if (rows < list->count)
		table_line(table, TABLE_DIM, "%zu more (-n 0 shows all)", list->count - rows);
	table_print(table, request->out, request->width, request->color);
	table_free(table);
}

static void print_json(struct json *json, const struct trace *trace, const struct happenings *list)
{
	json_object_begin(json, NULL);
	json_string(json, "path", trace->path);
	json_unsigned(json, "pid", trace->info.pid);
	json_array_begin(json, "events");
	for (size_t i = 0; i < list->count; i++) {
		const struct happening *h = &list->items[i];

		json_row_begin(json, NULL);
		json_unsigned(json, "time_ns", h->time_ns);
		json_string(json, "kind", h->kind);
		json_string(json, "name", h->name);
		json_string(json, "detail", h->detail);
		json_bool(json, "from_outside", h->from_outside);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

static void print_csv(FILE *out, const struct trace *trace, const struct happenings *list)
{
	for (size_t i = 0; i < list->count; i++) {
		csv_text(out, trace->path, true);
		csv_double(out, (double)list->items[i].time_ns);
		csv_text(out, list->items[i].kind, false);
		csv_text(out, list->items[i].name, false);
		csv_text(out, list->items[i].detail, false);
		fputc('\n', out);
	}
}

int view_events(struct view_request *request, struct trace_set *set, struct error *err)
{
	struct json json;

	(void)err;
	json_init(&json, request->out);
	if (request->format == FORMAT_JSON) {
		json_object_begin(&json, NULL);
		json_string(&json, "schema", "memprof.events/1");
		json_array_begin(&json, "traces");
	} else if (request->format == FORMAT_CSV) {
		fputs("trace,time_ns,kind,name,detail\n", request->out);
	}
	for (size_t i = 0; i < set->count; i++) {
		const struct trace *trace = set->members[i].trace;
		struct happenings list = gather(trace);

		if (request->format == FORMAT_JSON) {
			print_json(&json, trace, &list);
		} else if (request->format == FORMAT_CSV) {
			print_csv(request->out, trace, &list);
		} else {
			if (set->count > 1)
				fprintf(request->out, "%s%s\n", i ? "\n" : "", trace->path);
			print_text(request, &list);
		}
		release(&list);
	}
	if (request->format == FORMAT_JSON) {
		json_array_end(&json);
		json_object_end(&json);
		json_end(&json);
	}
	return 0;
}
